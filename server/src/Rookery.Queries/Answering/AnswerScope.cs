using System.Diagnostics.CodeAnalysis;
using Rookery.Indexing.Indexes;
using Rookery.Indexing.Values;
using Rookery.Queries.Conditions;
using Rookery.Queries.Execution;
using Rookery.Queries.Scanning;

namespace Rookery.Queries.Answering;

/// <summary>
/// Context of one query answer: the plan, the reader of documents, and the sink that receives the results.
/// </summary>
/// <param name="engine">The engine that runs the query.</param>
/// <param name="memory">The memory of the query.</param>
/// <param name="reader">Reads the documents; outlives the results.</param>
/// <param name="plan">The plan of the query.</param>
/// <param name="compiled">The compiled query of the plan.</param>
/// <param name="basis">The chosen index or scan, and its etag.</param>
/// <param name="sink">Receives the answer, and reserves memory for large documents.</param>
/// <param name="writer">Reads and writes documents; disposed with the results.</param>
/// <param name="slices">Limits the query's working time and yields between time slices.</param>
internal sealed class AnswerScope(
    QueryEngine engine,
    QueryMemory memory,
    AnswerReader reader,
    QueryPlan plan,
    CompiledQuery compiled,
    QueryBasis basis,
    IAnswerSink sink,
    ResultWriter writer,
    QueryTimeSlices slices
) : IDisposable
{
    private OpenedIndex? _opened;

    public AnswerReader Reader => reader;

    public QueryPlan Plan => plan;

    /// <summary>The index or scan that the answer comes from, and its etag.</summary>
    public QueryBasis Basis { get; private set; } = basis;

    public IAnswerSink Sink => sink;

    public ResultWriter Writer => writer;

    public QueryTimeSlices Slices => slices;

    /// <summary>The compiled query: predicate, sort, projection, aggregates.</summary>
    public CompiledQuery Compiled => compiled;

    /// <summary>Starts evaluating a query over documents or over index rows.</summary>
    /// <param name="query">The query, or one that must run before it (to find a model document or to count
    /// words).</param>
    /// <param name="needsTotal">Whether results after the page are counted.</param>
    public ScanRun StartRun(CompiledQuery query, bool needsTotal = true) => query.Start(memory, slices, needsTotal);

    /// <summary>Starts the summary (facets or suggestions) of the query; null if it has none.</summary>
    public Summaries.SummaryRun? StartSummary() => compiled.Summary?.Start(memory, slices);

    /// <summary>
    /// Whether the snapshot of the documents that the index reflects was released, and a document changed since. The
    /// caller then chooses the basis again: the index soon includes the change.
    /// </summary>
    public bool LacksSnapshot => MissedEtag is not null;

    /// <summary>
    /// If <see cref="LacksSnapshot"/>, the etag that the index must include before it is searched again; otherwise
    /// null.
    /// </summary>
    public long? MissedEtag { get; private set; }

    /// <summary>
    /// Searches an index that has indexed at least through the basis's etag. All searches of an answer read the same
    /// state of the index. An answer that is not stale reads the snapshot of the documents that this state reflects. A
    /// stale answer reads the newest documents.
    /// </summary>
    /// <param name="indexName">The index.</param>
    /// <param name="query">The query, or one that must run before it (to find a model document or to count
    /// words).</param>
    /// <returns>The answer; null if the index does not exist on this node, was reset and has not reached that etag
    /// again, is damaged, or cannot answer the query, or if <see cref="LacksSnapshot"/>.</returns>
    public IndexAnswer? Search(string indexName, CompiledQuery query)
    {
        if (!TryOpen(_opened?.Index ?? engine.Indexed.FindServing(reader.Database, indexName, query), out var opened))
        {
            return null;
        }

        using var search = slices.StartSearch();
        return engine.Indexed.TrySearch(opened, query, memory, slices);
    }

    /// <summary>
    /// Searches an automatic map-reduce index for the groups of the query; otherwise as
    /// <see cref="Search(string, CompiledQuery)"/>.
    /// </summary>
    public GroupAnswer? SearchGroups(string indexName)
    {
        if (
            !TryOpen(_opened?.Index ?? engine.Grouped.FindServing(reader.Database, indexName, compiled), out var opened)
        )
        {
            return null;
        }

        using var search = slices.StartSearch();
        return engine.Grouped.TrySearch(opened, compiled, memory, slices);
    }

    /// <summary>
    /// Makes a scan of the reader's snapshot the basis of the answer, because the search of the chosen index returned
    /// null (<see cref="Search"/>). Does nothing if no index was chosen.
    /// </summary>
    public void SwitchToScan()
    {
        if (Basis.SearchedIndex is not null)
        {
            long etag = reader.Current.ReadStatistics().LastEtag;
            Basis = QueryBasis.OfDocuments(Basis.IndexName, Math.Max(etag, Basis.ResultEtag));
        }
    }

    /// <summary>Returns whether the index exists and has not yet indexed through the basis's etag.</summary>
    public bool IsBehind(string indexName) =>
        engine.Indexes.ReadPosition(reader.Database, indexName)?.VisibleEtag < Basis.ResultEtag;

    /// <summary>Returns a mapper that computes a static index's rows from the current documents.</summary>
    /// <param name="query">The query, or one that must run before it (to find a model document or to count words). It
    /// names a static index.</param>
    public IndexRows RowsOf(CompiledQuery query) => new(query.Rows!, reader.Database, () => reader.Current);

    /// <summary>Opens results of which each is one document of the walk.</summary>
    /// <param name="walk">The documents.</param>
    /// <param name="total">Number of results, on the page or not; null if the walk counts them.</param>
    /// <param name="disposedWithResults">The index's answer or the scan that found the documents; disposed with the
    /// results.</param>
    /// <param name="filteredCount">Number of documents that <c>filter</c> was applied to; null without it.</param>
    public WalkedResults OpenWalkedResults(
        QueryWalk walk,
        long? total,
        IDisposable disposedWithResults,
        long? filteredCount = null
    ) => new(walk, writer, sink, slices, total, disposedWithResults) { FilteredCount = filteredCount };

    /// <summary>
    /// Opens the page that an index found. Results that no longer match are replaced by the next ones, so that the page
    /// is full if there are enough.
    /// </summary>
    /// <param name="found">The answer of the index.</param>
    /// <param name="disposedWithResults">The index's answer or the scan that found the documents; disposed with the
    /// results.</param>
    /// <param name="isStillResult">Whether a document that was written after the index read it still matches.</param>
    public WalkedResults OpenPage(
        IndexAnswer found,
        IDisposable disposedWithResults,
        Func<QueriedDocument, long, bool> isStillResult
    )
    {
        var ids = new FoundIds(found.Documents);
        var scores = ScoresOf(found.Documents);
        var walk = new QueryWalk(reader, ids, scores) { Interrupts = () => slices.IsSliceOver };
        return new WalkedResults(
            walk,
            writer,
            sink,
            slices,
            found.TotalResults,
            disposedWithResults,
            () =>
                walk.Etag == ids.IndexedEtagOfCurrent
                || isStillResult(writer.ReadCurrent(walk), ids.IndexedEtagOfCurrent),
            compiled.Limit ?? long.MaxValue,
            FindMore,
            Rewind
        );

        bool FindMore()
        {
            using var search = slices.StartSearch();
            slices.CheckLimits();
            bool areMore = found.FindMore();
            for (int i = scores?.Count ?? 0; i < found.Documents.Count && scores is not null; i++)
            {
                scores.Add(found.Documents[i].Score ?? 0);
            }

            return areMore;
        }

        void Rewind()
        {
            using var search = slices.StartSearch();
            slices.CheckLimits();
            found.Rewind();
        }
    }

    /// <summary>Returns each document's score; null if the query does not score.</summary>
    public List<double>? ScoresOf(IReadOnlyList<ScannedDocument> found) =>
        compiled.IsScored ? [.. found.Select(static document => document.Score ?? 0)] : null;

    /// <summary>Releases the state of the index. Answers of searches stay open.</summary>
    public void Dispose() => _opened?.Dispose();

    // Opens the state of the index for the first search. Later searches use the same state, even if the index is reset
    // or replaced meanwhile.
    private bool TryOpen(RunningIndex? index, [NotNullWhen(true)] out OpenedIndex? opened)
    {
        opened = _opened;
        if (opened is not null)
        {
            return true;
        }

        if (index is null || index.VisibleEtag < Basis.ResultEtag)
        {
            return false;
        }

        try
        {
            opened = _opened =
                Basis.IsStale || reader.IsRenewed ? OpenedIndex.OpenAlone(index) : OpenWithDocuments(index);
        }
        catch (ObjectDisposedException)
        {
            return false; // the index was replaced or reset meanwhile
        }

        if (opened is null)
        {
            return false;
        }

        // The state may be newer than the basis.
        Basis = Basis with
        {
            ResultEtag = Math.Max(Basis.ResultEtag, opened.Etag),
            Timestamp = opened.LastIndexed,
        };
        return true;
    }

    private OpenedIndex? OpenWithDocuments(RunningIndex index)
    {
        var opened = OpenedIndex.Open(
            index,
            reader.Database,
            plan.ReadsMoreThanDocuments,
            out var documents,
            out long missedEtag
        );
        if (documents is { } snapshot)
        {
            reader.Adopt(snapshot);
            return opened;
        }

        MissedEtag = missedEtag;
        opened.Dispose();
        return null;
    }
}
