namespace Rookery.Queries.Answering;

/// <summary>
/// Buffers an answer and sends it to the client. Reserves memory for the documents in the buffer. Not thread-safe.
/// </summary>
public interface IAnswerSink
{
    /// <summary>
    /// Cancelled when the client disconnects. The first access may allocate, so short answers never read it.
    /// </summary>
    CancellationToken Disconnected { get; }

    /// <summary>Reserves memory, in bytes, without waiting.</summary>
    /// <returns>False if too little is free. The caller then releases the document, calls
    /// <see cref="WaitForMemoryAsync"/>, reads the document again and retries.</returns>
    bool TryReserve(long bytes);

    /// <summary>
    /// Sends a large buffer to the client, and waits until this many bytes of memory are free. If that takes too long,
    /// throws an exception of the sink's own (HTTP: 429).
    /// </summary>
    Task WaitForMemoryAsync(long bytes);

    /// <summary>
    /// Reserves memory for the current document of a walk, waiting if needed. May throw as
    /// <see cref="WaitForMemoryAsync"/> does.
    /// </summary>
    /// <param name="bytes">The document's length.</param>
    /// <param name="stepBack">Called before a wait, to release the document. The next move of the walk returns the same
    /// document again.</param>
    /// <returns>False after a wait: the caller has to move the walk again.</returns>
    ValueTask<bool> TryReserveAsync(long bytes, Action stepBack);

    /// <summary>
    /// Aborts the connection because the answer cannot be completed, so that the client does not mistake a part for the
    /// complete answer.
    /// </summary>
    void AbortConnection();
}
