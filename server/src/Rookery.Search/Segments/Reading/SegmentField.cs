using Rookery.Search.Segments.Format;
using Rookery.Search.Segments.Postings;

namespace Rookery.Search.Segments.Reading;

/// <summary>One field of a segment. Thread-safe; cursors are not.</summary>
public sealed class SegmentField
{
    private readonly SegmentPages _pages;
    private readonly SegmentFieldFooter _footer;
    private readonly Lazy<PackedColumn?> _sortOrdinals;
    private readonly Lazy<PackedColumn?> _lengths;

    internal SegmentField(SegmentPages pages, SegmentFieldFooter footer)
    {
        _pages = pages;
        _footer = footer;
        _sortOrdinals = new(() => footer.SortOrdinals.Exists ? new PackedColumn(pages, footer.SortOrdinals) : null);
        _lengths = new(() => footer.Lengths.Exists ? new PackedColumn(pages, footer.Lengths) : null);
    }

    /// <summary>The field's number.</summary>
    public int Number => _footer.Number;

    /// <summary>Whether its postings have frequencies and positions.</summary>
    public bool IsText => _footer.IsText;

    /// <summary>
    /// Whether each entry has only one term, which is its sort key. Then <see cref="SortOrdinals"/> alone decides which
    /// entries have a term of a range.
    /// </summary>
    public bool HasPlainKeys => _footer.HasPlainKeys;

    /// <summary>Number of terms in the dictionary.</summary>
    public long TermCount => _footer.Terms.Count;

    /// <summary>Number of entries whose length is not 0, including dead ones.</summary>
    public long EntriesWithLength => _footer.EntriesWithLength;

    /// <summary>The sum of the lengths in tokens, including dead entries.</summary>
    public long TotalLength => _footer.TotalLength;

    /// <summary>
    /// For each entry, 1 + the ordinal of its sort key among the terms; 0 for none. Null if no entry has a sort key.
    /// </summary>
    public PackedColumn? SortOrdinals => _sortOrdinals.Value;

    /// <summary>For each entry, its length in tokens. Null if no entry has one.</summary>
    public PackedColumn? Lengths => _lengths.Value;

    /// <summary>Returns a cursor over the terms.</summary>
    public TermCursor Terms() => new(new KeyCursor(_pages, _footer.Terms));

    /// <summary>Returns a cursor for postings of the field, not yet open.</summary>
    public PostingsCursor NewPostings() => new(_pages, _footer.IsText);

    /// <summary>Returns the postings of a term; null if no entry has it.</summary>
    public PostingsCursor? Postings(ReadOnlySpan<byte> term)
    {
        if (!KeyTreeLookup.TryFind(_pages, _footer.Terms, term, out long ordinal, out var payload))
        {
            return null;
        }

        var postings = NewPostings();
        postings.Open(payload);
        TestByColumn(postings, ordinal);
        return postings;
    }

    /// <summary>Returns the number of entries with a term, including dead ones. Decodes no posting.</summary>
    public long EntryCount(ReadOnlySpan<byte> term)
    {
        return KeyTreeLookup.TryFind(_pages, _footer.Terms, term, out _, out var payload)
            ? TermCursor.EntryCountOf(payload.Span)
            : 0;
    }

    /// <summary>Returns the ordinals of the terms of a range.</summary>
    public (long From, long ToExclusive) Ordinals(in TermRange range)
    {
        var terms = Terms();
        long to = range.To is { } last ? CountBelow(terms, last, range.IncludesTo) : terms.Count;
        long from = range.From is { } first ? CountBelow(terms, first, !range.IncludesFrom) : 0;
        return (Math.Min(from, to), to);
    }

    // The column answers whether an entry has the term without decoding a posting.
    private void TestByColumn(PostingsCursor postings, long ordinal)
    {
        if (HasPlainKeys && SortOrdinals is { } column)
        {
            postings.TestBy(column, Number, ordinal);
        }
    }

    /// <summary>Returns the number of terms that sort before a term, plus the term itself if it is there and
    /// included.</summary>
    private static long CountBelow(TermCursor terms, ReadOnlyMemory<byte> term, bool includesTerm)
    {
        bool isThere = terms.SeekExact(term.Span);
        return terms.Count == 0 ? 0 : terms.Ordinal + (isThere && includesTerm ? 1 : 0);
    }
}

/// <summary>A range of terms in the order of their bytes.</summary>
/// <param name="From">The lower bound; null for none.</param>
/// <param name="IncludesFrom">Whether the lower bound is included.</param>
/// <param name="To">The upper bound; null for none.</param>
/// <param name="IncludesTo">Whether the upper bound is included.</param>
public readonly record struct TermRange(
    ReadOnlyMemory<byte>? From,
    bool IncludesFrom,
    ReadOnlyMemory<byte>? To,
    bool IncludesTo
)
{
    /// <summary>All terms.</summary>
    public static TermRange All => new(From: null, IncludesFrom: false, To: null, IncludesTo: false);

    /// <summary>Returns the range of terms that begin with <paramref name="prefix"/>.</summary>
    public static TermRange Prefix(ReadOnlySpan<byte> prefix)
    {
        byte[] from = prefix.ToArray();
        int length = prefix.Length;
        while (length > 0 && prefix[length - 1] == byte.MaxValue)
        {
            length--;
        }

        if (length == 0)
        {
            return new TermRange(from, IncludesFrom: true, To: null, IncludesTo: false);
        }

        byte[] to = prefix[..length].ToArray();
        to[^1]++;
        return new TermRange(from, IncludesFrom: true, to, IncludesTo: false);
    }
}
