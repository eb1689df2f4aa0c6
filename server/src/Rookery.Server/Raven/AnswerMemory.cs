namespace Rookery.Server.Raven;

/// <summary>
/// Counts what the buffers of all answers hold. While that is much, long answers go out in small parts: 1,365 clients
/// that read a long feed at once held 128 KiB each, and ended a node of 256 MiB. Thread-safe.
/// </summary>
/// <param name="muchBytes">From where on it is much.</param>
internal sealed class AnswerMemory(long muchBytes)
{
    // Of what the managed heap may take; the buffers lie there.
    private const int HeapFraction = 8;

    private long _heldBytes;

    /// <summary>That of the process.</summary>
    public static AnswerMemory Shared { get; } = new(GC.GetGCMemoryInfo().TotalAvailableMemoryBytes / HeapFraction);

    /// <summary>What all buffers hold.</summary>
    public long HeldBytes => Volatile.Read(ref _heldBytes);

    /// <summary>Whether that is much.</summary>
    public bool IsCrowded => HeldBytes > muchBytes;

    /// <summary>A buffer grew, or was given back.</summary>
    public void Add(long bytes) => Interlocked.Add(ref _heldBytes, bytes);
}
