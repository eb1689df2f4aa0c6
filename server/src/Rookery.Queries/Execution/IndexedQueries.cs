using Rookery.Documents.Databases;
using Rookery.Documents.Ids;
using Rookery.Indexing.Automatic;
using Rookery.Indexing.Definitions;
using Rookery.Indexing.Indexes;
using Rookery.Indexing.Mapping;
using Rookery.Indexing.Values;
using Rookery.Queries.Conditions;
using Rookery.Queries.FullText;
using Rookery.Queries.Language;
using Rookery.Queries.Planning;
using Rookery.Queries.Scanning;
using Rookery.Search.Analysis;
using Rookery.Search.Segments.Store;

namespace Rookery.Queries.Execution;

/// <summary>
/// Answers queries from the indexes of a node. A caller chooses an index by <see cref="ChooseIndex"/>, and defines and
/// awaits it if needed. Then the caller opens the state of the index that <see cref="FindServing"/> returns.
/// <see cref="TrySearch"/> searches this state. It returns the ids of the page's documents, or of candidates that the
/// caller must evaluate. Thread-safe.
/// </summary>
/// <param name="indexes">The indexes.</param>
public sealed class IndexedQueries(IndexHost indexes)
{
    /// <summary>The analyzer of automatic indexes, for the <see cref="FullTextConditions"/> of a query.</summary>
    public static Analyzer Analyzer => AutoIndexMap.Analyzer;

    /// <summary>
    /// How a sorted page is found; see <see cref="Execution.OrderWalk"/>. Set in tests only; if null, the estimated
    /// cost decides.
    /// </summary>
    internal OrderWalk? OrderWalk { get; init; }

    /// <summary>Chooses the index that answers a query.</summary>
    /// <param name="database">The queried database.</param>
    /// <param name="query">The query.</param>
    /// <param name="target">The documents that a scan would read.</param>
    /// <param name="explains">Whether reasons are wanted. If not, the cached covering indexes are tried first.</param>
    public IndexChoice ChooseIndex(Database database, Query query, ScanTarget target, bool explains = false)
    {
        if (!explains && TryChooseCovering(database, query, target) is { } covering)
        {
            return covering;
        }

        var choice = IndexChooser.Choose(
            query,
            target,
            () => CountDocuments(database, target.Collection),
            indexes.ReadAutoIndexes(database),
            explains
        );
        return choice is { IsBuilt: true, IndexName: { } name } && !HoldsAll(database, name)
            ? IndexChoice.Scan([
                .. choice.Reasons.Select(static reason => reason with { IsChosen = false }),
                PlanReason.OfDocuments(
                    $"Documents are scanned: one of them has more values than the index '{name}' can hold."
                ),
            ]) with
            {
                UnheldIndex = name,
            }
            : choice.Within(indexes.Quota);
    }

    /// <summary>Answers a query from the newest state of an index, for example to count its postings.</summary>
    /// <param name="database">The queried database.</param>
    /// <param name="indexName">The index, which <see cref="ChooseIndex"/> reported as built.</param>
    /// <param name="compiled">The compiled query.</param>
    /// <param name="memory">The memory of the query.</param>
    /// <param name="limits">Checked during the work; throws to end it.</param>
    /// <param name="needsTotal">Whether results after the page are counted, which reads more postings.</param>
    /// <param name="minimumEtag">The etag through which the index must have indexed.</param>
    /// <returns>The answer, which the caller disposes. Null if the index does not exist on this node, cannot answer the
    /// query, could not hold some document, is damaged, or was reset and has not reached that etag.</returns>
    /// <exception cref="QueryException">The query exceeds its time or memory.</exception>
    public IndexAnswer? TryAnswer(
        Database database,
        string indexName,
        CompiledQuery compiled,
        QueryMemory memory,
        IWorkLimits limits,
        bool needsTotal = true,
        long minimumEtag = 0
    )
    {
        if (FindServing(database, indexName, compiled) is not { } serving || serving.VisibleEtag < minimumEtag)
        {
            return null;
        }

        try
        {
            using var opened = OpenedIndex.OpenAlone(serving);
            return TrySearch(opened, compiled, memory, limits, needsTotal);
        }
        catch (ObjectDisposedException)
        {
            return null; // the index was replaced or reset meanwhile
        }
    }

