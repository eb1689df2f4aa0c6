using System.Diagnostics.CodeAnalysis;
using Rookery.Storage.Runs;

namespace Rookery.Storage.State;

/// <summary>
/// A run's file as the manifest names it: immutable; what changes about it is a new record over the same reader.
/// </summary>
internal sealed record RunEntry
{
    /// <summary>What the run holds.</summary>
    public required RunSummary Summary { get; init; }

    /// <summary>Its path.</summary>
    public string Path => Reader?.Path ?? Damage!.Path;

    /// <summary>
    /// The first key that still counts: compaction has moved those below it elsewhere. Empty when all count.
    /// </summary>
    public ReadOnlyMemory<byte> From { get; init; }

    /// <summary>Bytes of chunks in it whose large value was released.</summary>
    public long DeadBytes { get; init; }

    /// <summary>Rows that range tombstones up to this sequence hide are not in it.</summary>
    public long ClearedThrough { get; init; }

    /// <summary>The file number that its checksums name.</summary>
    public required long WrittenAs { get; init; }

    /// <summary>The open run; null when it could not be opened.</summary>
    public RunReader? Reader { get; init; }

    /// <summary>Why there is no reader.</summary>
    public RunDamage? Damage { get; init; }

    /// <summary>The lowest key it may hold.</summary>
    public ReadOnlySpan<byte> FirstKey => From.IsEmpty ? Summary.SmallestKey.Span : From.Span;

    /// <summary>The highest key it may hold.</summary>
    public ReadOnlySpan<byte> LastKey => Summary.LargestKey.Span;

    /// <summary>Whether a key lies between its first and its last.</summary>
    public bool Spans(ReadOnlySpan<byte> key) =>
        key.SequenceCompareTo(FirstKey) >= 0 && key.SequenceCompareTo(LastKey) <= 0;

    /// <summary>Whether it may hold keys in [from, toExclusive); an empty end is no bound.</summary>
    public bool Overlaps(ReadOnlySpan<byte> from, ReadOnlySpan<byte> toExclusive) =>
        LastKey.SequenceCompareTo(from) >= 0 && (toExclusive.IsEmpty || FirstKey.SequenceCompareTo(toExclusive) < 0);

    /// <summary>Whether the run can be read.</summary>
    [MemberNotNullWhen(true, nameof(Reader))]
    public bool IsReadable => Reader is not null;
}
