using System.Buffers.Binary;
using Rookery.Documents.Json;
using Rookery.Indexing.Language;
using Rookery.Indexing.Scanning;
using Rookery.Indexing.Segments;

namespace Rookery.Indexing.Execution;

/// <summary>What the entries of one segment are sorted by, in the form of <see cref="SortKeys"/>. For one thread.</summary>
internal sealed class SegmentSort
{
    private readonly SortColumn[] columns;
    private readonly ScoreSortColumn? scores;
    private byte[] last = [];
    private int askedSince;

    private SegmentSort(SortColumn[] columns)
    {
        this.columns = columns;
        scores = columns.OfType<ScoreSortColumn>().FirstOrDefault();
    }

    /// <summary>How relevant the entry is that was written last; null where the order does not ask for that.</summary>
    public double? Score => scores?.Score;

    /// <summary>Whether an index can sort so.</summary>
    public static bool CanSort(SortKeys sort, IndexedFields fields)
    {
        foreach (var key in sort.Keys)
        {
            bool isKnown = key.Field is { } field ? IndexedFields.IsId(field) || fields.Find(field) is not null : key.Kind is OrderKind.Random or OrderKind.Score or OrderKind.Natural;
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
    public static SegmentSort? Open(ScanPlan plan, SegmentReader segment, IndexedFields fields, ConditionCursors conditions)
    {
        var made = new List<SortColumn>();
        var relevance = new ScoreNodes(segment, fields, conditions);
        foreach (var key in plan.Sort.Keys)
        {
            made.Add(key switch
            {
                { Kind: OrderKind.Score } => new ScoreSortColumn(relevance.Open(plan.Where), key.IsDescending),
                { Kind: OrderKind.Natural, Field: null } => new RowKeySortColumn(segment.Documents()),
                { Field: { } field } when fields.Find(field) is { } indexed => new FieldSortColumn(segment, indexed, key),
                _ => new IdSortColumn(segment.Documents(), key),
            });
        }

        return relevance.IsExact ? new SegmentSort([.. made]) : null;
    }

    /// <summary>Writes what an entry is sorted by.</summary>
    /// <returns>False where only the document says it.</returns>
    public bool TryWrite(int entry, PooledBytes output)
    {
        output.Clear();
        foreach (var column in columns)
        {
            var room = output.Reserve(sizeof(ushort) + SortValue.MaxBytes);
            int length = column.Write(entry, room[sizeof(ushort)..]);
            if (length < 0)
            {
                return false;
            }

            BinaryPrimitives.WriteUInt16BigEndian(room, (ushort)length);
            output.Advance(sizeof(ushort) + length);
        }

        return true;
    }

    /// <summary>Whether an entry comes behind the last that is wanted, for certain: then it need not be looked at.</summary>
    /// <param name="entry">The entry.</param>
    /// <param name="wanted">What the last wanted one is sorted by.</param>
    /// <param name="to">Up to which entry that is so.</param>
    public bool IsBehind(int entry, byte[] wanted, out int to)
    {
        if (!ReferenceEquals(wanted, last) && (last.Length == 0 || ++askedSince >= columns[0].AskedBetween))
        {
            last = wanted;
            askedSince = 0;
            columns[0].SetLast(wanted.AsSpan(sizeof(ushort), BinaryPrimitives.ReadUInt16BigEndian(wanted)));
        }

        return columns[0].IsBehindLast(entry, out to);
    }
}
