using Rookery.Platform;
using Rookery.Search.Segments.Format;
using Rookery.Search.Segments.Postings;
using Rookery.Search.Segments.Reading;
using Rookery.Search.Segments.Writing;

namespace Rookery.Search.Segments.Store;

/// <summary>
/// Merges one field of several segments: its terms in order, the postings of live entries, and its columns. Omits a
/// term without live entries unless it is a sort key. The iterator divides the work into steps.
/// </summary>
internal sealed class FieldMerge : IDisposable
{
    // Work of one step, which takes some milliseconds on a Raspberry Pi.
    private const int TermsPerPiece = 1024;
    private const int EntriesPerPiece = 8192;

    private readonly IReadOnlyList<MergeSource> _sources;
    private readonly SegmentWriter _writer;
    private readonly int _number;
    private readonly List<Part> _parts = [];
    private readonly List<Part> _group = [];

    // Which terms of all segments, in their merged order, the new segment has.
    private readonly RankedBits _kept;
    private readonly bool _isSorted;

    /// <summary>Prepares the merge of a field of the segments.</summary>
    public FieldMerge(IReadOnlyList<MergeSource> sources, int number, SegmentWriter writer, MemoryShare share)
    {
        _sources = sources;
        _number = number;
        _writer = writer;
        _kept = new RankedBits(share);
        try
        {
            foreach (var source in sources)
            {
                if (source.Reader.Field(number) is { } field)
                {
                    var part = new Part(source, field, share);
                    _parts.Add(part);
                    part.CollectSortKeys();
                }
            }
        }
        catch
        {
            Dispose(); // a damaged column, for example: releases what the parts before have reserved
            throw;
        }

        _isSorted = _parts.Exists(static part => part.Field.SortOrdinals is not null);
    }

    /// <summary>Merges; each item is the end of a step.</summary>
    public IEnumerable<bool> Run()
    {
        bool isText = _parts[0].Field.IsText;
        if (_parts.Exists(part => part.Field.IsText != isText))
        {
            throw SegmentFormat.Malformed();
        }

        _writer.BeginField(_number, isText);
        _parts.ForEach(static part => part.HasTerm = part.Terms.MoveNext());
        long terms = 0;
        for (; NextGroup(); terms++)
        {
            MergeTerm(terms, isText);
            _group.ForEach(static part => part.HasTerm = part.Terms.MoveNext());
            if (terms % TermsPerPiece == 0)
            {
                yield return true;
            }
        }

        PackedColumnRoot sortOrdinals = default;
        if (_isSorted && terms > 0)
        {
            // One more bit is set, so that Rank accepts the position after the last term.
            _kept.Set(terms);
            _kept.Freeze();
            _parts.ForEach(static part => part.Present.Freeze());
            var column = _writer.BeginColumn();
            foreach (bool _ in Copy(column, NewOrdinal))
            {
                yield return true;
            }

            sortOrdinals = column.Finish();
        }

        PackedColumnRoot lengths = default;
        long withLength = 0;
        long total = 0;
        if (_parts.Exists(static part => part.Lengths is not null))
        {
            var column = _writer.BeginColumn();
            foreach (
                bool _ in Copy(
                    column,
                    static (part, entry) => part.Lengths?[entry] ?? 0,
                    length =>
                    {
                        withLength += length > 0 ? 1 : 0;
                        total += (long)length;
                    }
                )
            )
            {
                yield return true;
            }

            lengths = column.Finish();
        }

        _writer.EndField(
            _isSorted && _parts.TrueForAll(static part => part.Field.HasPlainKeys),
            sortOrdinals,
            lengths,
            withLength,
            total
        );
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _kept.Dispose();
        _parts.ForEach(static part => part.Dispose());
    }

