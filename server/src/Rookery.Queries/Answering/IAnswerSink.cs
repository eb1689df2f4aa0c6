namespace Rookery.Queries.Answering;

/// <summary>
/// Takes an answer: the client that it goes to, and the memory in which large documents lie until it took them. Not
/// thread-safe.
/// </summary>
public interface IAnswerSink
{
    /// <summary>
    /// Cancelled when nobody takes the answer any more. Asked only while work or a wait for an index goes on: the first
    /// look may allocate.
    /// </summary>
    CancellationToken Left { get; }

    /// <summary>Makes room for so many bytes more, at once.</summary>
    /// <returns>False when there is none: let go of what is being read, wait with <see cref="WaitForRoomAsync"/>, read
    /// it again and ask again.</returns>
    bool TryMakeRoom(long bytes);

    /// <summary>
    /// Sends what is gathered, if it is much, and waits for room for so many bytes more. May refuse with an exception
    /// of the sink when there is none in time (HTTP: 429).
    /// </summary>
    Task WaitForRoomAsync(long bytes);

    /// <summary>
    /// Makes room for the document that a walk is at. May refuse as <see cref="WaitForRoomAsync"/> does.
    /// </summary>
    /// <param name="bytes">Its length.</param>
    /// <param name="stepBack">Called when there is none: the walk lets go of its snapshot and meets the document again
    /// with its next move.</param>
    /// <returns>False when it was waited for: go on with the next move.</returns>
    ValueTask<bool> HasRoomAsync(long bytes, Action stepBack);

    /// <summary>Breaks the answer off, because it cannot be read to its end: no client may take it for whole.</summary>
    void BreakOff();
}
