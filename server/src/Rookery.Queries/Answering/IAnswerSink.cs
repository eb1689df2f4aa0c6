namespace Rookery.Queries.Answering;

/// <summary>
/// Receives an answer and sends it to the client, and reserves memory for documents that the client has not taken yet.
/// Not thread-safe.
/// </summary>
public interface IAnswerSink
{
    /// <summary>
    /// Cancelled when the client disconnected. The first access may allocate, so it is read only during work or a wait.
    /// </summary>
    CancellationToken Left { get; }

    /// <summary>Reserves memory for a number of bytes, without waiting.</summary>
    /// <returns>False if none is free. The caller then releases what it reads, waits with
    /// <see cref="WaitForRoomAsync"/>, reads it again and retries.</returns>
    bool TryMakeRoom(long bytes);

    /// <summary>
    /// Sends what is buffered, if it is much, and waits until the memory is free. May throw an exception of the sink's
    /// own if that takes too long (HTTP: 429).
    /// </summary>
    Task WaitForRoomAsync(long bytes);

    /// <summary>
    /// Reserves memory for the current document of a walk, waiting if needed. May throw as
    /// <see cref="WaitForRoomAsync"/> does.
    /// </summary>
    /// <param name="bytes">The document's length.</param>
    /// <param name="stepBack">Called before a wait. The walk releases the document and returns it again with its next
    /// move.</param>
    /// <returns>False after a wait: the caller goes on with the walk's next move.</returns>
    ValueTask<bool> HasRoomAsync(long bytes, Action stepBack);

    /// <summary>
    /// Aborts the connection, because the answer cannot be completed. The client must not take a part for the whole.
    /// </summary>
    void BreakOff();
}
