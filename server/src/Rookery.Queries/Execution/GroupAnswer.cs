using Rookery.Indexing.Automatic;
using Rookery.Indexing.Indexes;
using Rookery.Indexing.Reducing;
using Rookery.Indexing.Values;
using Rookery.Platform;
using Rookery.Queries.Scanning;
using Rookery.Search.Segments.Postings;
using Rookery.Search.Segments.Reading;
using Rookery.Search.Segments.Store;

namespace Rookery.Queries.Execution;

/// <summary>
/// What an automatic map/reduce index says to a grouped query. Where the fields of groups say which are wanted and in
/// which order, the rows of the page are read; otherwise the rows of all groups that may be wanted, in the order of
/// their keys, as a scan would have made them. For one thread; gives its memory back when it is disposed.
/// </summary>
public sealed class GroupAnswer : IDisposable
{
    // Arrays, references and a place in a list, of one group.
    private const int BytesPerGroup = 96;

    private readonly AnswerWork _work;
    private readonly ScanRun? _run;

    private GroupAnswer(AnswerWork work, ScanRun? run, ScanResults results, long watermark)
    {
        (_work, _run, Results, Watermark) = (work, run, results, watermark);
    }

    /// <summary>The groups of the page.</summary>
    public ScanResults Results { get; }

    /// <summary>The etag through which the answer follows the documents.</summary>
    public long Watermark { get; }

    /// <summary>Whether the groups of the page alone were read.</summary>
    public bool IsOfPage => _run is null;

    /// <summary>Postings that were decoded, for <c>explain</c>.</summary>
    public long PostingsRead => _work.PostingsRead;

    /// <summary>Answers a grouped query.</summary>
    /// <param name="snapshot">The index.</param>
    /// <param name="map">What it holds, which is all that the query needs.</param>
    /// <param name="plan">The query.</param>
    /// <param name="share">What is held is drawn from here.</param>
    /// <param name="clock">Is asked as the work goes on.</param>
    /// <param name="needsTotal">Whether results behind the page are counted.</param>
    /// <param name="walk">When a page is found by walking over the terms of its order; null as costs say.</param>
    /// <returns>The answer; null where a document is such that the index does not hold it.</returns>
    /// <exception cref="Language.QueryException">The time or the memory of the query is used up.</exception>
    internal static GroupAnswer? TryFind(
        IndexSnapshot snapshot,
        AutoReduceMap map,
        ScanPlan plan,
        MemoryShare share,
        IScanClock clock,
        bool needsTotal = true,
        OrderWalk? walk = null
    )
    {
        if (!HoldsAll(snapshot, map))
        {
            return null;
        }

        var work = new AnswerWork(share, clock);
        var rows = new GroupRows(map.Definition, plan.Groups!);
        try
        {
            bool isInOrder = rows.HasOrder && !IsMarked(snapshot, map, ReducedGroup.CutTerm);
            var search = new IndexSearch(
                snapshot.Segments,
                new IndexedFields(map.Fields, rows.Names),
                plan,
                work,
                needsTotal,
                isInOrder,
                walk
            );
            var (found, total, areCandidates) = search.Run();
            if (areCandidates)
            {
                return OfCandidates(snapshot, found, plan, rows, work, share, clock, needsTotal);
            }

            using var stored = new StoredRows(snapshot);
            var page = new List<byte[]>(found.Count);
            foreach (var entry in found)
            {
                page.Add(rows.Read(stored.Read(entry)));
                work.Memory.Take(ScanHit.BaseBytes + page[^1].Length);
                work.Scan.Walk(page[^1].Length);
            }

            return new GroupAnswer(work, null, ScanResults.OfGroups(plan, page, total), snapshot.Watermark);
        }
        catch
        {
            work.Dispose();
            throw;
        }
        finally
        {
            rows.Release();
        }
    }

    /// <summary>Whether an index holds all documents.</summary>
    internal static bool HoldsAll(IndexSnapshot snapshot, AutoReduceMap map) =>
        !IsMarked(snapshot, map, ReducedGroup.UnheldTerm);

    /// <inheritdoc/>
    public void Dispose()
    {
        _run?.Dispose();
        _work.Dispose();
    }

    private static GroupAnswer OfCandidates(
        IndexSnapshot snapshot,
        IReadOnlyList<FoundEntry> found,
        ScanPlan plan,
        GroupRows rows,
        AnswerWork work,
        MemoryShare share,
        IScanClock clock,
        bool needsTotal
    )
    {
        var run = plan.Start(share, clock, needsTotal);
        try
        {
            foreach (byte[] row in InOrder(snapshot, found, plan, rows, work))
            {
                run.AddGroup(row);
            }

            return new GroupAnswer(work, run, run.Finish(), snapshot.Watermark);
        }
        catch
        {
            run.Dispose();
            throw;
        }
    }

    /// <summary>The rows of the groups that satisfy the conditions, in the order of their keys.</summary>
    private static byte[][] InOrder(
        IndexSnapshot snapshot,
        IReadOnlyList<FoundEntry> found,
        ScanPlan plan,
        GroupRows rows,
        AnswerWork work
    )
    {
        using var stored = new StoredRows(snapshot);
        var places = new List<byte[]>();
        var wanted = new List<byte[]>();

        // As they lie, not as they stand: what lies together is read once.
        foreach (var entry in found.OrderBy(static entry => entry.Segment).ThenBy(static entry => entry.Entry))
        {
            var read = stored.Read(entry);
            work.Scan.Walk(read.Length);
            byte[] row = rows.Read(read);
            if (plan.Matches(new QueriedDocument(row), work.Scan))
            {
                byte[] place = rows.ReadPlace(read);
                work.Memory.Take(BytesPerGroup + place.Length + row.Length);
                places.Add(place);
                wanted.Add(row);
            }
        }

        byte[][] order = [.. places];
        byte[][] inOrder = [.. wanted];
        Array.Sort(
            order,
            inOrder,
            Comparer<byte[]>.Create(static (one, other) => one.AsSpan().SequenceCompareTo(other))
        );
        return inOrder;
    }

    private static bool IsMarked(IndexSnapshot snapshot, AutoReduceMap map, ReadOnlySpan<byte> term)
    {
        foreach (var segment in snapshot.Segments)
        {
            if (segment.Reader.Field(GroupRowWriter.MarksOf(map.Definition))?.Postings(term) is not { } postings)
            {
                continue;
            }

            for (int entry = postings.MoveNext(); entry != EntryCursor.End; entry = postings.MoveNext())
            {
                if (segment.Live.IsLive(entry))
                {
                    return true;
                }
            }
        }

        return false;
    }

    private sealed class StoredRows(IndexSnapshot snapshot) : IDisposable
    {
        private readonly StoredValues?[] _segments = new StoredValues?[snapshot.Segments.Count];

        public ReadOnlySpan<byte> Read(in FoundEntry entry) =>
            (_segments[entry.Segment] ??= snapshot.Segments[entry.Segment].Reader.Stored()).Read(entry.Entry);

        public void Dispose() => Array.ForEach(_segments, static one => one?.Dispose());
    }
}
