using Rookery.Indexing.Automatic;
using Rookery.Indexing.Indexes;
using Rookery.Indexing.Reducing;
using Rookery.Indexing.Values;
using Rookery.Queries.Conditions;
using Rookery.Queries.Scanning;
using Rookery.Search.Segments.Reading;
using Rookery.Search.Segments.Store;

namespace Rookery.Queries.Execution;

/// <summary>
/// Answer of an automatic map/reduce index to a grouped query. If the indexed fields decide the conditions and the
/// order, only the rows of the page are read. Otherwise the rows of all candidate groups are read and evaluated in the
/// order of their keys. Not thread-safe; releases its memory when it is disposed.
/// </summary>
public sealed class GroupAnswer : IDisposable
{
    // Estimate for one group: arrays, references and list items.
    private const int BytesPerGroup = 96;

    private readonly AnswerWork _work;
    private readonly ScanRun? _run;

    private GroupAnswer(AnswerWork work, ScanRun? run, ScanResults results, long watermark)
    {
        (_work, _run, Results, Watermark) = (work, run, results, watermark);
    }

    /// <summary>The groups of the page.</summary>
    public ScanResults Results { get; }

    /// <summary>The answer includes all writes through this etag.</summary>
    public long Watermark { get; }

    /// <summary>Whether only the page's groups were read.</summary>
    public bool ReadsOnlyPage => _run is null;

    /// <summary>Number of postings decoded, for <c>explain</c>.</summary>
    public long PostingsRead => _work.PostingsRead;

    /// <summary>Answers a grouped query.</summary>
    /// <param name="snapshot">The index's snapshot.</param>
    /// <param name="map">The index's map, which covers the query.</param>
    /// <param name="compiled">The compiled query.</param>
    /// <param name="memory">The memory of the query.</param>
    /// <param name="limits">Checked during the work; throws to end it.</param>
    /// <param name="needsTotal">Whether results after the page are counted.</param>
    /// <param name="walk">Decides whether the page is found by walking the sort field's terms in order or by reading
    /// all matches; null to decide by cost.</param>
    /// <returns>The answer; null if the index could not include some document.</returns>
    /// <exception cref="Language.QueryException">The query exceeds its time or memory.</exception>
    internal static GroupAnswer? TryFind(
        IndexSnapshot snapshot,
        AutoReduceMap map,
        CompiledQuery compiled,
        QueryMemory memory,
        IWorkLimits limits,
        bool needsTotal = true,
        OrderWalk? walk = null
    )
    {
        if (!HoldsAll(snapshot, map))
        {
            return null;
        }

        var work = new AnswerWork(memory, limits);
        var rows = new GroupRows(map.Definition, compiled.Groups!);
        try
        {
            bool isInOrder = rows.HasOrder && !IsMarked(snapshot, map, ReducedGroup.ShortenedTerm);
            var search = new IndexSearch(
                snapshot.Segments,
                new IndexedFields(map.Fields, rows.Names),
                compiled,
                work,
                needsTotal,
                isInOrder,
                walk
            );
            var (found, total, areCandidates) = search.Run();
            if (areCandidates)
            {
                return EvaluateCandidates(snapshot, found, compiled, rows, work, memory, limits, needsTotal);
            }

            using var stored = new StoredRows(snapshot);
            var page = new List<byte[]>(found.Count);
            foreach (var entry in found)
            {
                page.Add(rows.Read(stored.Read(entry)));
                work.Memory.Reserve(ScanHit.BaseBytes + page[^1].Length);
                work.Scan.CountBytes(page[^1].Length);
            }

            return new GroupAnswer(work, run: null, ScanResults.OfGroups(compiled, page, total), snapshot.Watermark);
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

    /// <summary>Number of groups that <c>filter</c> was applied to; null without it.</summary>
    public long? FilteredCount => _run?.FilteredCount;

    /// <summary>Returns whether the index includes all documents.</summary>
    internal static bool HoldsAll(IndexSnapshot snapshot, AutoReduceMap map) =>
        !IsMarked(snapshot, map, ReducedGroup.ExcludedTerm);

    /// <inheritdoc/>
    public void Dispose()
    {
        _run?.Dispose();
        _work.Dispose();
    }

    private static GroupAnswer EvaluateCandidates(
        IndexSnapshot snapshot,
        IReadOnlyList<FoundEntry> found,
        CompiledQuery compiled,
        GroupRows rows,
        AnswerWork work,
        QueryMemory memory,
        IWorkLimits limits,
        bool needsTotal
    )
    {
        var run = compiled.Start(memory, limits, needsTotal);
        try
        {
            foreach (byte[] row in MatchingRowsInOrder(snapshot, found, compiled, rows, work))
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

    /// <summary>Returns the rows of the groups that match, in the order of their keys.</summary>
    private static byte[][] MatchingRowsInOrder(
        IndexSnapshot snapshot,
        IReadOnlyList<FoundEntry> found,
        CompiledQuery compiled,
        GroupRows rows,
        AnswerWork work
    )
    {
        using var stored = new StoredRows(snapshot);
        var sortKeys = new List<byte[]>();
        var matchingRows = new List<byte[]>();

        // Rows are read in storage order, so that each block is read once.
        foreach (var entry in found.OrderBy(static entry => entry.Segment).ThenBy(static entry => entry.Entry))
        {
            var read = stored.Read(entry);
            work.Scan.CountBytes(read.Length);
            byte[] row = rows.Read(read);
            if (compiled.Matches(new QueriedDocument(row), work.Scan))
            {
                byte[] sortKey = rows.ReadSortKey(read);
                work.Memory.Reserve(BytesPerGroup + sortKey.Length + row.Length);
                sortKeys.Add(sortKey);
                matchingRows.Add(row);
            }
        }

        byte[][] keys = [.. sortKeys];
        byte[][] sortedRows = [.. matchingRows];
        Array.Sort(
            keys,
            sortedRows,
            Comparer<byte[]>.Create(static (one, other) => one.AsSpan().SequenceCompareTo(other))
        );
        return sortedRows;
    }

    /// <summary>Returns whether a live entry of the index has a mark, a term of <see cref="ReducedGroup"/>.</summary>
    private static bool IsMarked(IndexSnapshot snapshot, AutoReduceMap map, ReadOnlySpan<byte> term) =>
        MarkedEntries.Any(snapshot, GroupRowWriter.MarksOf(map.Definition), term);

    private sealed class StoredRows(IndexSnapshot snapshot) : IDisposable
    {
        private readonly StoredValues?[] _segments = new StoredValues?[snapshot.Segments.Count];

        public ReadOnlySpan<byte> Read(in FoundEntry entry) =>
            (_segments[entry.Segment] ??= snapshot.Segments[entry.Segment].Reader.Stored()).Read(entry.Entry);

        public void Dispose() => Array.ForEach(_segments, static one => one?.Dispose());
    }
}