    /// <summary>
    /// Returns the index that answers, not its replacement that is being built. Null if the index does not exist on
    /// this node or cannot answer the query.
    /// </summary>
    internal RunningIndex? FindServing(Database database, string indexName, CompiledQuery compiled) =>
        indexes.TryGetSlot(database, indexName, out var slot) && CanAnswer(slot.Serving, compiled)
            ? slot.Serving
            : null;

    /// <summary>Answers a query from an opened state of an index.</summary>
    /// <param name="opened">The state; it may be disposed before the answer.</param>
    /// <param name="compiled">The compiled query, which the index can answer.</param>
    /// <param name="memory">The memory of the query.</param>
    /// <param name="limits">Checked during the work; throws to end it.</param>
    /// <param name="needsTotal">Whether results after the page are counted, which reads more postings.</param>
    /// <returns>The answer, which the caller disposes. Null if the index could not hold some document, or is damaged;
    /// its rebuild has then started.</returns>
    /// <exception cref="QueryException">The query exceeds its time or memory.</exception>
    internal IndexAnswer? TrySearch(
        OpenedIndex opened,
        CompiledQuery compiled,
        QueryMemory memory,
        IWorkLimits limits,
        bool needsTotal = true
    )
    {
        try
        {
            var snapshot = opened.Share();
            if (opened.Index.Map is AutoIndexMap map && !HoldsAll(snapshot, map))
            {
                return null;
            }

            return IndexAnswer.Find(
                snapshot,
                opened.Index.Fields,
                compiled,
                memory,
                limits,
                needsTotal,
                damaged => RebuildAndReport(opened.Index, damaged),
                OrderWalk
            );
        }
        catch (Exception damaged) when (IndexDamage.Is(damaged))
        {
            indexes.Rebuild(opened.Index, damaged);
            return null;
        }
    }

    /// <summary>
    /// Finds the rows of the static index that answers now. Its definition may be older than the newest one. Null if
    /// this node has no such index yet, or the index is automatic.
    /// </summary>
    /// <param name="database">The database.</param>
    /// <param name="indexName">The index.</param>
    public RowSource? FindRowSource(Database database, string indexName) =>
        indexes.TryGetSlot(database, indexName, out var slot)
        && slot.Serving is { Map: StaticIndexMap map, Record: var record }
            ? new RowSource(record.Name, record.Number, map.Definition, map.Fields, map.Named)
            : null;

    /// <summary>Opens the terms of a field, as of the state of the index that queries search now.</summary>
    /// <param name="database">The database.</param>
    /// <param name="indexName">The index.</param>
    /// <param name="ofReplacement">Whether to open the replacement that is being built for the index.</param>
    /// <param name="field">The field as its definition shows it; <c>search(bio)</c> for the words of a full-text
    /// field.</param>
    /// <returns>The terms, which the caller disposes; null if the index is not open on this node.</returns>
    public OpenedTerms? OpenTerms(Database database, string indexName, bool ofReplacement, string field)
    {
        if (
            !indexes.TryGetSlot(database, indexName, out var slot)
            || (ofReplacement ? slot.Replacement : slot.Serving) is not { } index
        )
        {
            return null;
        }

        bool areWords = field.StartsWith("search(", StringComparison.OrdinalIgnoreCase) && field.EndsWith(')');
        string name = areWords ? field["search(".Length..^1] : field;
        IndexSnapshot snapshot;
        PublishedIndex published;
        try
        {
            snapshot = index.OpenSnapshot(out published);
        }
        catch (ObjectDisposedException)
        {
            return null; // the index was replaced or reset meanwhile
        }

        // After the snapshot is opened, the names of all fields that it contains are known.
        int? number = PositionOf(index.Map, name, areWords) is { } position
            ? areWords
                ? MappedField.WordsOf(position)
                : MappedField.ValuesOf(position)
            : null;
        return new OpenedTerms(snapshot, published.Etag, number, areWords, damaged => RebuildAndReport(index, damaged));
    }

    /// <summary>
    /// Returns why the automatic index that a query names cannot answer the query. The text continues a sentence that
    /// begins with the index's name. Null if the index can answer.
    /// </summary>
    /// <param name="query">The query.</param>
    /// <param name="definition">The definition of the index.</param>
    public static string? ExplainWhyUnable(Query query, AutoIndexDefinition definition)
    {
        if (query.GroupBy.Count > 0)
        {
            return "holds documents, and the query groups them.";
        }
        var neededFields = AutoIndexNeeds.Of(query, out _)?.Fields;
        var missing = neededFields?.FirstOrDefault(needed => !definition.Fields.Any(field => field.Covers(needed)));
        return missing is null ? null : $"does not hold {missing}.";
    }

