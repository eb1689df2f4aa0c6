using Rookery.Platform;
using Rookery.Search.Segments.Postings;

namespace Rookery.Search.Segments.Reading;

/// <summary>
/// A cursor over the terms of a field in one segment, in the order of their bytes. A term that is only a sort key has
/// no postings. Not thread-safe.
/// </summary>
public sealed class TermCursor(KeyCursor keys)
{
    /// <summary>Number of terms of the field.</summary>
    public long Count => keys.Count;

    /// <summary>The current term, valid until the next call.</summary>
    public ReadOnlySpan<byte> Term => keys.Key;

    /// <summary>The ordinal of the current term. A column of sort ordinals stores it plus 1.</summary>
    public long Ordinal => keys.Ordinal;

    /// <summary>Number of entries with the current term, including dead ones.</summary>
    public long EntryCount => EntryCountOf(keys.Payload);

    /// <summary>The payload of the current term, for <see cref="PostingsCursor.Open"/>.</summary>
    public ReadOnlyMemory<byte> Postings => keys.PayloadMemory;

    /// <summary>Returns the number of entries from a term's payload.</summary>
    public static long EntryCountOf(ReadOnlySpan<byte> payload)
    {
        int at = 0;
        return (long)(Varint.Read(payload, ref at) >> 1);
    }

    /// <summary>Moves to the next term, or at the beginning to the first. Returns false after the last.</summary>
    public bool MoveNext() => keys.MoveNext();

    /// <summary>
    /// Moves to the first term that is at least <paramref name="term"/>. Returns false if all terms are lower.
    /// </summary>
    public bool Seek(ReadOnlySpan<byte> term) => keys.Seek(term);

    /// <summary>Moves to <paramref name="term"/>. Returns false if it does not exist.</summary>
    public bool SeekExact(ReadOnlySpan<byte> term) => keys.SeekExact(term);

    /// <summary>Moves to the term with this ordinal. Returns false if there are not that many terms.</summary>
    public bool SeekOrdinal(long ordinal) => keys.SeekOrdinal(ordinal);
}
