namespace Rookery.Indexing.Indexes;

/// <summary>
/// Sizes of the work of indexing. Parameters, so that simulation meets the ends of batches in every run.
/// </summary>
public sealed record IndexFeederOptions
{
    /// <summary>Documents and deletions that are looked at before others get their turn.</summary>
    public int DocumentsPerStep { get; init; } = 256;

    /// <summary>Bytes of documents after which others get their turn.</summary>
    public long BytesPerStep { get; init; } = 1 << 20;

    /// <summary>Memory that all indexes of a node may gather together before they write, in bytes.</summary>
    public long PendingBytes { get; init; } = 16 << 20;

    /// <summary>The sizes for a node of so much memory: what is gathered takes at most a sixteenth of it.</summary>
    /// <param name="memoryBytes">What bounds the memory of the process, in bytes.</param>
    public static IndexFeederOptions For(long memoryBytes) =>
        new() { PendingBytes = Math.Clamp(memoryBytes / 16, 1 << 20, 64 << 20) };

    /// <summary>
    /// What each index may gather in any case, in bytes, so that a node of many does not write in crumbs.
    /// </summary>
    public long LeastPendingBytes { get; init; } = 64 << 10;

    /// <summary>After so long what was gathered is written, however little it is.</summary>
    public TimeSpan PendingAge { get; init; } = TimeSpan.FromSeconds(5);

    /// <summary>
    /// After so many operations of which none concerned an index, it is written how far it has come: a restart looks at
    /// them again.
    /// </summary>
    public long EtagsUnnoted { get; init; } = 64 << 10;

    /// <summary>How long an index rests that met what cannot be read.</summary>
    public TimeSpan RestAfterDamage { get; init; } = TimeSpan.FromSeconds(30);
}
