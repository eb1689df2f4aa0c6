using Rookery.Platform;
using Rookery.Search.Segments.Postings;

namespace Rookery.Search.Segments.Reading;

/// <summary>
/// A walk over the terms of a field in one segment, in the order of their bytes. Those that are only sort keys have no
/// postings. One thread.
/// </summary>
public sealed class TermCursor(KeyCursor keys)
{
    /// <summary>Terms of the field.</summary>
    public long Count => keys.Count;

    /// <summary>The term; until the next call.</summary>
    public ReadOnlySpan<byte> Term => keys.Key;

    /// <summary>Its place in the order; what a column of sort ordinals speaks of, plus one.</summary>
    public long Ordinal => keys.Ordinal;

    /// <summary>Entries in which it stands, dead ones included.</summary>
    public long EntryCount => EntryCountOf(keys.Payload);

    /// <summary>Where its postings are, for <see cref="PostingsCursor.Open"/>.</summary>
    public ReadOnlyMemory<byte> Postings => keys.PayloadMemory;

    /// <summary>The same of what stands beside a term.</summary>
    public static long EntryCountOf(ReadOnlySpan<byte> payload)
    {
        int at = 0;
        return (long)(Varint.Read(payload, ref at) >> 1);
    }

    /// <summary>Goes to the next term, the first at first.</summary>
    public bool MoveNext() => keys.MoveNext();

    /// <summary>Goes to the first term that is not below <paramref name="term"/>; false when all are.</summary>
    public bool Seek(ReadOnlySpan<byte> term) => keys.Seek(term);

    /// <summary>Goes to <paramref name="term"/>; false when it is not there.</summary>
    public bool SeekExact(ReadOnlySpan<byte> term) => keys.SeekExact(term);

    /// <summary>Goes to the term with this ordinal; false when there are not so many.</summary>
    public bool SeekOrdinal(long ordinal) => keys.SeekOrdinal(ordinal);
}