    // Null if the query names ids, or no existing index covers it: IndexChooser then decides.
    private IndexChoice? TryChooseCovering(Database database, Query query, ScanTarget target)
    {
        bool isScanExpensive = IndexChooser.IsScanExpensive(query);
        if ((target.NamesIds && !isScanExpensive) || !indexes.TryGetCatalog(database, out var catalog))
        {
            return null;
        }

        var slots = catalog.Slots;
        if (query.CoveringIndexes is not CoveringIndexes covering || !covering.IsComputedFrom(slots))
        {
            query.CoveringIndexes = covering = CoveringIndexes.Of(query, slots);
        }
        if (covering.Choose(slots) is not { } index || !catalog.Serves(index))
        {
            return null;
        }

        // The visible etag is 0 while the index is built for the first time.
        bool isBuilt = index is { VisibleEtag: > 0, State: IndexState.Normal or IndexState.Paused };
        return new IndexChoice(index.Record.Name, ToDefine: null, isBuilt, isScanExpensive, Reasons: []);
    }

    /// <summary>
    /// Returns whether automatic indexes can answer a query for documents. A scan answers a query with facets or
    /// suggestions, with <c>moreLikeThis</c>, with results in the order of ids, or with scores that do not order the
    /// results.
    /// </summary>
    internal static bool CanAnswer(CompiledQuery compiled) =>
        compiled.Summary is null
        && !compiled.NeedsScan
        && !(compiled.Target.NamesIds && compiled.Sort.IsEmpty)
        && (!compiled.IsScored || compiled.Sort.HasScore);

    // A static index answers only queries of its own definition.
    private static bool CanAnswer(RunningIndex index, CompiledQuery compiled) =>
        compiled.Rows is { } rows
            ? index.Map is StaticIndexMap && index.Record.Number == rows.DefinitionNumber
            : index.Map is AutoIndexMap && CanAnswer(compiled);

    /// <summary>
    /// Starts to rebuild the index that answered, not the replacement that is being built beside it. Returns the
    /// exception to throw.
    /// </summary>
    private IndexDamagedException RebuildAndReport(RunningIndex index, Exception damaged)
    {
        indexes.Rebuild(index, damaged);
        return new IndexDamagedException(index.Record.Name, damaged);
    }

    private bool HoldsAll(Database database, string indexName)
    {
        if (!indexes.TryGetSlot(database, indexName, out var slot) || slot.Serving.Map is not AutoIndexMap map)
        {
            return true;
        }

        try
        {
            using var snapshot = slot.Serving.OpenSnapshot();
            return MarkedEntries.HoldsAll(snapshot, map);
        }
        catch (Exception failure) when (failure is ObjectDisposedException || IndexDamage.Is(failure))
        {
            return true; // the search itself will fail the same way
        }
    }

    // Disposes the snapshot if it cannot be searched.
    private static bool HoldsAll(IndexSnapshot snapshot, AutoIndexMap map)
    {
        bool holdsAll = false;
        try
        {
            return holdsAll = MarkedEntries.HoldsAll(snapshot, map);
        }
        finally
        {
            if (!holdsAll)
            {
                snapshot.Dispose();
            }
        }
    }

    // Null if the index has no such field.
    private static int? PositionOf(IIndexMap map, string name, bool areWords)
    {
        for (int i = 0; i < map.Fields.Count; i++)
        {
            if (
                string.Equals(string.Join('.', map.Fields[i].Path), name, StringComparison.Ordinal)
                && (!areWords || map.Fields[i].Analyzer is not null)
            )
            {
                return i;
            }
        }

        return map.Named?.PositionOf(name);
    }

    internal static long CountDocuments(Database database, string? collection)
    {
        using var reader = database.OpenReader();
        return collection is null
            ? reader.ReadStatistics().Documents
            : reader
                .ReadCollections()
                .Where(counted => IgnoredCase.OfCollections.Equals(counted.Name, collection))
                .Sum(static counted => counted.Documents);
    }
}
