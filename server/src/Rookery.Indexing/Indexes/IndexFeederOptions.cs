namespace Rookery.Indexing.Indexes;

/// <summary>
/// Bounds of one step of indexing. Simulations set small bounds, so that steps end at bounds in every run.
/// </summary>
public sealed record IndexFeederOptions
{
    /// <summary>Documents and tombstones per step, before other work gets a turn.</summary>
    public int DocumentsPerStep { get; init; } = 256;

    /// <summary>Bytes of documents per step, before other work gets a turn.</summary>
    public long BytesPerStep { get; init; } = 1 << 20;

    /// <summary>Memory that all indexes of a node together may buffer before they write, in bytes.</summary>
    public long PendingBytes { get; init; } = 16 << 20;

    /// <summary>
    /// Returns the bounds for a node with this much memory: buffered entries take at most a sixteenth of it.
    /// </summary>
    /// <param name="memoryBytes">The memory limit of the process, in bytes.</param>
    public static IndexFeederOptions For(long memoryBytes) =>
        new() { PendingBytes = Math.Clamp(memoryBytes / 16, 1 << 20, 64 << 20) };

    /// <summary>
    /// Memory that each index may buffer even on a node with many indexes, in bytes. This minimum avoids tiny writes.
    /// </summary>
    public long MinPendingBytes { get; init; } = 64 << 10;

    /// <summary>Time after which buffered entries are written, even if there are few.</summary>
    public TimeSpan PendingAge { get; init; } = TimeSpan.FromSeconds(5);

    /// <summary>
    /// An index writes its position after this many successive operations that do not concern it, so that a restart
    /// does not read them again.
    /// </summary>
    public long EtagsBetweenPositionWrites { get; init; } = 64 << 10;

    /// <summary>How long feeding pauses after a document that cannot be read.</summary>
    public TimeSpan RestAfterDamage { get; init; } = TimeSpan.FromSeconds(30);
}
