using System.Buffers.Binary;
using Rookery.Indexing.Indexes;
using Rookery.Platform;
using Rookery.Queries.Language;
using Rookery.Queries.Scanning;
using Rookery.Search.Segments.Reading;

namespace Rookery.Queries.Execution;

/// <summary>
/// The sort columns of one segment. Writes sort keys in the form of <see cref="SortKeys"/>. Not thread-safe.
/// </summary>
internal sealed class SegmentSort
{
    private readonly SortColumn[] _columns;
    private readonly ScoreSortColumn? _scores;
    private readonly AnswerWork _work;
    private byte[] _last = [];
    private int _comparedSince;
    private long _heldBytes;

    private SegmentSort(SortColumn[] columns, AnswerWork work)
    {
        _work = work;
        _columns = columns;
        _scores = columns.OfType<ScoreSortColumn>().FirstOrDefault();
        while (_scores is null && RankedColumns < columns.Length && columns[RankedColumns].IsRanked)
        {
            RankedColumns++;
        }
    }

    /// <summary>
    /// Number of leading columns that compare by <see cref="Rank"/>. 0 if the order has a score, because scores can
    /// only be computed in ascending order of entries.
    /// </summary>
    public int RankedColumns { get; }

    /// <summary>Whether some entry's sort key must be read from its document.</summary>
    public bool NeedsDocument { get; private set; }

    /// <summary>The score of the entry written last; null if the order has no score.</summary>
    public double? Score => _scores?.Score;

    /// <summary>Returns whether the index has all fields of an order.</summary>
    public static bool CanSort(SortKeys sort, IndexedFields fields)
    {
        foreach (var key in sort.Keys)
        {
            bool isKnown = key.Field is { } field
                ? IndexedFields.IsId(field) || fields.Find(field) is not null
                : key.Kind is OrderKind.Random or OrderKind.Score or OrderKind.Natural;
            if (!isKnown)
            {
                return false;
            }
        }

        return true;
    }

    /// <summary>Opens the sort columns of a segment; null if scores must be computed from documents.</summary>
    /// <param name="compiled">The compiled query.</param>
    /// <param name="segment">The segment.</param>
    /// <param name="fields">The numbers of the indexed fields.</param>
    /// <param name="conditions">Opens cursors, for scores.</param>
    /// <param name="work">The answer's limits.</param>
    public static SegmentSort? Open(
        CompiledQuery compiled,
        SegmentReader segment,
        IndexedFields fields,
        ConditionCursors conditions,
        AnswerWork work
    )
    {
        var columns = new List<SortColumn>();
        var relevance = new ScoreNodes(segment, fields, conditions);
        foreach (var key in compiled.Sort.Keys)
        {
            columns.Add(
                key switch
                {
                    { Kind: OrderKind.Score } => new ScoreSortColumn(relevance.Open(compiled.Where), key.IsDescending),
                    { Kind: OrderKind.Natural, Field: null } => new RowKeySortColumn(segment.Documents()),
                    { Field: { } field } when fields.Find(field) is { } indexed => new FieldSortColumn(
                        segment,
                        indexed,
                        key,
                        work
                    ),
                    _ => new IdSortColumn(segment.Documents(), key),
                }
            );
        }

        return relevance.IsExact ? new SegmentSort([.. columns], work) : null;
    }

    /// <summary>Writes the sort key of an entry.</summary>
    /// <returns>False if the key must be read from the document.</returns>
    public bool TryWrite(int entry, PooledBytes output)
    {
        output.Clear();
        foreach (var column in _columns)
        {
            var room = output.Reserve(sizeof(ushort) + SortValue.MaxBytes);
            int length = column.Write(entry, room[sizeof(ushort)..]);
            if (length < 0)
            {
                NeedsDocument = true;
                return false;
            }

            BinaryPrimitives.WriteUInt16BigEndian(room, (ushort)length);
            output.Advance(sizeof(ushort) + length);
        }

        return true;
    }

    /// <summary>
    /// Returns the rank of an entry's value in the segment, in a column below <see cref="RankedColumns"/>. Equal values
    /// have the same rank.
    /// </summary>
    public long Rank(int column, int entry) => _columns[column].Rank(entry);

    /// <summary>
    /// The number of the field that alone decides the order, and the number of its order, as in
    /// <see cref="SortColumn.RankSource"/>. Entries of equal rank are in the order of etags. Null if several columns
    /// decide the order.
    /// </summary>
    public (int Field, int Order)? RankSource =>
        _columns.Length == 1 && RankedColumns == 1 ? _columns[0].RankSource : null;

    /// <summary>
    /// Returns the entries in the order of the first column. <see cref="RankedColumns"/> must be at least 1. Null if
    /// the field's terms do not have that order.
    /// </summary>
    public TermsInOrder? InOrder(OpenedPostings opened) => _columns[0].InOrder(opened);

    /// <summary>Reads the sort key of an entry, unless it was read before.</summary>
    /// <returns>False if the key must be read from the document.</returns>
    public bool TryRead(RankedEntry entry, PooledBytes room)
    {
        if (entry.SortKey is null && TryWrite(entry.Entry, room))
        {
            entry.SortKey = room.Written.ToArray();
            _work.Memory.Reserve(entry.SortKey.Length);
            _heldBytes += entry.SortKey.Length;
        }

        return entry.SortKey is not null;
    }

    /// <summary>Releases the sort key of an entry.</summary>
    public void ReleaseKey(RankedEntry entry)
    {
        int bytes = entry.SortKey?.Length ?? 0;
        _work.Memory.Release(bytes);
        _heldBytes -= bytes;
        entry.SortKey = null;
    }

    /// <summary>Releases the memory charged for the sort keys of all entries.</summary>
    public void ReleaseAllKeys()
    {
        _work.Memory.Release(_heldBytes);
        _heldBytes = 0;
    }

    /// <summary>
    /// Returns whether an entry certainly comes after the last wanted one, so that it can be skipped.
    /// </summary>
    /// <param name="entry">The entry.</param>
    /// <param name="wanted">The sort key of the last wanted entry.</param>
    /// <param name="to">The last entry for which the answer is the same.</param>
    public bool ComesAfter(int entry, byte[] wanted, out int to)
    {
        // Setting the last value costs time, so a new one is set only at intervals. An entry that comes after an
        // earlier last one also comes after the new one, because the page's last entry only moves forward in the order.
        if (!ReferenceEquals(wanted, _last) && (_last.Length == 0 || ++_comparedSince >= _columns[0].UpdateInterval))
        {
            _last = wanted;
            _comparedSince = 0;
            _columns[0].SetLast(wanted.AsSpan(sizeof(ushort), BinaryPrimitives.ReadUInt16BigEndian(wanted)));
        }

        return _columns[0].IsAfterLast(entry, out to);
    }
}
