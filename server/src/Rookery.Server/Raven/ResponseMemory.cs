namespace Rookery.Server.Raven;

/// <summary>
/// Counts the bytes of all <see cref="ResponseBuffer"/>s. Above <paramref name="limitBytes"/>, long answers are sent in
/// small parts. Without that, 1,365 clients that read a long feed held 128 KiB each, and a node of 256 MiB ran out of
/// memory. Thread-safe.
/// </summary>
/// <param name="limitBytes">Bytes above which <see cref="IsOverLimit"/> is true.</param>
internal sealed class ResponseMemory(long limitBytes)
{
    // Buffers are on the managed heap; together they may take an eighth of its limit.
    private const int HeapFraction = 8;

    private long _heldBytes;

    /// <summary>The counter of the process.</summary>
    public static ResponseMemory Shared { get; } = new(GC.GetGCMemoryInfo().TotalAvailableMemoryBytes / HeapFraction);

    /// <summary>Bytes that all buffers hold now.</summary>
    public long HeldBytes => Volatile.Read(ref _heldBytes);

    /// <summary>Whether the buffers hold more bytes than the limit.</summary>
    public bool IsOverLimit => HeldBytes > limitBytes;

    /// <summary>Adds to the count; a negative number when a buffer is returned.</summary>
    public void Add(long bytes) => Interlocked.Add(ref _heldBytes, bytes);
}