    /// <summary>
    /// Collects the parts whose current term is the lowest, in the order of their entries. Returns false if no terms
    /// are left.
    /// </summary>
    private bool NextGroup()
    {
        _group.Clear();
        foreach (var part in _parts)
        {
            if (!part.HasTerm)
            {
                continue;
            }

            int order = _group.Count == 0 ? 0 : part.Terms.Term.SequenceCompareTo(_group[0].Terms.Term);
            if (order < 0)
            {
                _group.Clear();
            }

            if (order <= 0)
            {
                _group.Add(part);
            }
        }

        return _group.Count > 0;
    }

    private void MergeTerm(long term, bool isText)
    {
        var target = _writer.BeginTerm();
        foreach (var part in _group)
        {
            var postings = part.Postings;
            postings.Open(part.Terms.Postings);
            for (int entry = postings.MoveNext(); entry != EntryCursor.End; entry = postings.MoveNext())
            {
                if (part.Source.IsLive(entry))
                {
                    target.Add(
                        part.Source.NewEntryOf(entry),
                        postings.Frequency,
                        isText ? part.LengthOf(entry) : 1,
                        postings.EncodedPositions()
                    );
                }
            }
        }

        bool isKept = target.Count > 0;
        foreach (var part in _isSorted ? _group : [])
        {
            part.Present.Set(term);
            isKept |= part.IsSortKey(part.Terms.Ordinal);
        }

        if (isKept)
        {
            _writer.EndTerm(_group[0].Terms.Term);
        }

        if (isKept && _isSorted)
        {
            _kept.Set(term);
        }
    }

    // The old ordinal selects the term's number in the merged order; its rank among kept terms is the new ordinal.
    private ulong NewOrdinal(Part part, int entry) =>
        part.Field.SortOrdinals?[entry] is { } old and > 0
            ? (ulong)_kept.Rank(part.Present.Select((int)(old - 1))) + 1
            : 0;

    private IEnumerable<bool> Copy(
        PackedColumnWriter column,
        Func<Part, int, ulong> valueOf,
        Action<ulong>? observe = null
    )
    {
        int next = 0;
        foreach (var source in _sources)
        {
            var part = _parts.Find(part => ReferenceEquals(part.Source, source));
            int entries = source.Reader.Entries;
            for (int entry = 0; entry < entries; entry++)
            {
                if (source.IsLive(entry))
                {
                    ulong value = part is null ? 0 : valueOf(part, entry);
                    observe?.Invoke(value);
                    column.Add(value);
                }

                if (++next % EntriesPerPiece == 0)
                {
                    yield return true;
                }
            }
        }
    }

    /// <summary>The field in one segment.</summary>
    private sealed class Part : IDisposable
    {
        private readonly RankedBits _sortKeys;

        public Part(MergeSource source, SegmentField field, MemoryShare share)
        {
            (Source, Field, Terms, Postings, Lengths) = (
                source,
                field,
                field.Terms(),
                field.NewPostings(),
                field.Lengths
            );
            Present = new RankedBits(share);
            _sortKeys = new RankedBits(share);
        }

        public MergeSource Source { get; }

        public SegmentField Field { get; }

        public TermCursor Terms { get; }

        public PostingsCursor Postings { get; }

        public PackedColumn? Lengths { get; }

        /// <summary>The merged terms that this segment has, by their number in the merged order.</summary>
        public RankedBits Present { get; }

        /// <summary>Whether <see cref="Terms"/> is positioned on a term.</summary>
        public bool HasTerm { get; set; }

        /// <summary>Collects the terms that are sort keys of live entries, for <see cref="IsSortKey"/>.</summary>
        public void CollectSortKeys()
        {
            if (Field.SortOrdinals is { } ordinals)
            {
                for (int entry = 0; entry < ordinals.Count; entry++)
                {
                    if (Source.IsLive(entry) && ordinals[entry] is > 0 and var ordinal)
                    {
                        _sortKeys.Set((long)ordinal - 1);
                    }
                }
            }
        }

        public int LengthOf(int entry) => (int)(Lengths?[entry] ?? 0);

        public bool IsSortKey(long ordinal) => _sortKeys[ordinal];

        public void Dispose()
        {
            Present.Dispose();
            _sortKeys.Dispose();
        }
    }
}
