using System.Buffers.Binary;
using Rookery.Indexing.Indexes;
using Rookery.Platform;
using Rookery.Queries.Language;
using Rookery.Queries.Scanning;
using Rookery.Search.Segments.Reading;

namespace Rookery.Queries.Execution;

/// <summary>
/// What the entries of one segment are sorted by, in the form of <see cref="SortKeys"/>. For one thread.
/// </summary>
internal sealed class SegmentSort
{
    private readonly SortColumn[] _columns;
    private readonly ScoreSortColumn? _scores;
    private readonly AnswerWork _work;
    private byte[] _last = [];
    private int _askedSince;
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
    /// How many columns, from the first on, compare by <see cref="Rank"/>. None where the order asks for relevance,
    /// which is computed from one entry to the next.
    /// </summary>
    public int RankedColumns { get; }

    /// <summary>
    /// Whether <see cref="TryRead"/> or <see cref="TryWrite"/> met an entry of which only the document says what it is
    /// sorted by.
    /// </summary>
    public bool LacksDocument { get; private set; }

    /// <summary>How relevant the entry is that was written last; null where the order does not ask for that.</summary>
    public double? Score => _scores?.Score;

    /// <summary>Whether an index can sort so.</summary>
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

    /// <summary>The order of a segment; null where only documents say how relevant they are.</summary>
    /// <param name="plan">The query.</param>
    /// <param name="segment">The segment.</param>
    /// <param name="fields">What it holds of which field.</param>
    /// <param name="conditions">Opens cursors, for relevance.</param>
    /// <param name="work">Of the answer.</param>
    public static SegmentSort? Open(
        ScanPlan plan,
        SegmentReader segment,
        IndexedFields fields,
        ConditionCursors conditions,
        AnswerWork work
    )
    {
        var made = new List<SortColumn>();
        var relevance = new ScoreNodes(segment, fields, conditions);
        foreach (var key in plan.Sort.Keys)
        {
            made.Add(
                key switch
                {
                    { Kind: OrderKind.Score } => new ScoreSortColumn(relevance.Open(plan.Where), key.IsDescending),
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

        return relevance.IsExact ? new SegmentSort([.. made], work) : null;
    }

    /// <summary>Writes what an entry is sorted by.</summary>
    /// <returns>False where only the document says it.</returns>
    public bool TryWrite(int entry, PooledBytes output)
    {
        output.Clear();
        foreach (var column in _columns)
        {
            var room = output.Reserve(sizeof(ushort) + SortValue.MaxBytes);
            int length = column.Write(entry, room[sizeof(ushort)..]);
            if (length < 0)
            {
                LacksDocument = true;
                return false;
            }

            BinaryPrimitives.WriteUInt16BigEndian(room, (ushort)length);
            output.Advance(sizeof(ushort) + length);
        }

        return true;
    }

    /// <summary>
    /// The place of an entry's value among those of the segment, in a column below <see cref="RankedColumns"/>; the
    /// same for equal ones.
    /// </summary>
    public long Rank(int column, int entry) => _columns[column].Rank(entry);

    /// <summary>
    /// The entries in the order of the first column, which is below <see cref="RankedColumns"/>; null where the segment
    /// does not say it by terms.
    /// </summary>
    public TermsInOrder? InOrder(OpenedPostings opened) => _columns[0].InOrder(opened);

    /// <summary>Reads what an entry is sorted by, once.</summary>
    /// <returns>False where only the document says it.</returns>
    public bool TryRead(RankedEntry entry, PooledBytes room)
    {
        if (entry.SortKey is null && TryWrite(entry.Entry, room))
        {
            entry.SortKey = room.Written.ToArray();
            _work.Memory.Take(entry.SortKey.Length);
            _heldBytes += entry.SortKey.Length;
        }

        return entry.SortKey is not null;
    }

    /// <summary>Lets go of the key of an entry.</summary>
    public void Forget(RankedEntry entry)
    {
        int bytes = entry.SortKey?.Length ?? 0;
        _work.Memory.Give(bytes);
        _heldBytes -= bytes;
        entry.SortKey = null;
    }

    /// <summary>Lets go of the keys of all entries.</summary>
    public void ForgetAll()
    {
        _work.Memory.Give(_heldBytes);
        _heldBytes = 0;
    }

    /// <summary>
    /// Whether an entry comes behind the last that is wanted, for certain: then it need not be looked at.
    /// </summary>
    /// <param name="entry">The entry.</param>
    /// <param name="wanted">What the last wanted one is sorted by.</param>
    /// <param name="to">Up to which entry that is so.</param>
    public bool IsBehind(int entry, byte[] wanted, out int to)
    {
        if (!ReferenceEquals(wanted, _last) && (_last.Length == 0 || ++_askedSince >= _columns[0].AskedBetween))
        {
            _last = wanted;
            _askedSince = 0;
            _columns[0].SetLast(wanted.AsSpan(sizeof(ushort), BinaryPrimitives.ReadUInt16BigEndian(wanted)));
        }

        return _columns[0].IsBehindLast(entry, out to);
    }
}
