using System.Diagnostics.CodeAnalysis;
using Rookery.Storage.Runs;

namespace Rookery.Storage.State;

/// <summary>A run file in a set of runs. Immutable: changes create a new record with the same reader.</summary>
internal sealed record RunEntry
{
    /// <summary>Summary of the run.</summary>
    public required RunSummary Summary { get; init; }

    /// <summary>Path of the file.</summary>
    public string Path => Reader?.Path ?? Damage!.Path;

    /// <summary>
    /// The first key that is read from this file; a merge has moved lower keys to another file. Empty if all keys are
    /// read from it.
    /// </summary>
    public ReadOnlyMemory<byte> From { get; init; }

    /// <summary>Bytes of chunks whose large value was released.</summary>
    public long DeadBytes { get; init; }

    /// <summary>Range tombstones through this sequence hide no row of the file.</summary>
    public long ClearedThrough { get; init; }

    /// <summary>
    /// All deletions that the file records have higher sequences than this. 0 if unknown, because the file was written
    /// before the store was opened.
    /// </summary>
    public long DeletionsAfter { get; init; }

    /// <summary>The file number that the file's checksums contain.</summary>
    public required long WrittenAs { get; init; }

    /// <summary>The open run; null if it could not be opened.</summary>
    public RunReader? Reader { get; init; }

    /// <summary>Why there is no reader; otherwise null.</summary>
    public RunDamage? Damage { get; init; }

    /// <summary>The lowest key that the file may contain.</summary>
    public ReadOnlySpan<byte> FirstKey => From.IsEmpty ? Summary.SmallestKey.Span : From.Span;

    /// <summary>The highest key that the file may contain.</summary>
    public ReadOnlySpan<byte> LastKey => Summary.LargestKey.Span;

    /// <summary>Returns whether a key is between the first and the last key.</summary>
    public bool Spans(ReadOnlySpan<byte> key) =>
        key.SequenceCompareTo(FirstKey) >= 0 && key.SequenceCompareTo(LastKey) <= 0;

    /// <summary>
    /// Returns whether the file may contain keys in [from, toExclusive); an empty end is not a bound.
    /// </summary>
    public bool Overlaps(ReadOnlySpan<byte> from, ReadOnlySpan<byte> toExclusive) =>
        LastKey.SequenceCompareTo(from) >= 0 && (toExclusive.IsEmpty || FirstKey.SequenceCompareTo(toExclusive) < 0);

    /// <summary>Whether the run could be opened.</summary>
    [MemberNotNullWhen(true, nameof(Reader))]
    public bool IsReadable => Reader is not null;
}
