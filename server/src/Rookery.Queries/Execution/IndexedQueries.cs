using Rookery.Documents.Databases;
using Rookery.Indexing.Automatic;
using Rookery.Indexing.Definitions;
using Rookery.Indexing.Indexes;
using Rookery.Indexing.Mapping;
using Rookery.Indexing.Values;
using Rookery.Platform;
using Rookery.Queries.Conditions;
using Rookery.Queries.FullText;
using Rookery.Queries.Language;
using Rookery.Queries.Planning;
using Rookery.Queries.Scanning;
using Rookery.Search.Analysis;

namespace Rookery.Queries.Execution;

/// <summary>
/// Answers queries from the indexes of a node. Callers: <see cref="ChooseIndex"/>; define and wait if needed;
/// <see cref="TryAnswer"/>. What that gives are documents by id: the page, or candidates for a scan. Thread-safe.
/// </summary>
/// <param name="indexes">The indexes.</param>
public sealed class IndexedQueries(IndexHost indexes)
{
    /// <summary>
    /// Analyzer of automatic indexes. Pass it to <see cref="FullTextConditions"/> when a plan is compiled.
    /// </summary>
    public static Analyzer Analyzer => AutoIndexMap.Analyzer;

    /// <summary>Forces or forbids the order walk; null: by cost.</summary>
    internal OrderWalk? Walk { get; init; }

    /// <summary>Chooses the index that answers a query.</summary>
    /// <param name="database">Whose documents are asked for.</param>
    /// <param name="query">The query.</param>
    /// <param name="target">Which documents a scan of it would look at.</param>
    /// <param name="explains">Whether the reasons are wanted; without that, what was found out for the query before is
    /// not found out again.</param>
    public IndexChoice ChooseIndex(Database database, Query query, ScanTarget target, bool explains = false) =>
        !explains && TryChoose(database, query, target) is { } known
            ? known
            : IndexChooser
                .Choose(
                    query,
                    target,
                    () => DocumentsOf(database, target.Collection),
                    indexes.ReadAutoIndexes(database),
                    explains
                )
                .Within(indexes.Quota);

    /// <summary>Answers a query from an index as it is now.</summary>
    /// <param name="database">Whose documents are asked for.</param>
    /// <param name="indexName">The index, of which <see cref="ChooseIndex"/> says that it is built.</param>
    /// <param name="plan">The query.</param>
    /// <param name="share">What the answer holds is drawn from here.</param>
    /// <param name="clock">Is asked as the work goes on.</param>
    /// <param name="needsTotal">Whether results behind the page are counted; without that fewer postings are
    /// read.</param>
    /// <param name="atLeast">The etag through which the answer has to follow the documents.</param>
    /// <returns>The answer, to be disposed; null when there is no such index on this node, or no longer, or it was
    /// reset and is behind that etag.</returns>
    /// <exception cref="QueryException">The time or the memory of the query is used up.</exception>
    public IndexAnswer? TryAnswer(
        Database database,
        string indexName,
        ScanPlan plan,
        MemoryShare share,
        IScanClock clock,
        bool needsTotal = true,
        long atLeast = 0
    )
    {
        if (
            !indexes.TryGetSlot(database, indexName, out var slot)
            || !CanAnswer(slot.Serving, plan)
            || slot.Serving.VisibleEtag < atLeast
        )
        {
            return null;
        }

        var serving = slot.Serving;
        try
        {
            return IndexAnswer.Find(
                serving.Store.OpenSnapshot(),
                serving.Fields,
                plan,
                share,
                clock,
                needsTotal,
                damaged => DamageOf(serving, damaged),
                Walk
            );
        }
        catch (ObjectDisposedException)
        {
            return null; // it was replaced or reset a moment ago
        }
        catch (Exception damaged) when (RunningIndex.IsDamage(damaged))
        {
            indexes.BuildAgain(serving, damaged);
            return null;
        }
    }

    /// <summary>
    /// The rows of a static index that answers now, which may be by an older definition than the newest; null when this
    /// node has no such index yet, or it is an automatic one.
    /// </summary>
    /// <param name="database">Whose documents the index is of.</param>
    /// <param name="indexName">The index.</param>
    public RowSource? ReadRows(Database database, string indexName) =>
        indexes.TryGetSlot(database, indexName, out var slot)
        && slot.Serving is { Map: StaticIndexMap map, Record: var record }
            ? new RowSource(record.Name, record.Number, map.Definition, map.Fields)
            : null;

    /// <summary>
    /// Reads terms of an index in their order: texts without case, numbers in the one form that stands for all.
    /// </summary>
    /// <param name="database">Whose documents the index is of.</param>
    /// <param name="indexName">The index.</param>
    /// <param name="field">The field as its definition shows it; <c>search(bio)</c> for the words of one that has
    /// them.</param>
    /// <param name="after">The term to begin behind; null to begin with the first.</param>
    /// <param name="count">How many at most.</param>
    /// <returns>The terms; null when this node has no such index, or that has no such field.</returns>
    /// <exception cref="IndexDamagedException">They cannot be read.</exception>
    public IReadOnlyList<string>? ReadTerms(Database database, string indexName, string field, string? after, int count)
    {
        if (!indexes.TryGetSlot(database, indexName, out var slot))
        {
            return null;
        }

        bool isWords = field.StartsWith("search(", StringComparison.OrdinalIgnoreCase) && field.EndsWith(')');
        string name = isWords ? field["search(".Length..^1] : field;
        var fields = slot.Serving.Map.Fields;
        for (int i = 0; i < fields.Count; i++)
        {
            if (
                string.Equals(string.Join('.', fields[i].Path), name, StringComparison.Ordinal)
                && (!isWords || fields[i].Analyzer is not null)
            )
            {
                return ReadTerms(slot.Serving, i, isWords, after, count);
            }
        }

        return null;
    }

    /// <summary>
    /// Why an automatic index that a query names cannot answer it, as the rest of a sentence; null when it can.
    /// </summary>
    /// <param name="query">The query, of the documents that the index is of.</param>
    /// <param name="definition">What the index holds.</param>
    public static string? WhyUnable(Query query, AutoIndexDefinition definition) =>
        query.GroupBy.Count > 0 ? "is of documents, and the query is of groups."
        : AutoIndexNeeds
            .Of(query, out _)
            ?.Fields.FirstOrDefault(needed => !definition.Fields.Any(field => field.Covers(needed)))
            is { } lacking
            ? $"does not hold {lacking}."
        : null;

    // Null where none of the indexes that there are answers.
    private IndexChoice? TryChoose(Database database, Query query, ScanTarget target)
    {
        bool needsIndex = IndexChooser.NeedsIndex(query);
        if ((target.NamesIds && !needsIndex) || !indexes.TryGetCatalog(database, out var catalog))
        {
            return null;
        }

        var slots = catalog.Slots;
        if (query.Known is not KnownIndexes known || !known.AreOf(slots))
        {
            query.Known = known = KnownIndexes.Of(query, slots);
        }

        return known.Choose(slots) is { } index
            ? new IndexChoice(
                index.Record.Name,
                null,
                index is { VisibleEtag: > 0, State: IndexState.Normal or IndexState.Paused },
                needsIndex,
                []
            )
            : null;
    }

    // Of an automatic index, what is computed of all results, a score that the order does not ask for, and the order of
    // ids, come from the documents.
    private static bool CanAnswer(RunningIndex index, ScanPlan plan) =>
        plan.Rows is { } rows
            ? index.Map is StaticIndexMap && index.Record.Number == rows.Number
            : index.Map is AutoIndexMap
                && plan.Summary is null
                && !plan.IsOfScans
                && !(plan.Target.NamesIds && plan.Sort.IsEmpty)
                && (!plan.IsScored || plan.Sort.HasScore);

    /// <summary>
    /// Has the index built again: the one that answered, and not one that is built to take its place.
    /// </summary>
    private IndexDamagedException DamageOf(RunningIndex index, Exception damaged)
    {
        indexes.BuildAgain(index, damaged);
        return new IndexDamagedException(index.Record.Name, damaged);
    }

    private List<string>? ReadTerms(RunningIndex index, int field, bool isWords, string? after, int count)
    {
        try
        {
            using var snapshot = index.Store.OpenSnapshot();
            return isWords
                ? IndexTerms.ReadWords(snapshot, MappedField.WordsOf(field), after, count)
                : IndexTerms.ReadValues(snapshot, MappedField.ValuesOf(field), after, count);
        }
        catch (ObjectDisposedException)
        {
            return null; // it was replaced or reset a moment ago
        }
        catch (Exception damaged) when (RunningIndex.IsDamage(damaged))
        {
            throw DamageOf(index, damaged);
        }
    }

    internal static long DocumentsOf(Database database, string? collection)
    {
        using var reader = database.OpenReader();
        return collection is null
            ? reader.ReadStatistics().Documents
            : reader
                .ReadCollections()
                .Where(one => one.Name.Equals(collection, StringComparison.OrdinalIgnoreCase))
                .Sum(static one => one.Documents);
    }
}
