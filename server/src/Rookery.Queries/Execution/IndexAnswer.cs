using Rookery.Indexing.Indexes;
using Rookery.Indexing.Values;
using Rookery.Platform;
using Rookery.Queries.Conditions;
using Rookery.Queries.Language;
using Rookery.Queries.Scanning;
using Rookery.Search.Segments.Reading;
using Rookery.Search.Segments.Store;

namespace Rookery.Queries.Execution;

/// <summary>
/// Answer of an index to a query: the page of results, or candidates if the index's terms do not decide the query
/// (<see cref="AreCandidates"/>). If the index lags behind the documents, documents of the page may have changed or
/// been deleted. The caller skips deleted documents and checks changed ones with <see cref="IsStillResult"/>. Not
/// thread-safe; holds the index open until it is disposed.
/// </summary>
public sealed class IndexAnswer : IDisposable
{
    // A further search looks for at least this many more results.
    private const int MinMore = 16;

    private readonly CompiledQuery _compiled;
    private readonly AnswerWork _work;
    private readonly IndexSnapshot _snapshot;
    private readonly IndexedFields _fields;
    private readonly OrderWalk? _walk;
    private readonly FoundDocuments _documents;
    private readonly Func<Exception, Exception> _damageFound;
    private readonly bool _isTotalKnown;
    private IReadOnlyList<FoundEntry> _entries;
    private StoredValues?[] _stored = [];
    private long? _limit;

    // The number of earlier results, which were read and released. _entries begins after them.
    private int _dropped;

    private IndexAnswer(
        IndexSnapshot snapshot,
        IndexedFields fields,
        CompiledQuery compiled,
        AnswerWork work,
        bool needsTotal,
        Func<Exception, Exception> damageFound,
        OrderWalk? walk
    )
    {
        (_snapshot, _compiled, _work, _damageFound) = (snapshot, compiled, work, damageFound);
        (_fields, _walk, _limit, _isTotalKnown) = (fields, walk, compiled.Limit, needsTotal);
        var search = new IndexSearch(snapshot.Segments, fields, compiled, work, needsTotal, walk: walk);
        var (found, total, areCandidates) = search.Run();
        AreCandidates = areCandidates;
        TotalResults = areCandidates ? null : total;
        _documents = new FoundDocuments(search.Documents, search.Ids, found, damageFound);
        _entries = found;
    }

    /// <summary>
    /// Whether <see cref="Documents"/> are candidates, which the caller has to add to a <see cref="ScanRun"/> of the
    /// same query, in this order. Otherwise they are the page.
    /// </summary>
    public bool AreCandidates { get; }

    /// <summary>
    /// The documents, in order. Their ids are in lower case, and are read from the index on access.
    /// <see cref="FindMore"/> appends documents; afterwards the earlier ones may no longer be accessed, until
    /// <see cref="Rewind"/>.
    /// </summary>
    public IReadOnlyList<ScannedDocument> Documents => _documents;

    /// <summary>
    /// Number of results, on the page or not. If results after the page are not counted, the number of results found so
    /// far. Null for candidates.
    /// </summary>
    public long? TotalResults { get; }

    /// <summary>The answer includes all writes through this etag.</summary>
    public long Watermark => _snapshot.Watermark;

    /// <summary>Number of postings decoded, for <c>explain</c>.</summary>
    public long PostingsRead => _work.PostingsRead;

    /// <summary>Number of field values read for <c>order by</c>.</summary>
    internal long SortKeysRead => _work.SortKeysRead;

    /// <summary>
    /// If more results than this are known, a further search keeps only new results. Keeping all results takes over 100
    /// bytes for each: 80,000 deleted documents before a page took all memory of queries.
    /// </summary>
    internal int MaxSearchedAgain { get; set; } = 16 * 1024;

    /// <summary>Answers a query.</summary>
    /// <param name="snapshot">The index's snapshot. Disposed with the answer, or here if this throws.</param>
    /// <param name="fields">The numbers of the indexed fields.</param>
    /// <param name="compiled">The compiled query.</param>
    /// <param name="memory">The memory of the query.</param>
    /// <param name="limits">Checked during the work; throws to end it.</param>
    /// <param name="needsTotal">Whether results after the page are counted, which reads more postings.</param>
    /// <param name="damageFound">Returns the exception to throw for damage that is found after this method returned,
    /// while results are read. Null to throw the damage itself, as this method does.</param>
    /// <param name="walk">Decides whether the page is found by walking the sort field's terms in order or by reading
    /// all matches; null to decide by cost.</param>
    /// <exception cref="QueryException">The query exceeds its time or memory.</exception>
    internal static IndexAnswer Find(
        IndexSnapshot snapshot,
        IndexedFields fields,
        CompiledQuery compiled,
        QueryMemory memory,
        IWorkLimits limits,
        bool needsTotal = true,
        Func<Exception, Exception>? damageFound = null,
        OrderWalk? walk = null
    )
    {
        var work = new AnswerWork(memory, limits);
        try
        {
            return new IndexAnswer(
                snapshot,
                fields,
                compiled,
                work,
                needsTotal,
                damageFound ?? (static damaged => damaged),
                walk
            );
        }
        catch
        {
            work.Dispose();
            snapshot.Dispose();
            throw;
        }
    }

    /// <summary>
    /// Adds results after the page to <see cref="Documents"/>. They replace documents of the page that were deleted or
    /// no longer match. Without them, the page would be shorter than its limit, and a client that reads pages until a
    /// short one would miss the rest.
    /// </summary>
    /// <returns>Whether there were more.</returns>
    /// <exception cref="QueryException">The query exceeds its time or memory, or the results after the page cannot be
    /// put in order without their documents.</exception>
    /// <exception cref="IndexDamagedException">The index is damaged.</exception>
    public bool FindMore()
    {
        int known = _documents.Count;
        if (
            AreCandidates
            || _limit is not { } limit
            || known < limit
            || (_isTotalKnown && TotalResults - _compiled.Offset <= known)
        )
        {
            return false; // all results are known
        }

        // The number doubles with each search, because a paused index may find any number of documents that were
        // deleted since it was paused.
        _limit = limit + Math.Max(MinMore, Math.Min(limit, MaxSearchedAgain));
        try
        {
            return limit < MaxSearchedAgain ? SearchAgain(limit, known) : SearchAfter(limit, known);
        }
        catch (Exception damaged) when (IndexDamage.Is(damaged))
        {
            throw _damageFound(damaged);
        }
    }

    /// <summary>
    /// Makes the first documents accessible again. If <see cref="FindMore"/> dropped them, <see cref="Documents"/> is
    /// the page again, as found at first.
    /// </summary>
    /// <exception cref="QueryException">The query exceeds its time or memory.</exception>
    /// <exception cref="IndexDamagedException">The index is damaged.</exception>
    public void Rewind()
    {
        if (_dropped == 0)
        {
            return;
        }

        _limit = _compiled.Limit;
        ReleaseFound();
        try
        {
            var search = Search(_compiled, after: null);
            Replace(search, RunOrRefuse(search, _limit!.Value), dropped: 0);
        }
        catch (Exception damaged) when (IndexDamage.Is(damaged))
        {
            throw _damageFound(damaged);
        }
    }

    /// <summary>Searches for the known results and more.</summary>
    private bool SearchAgain(long limit, int known)
    {
        // The search finds the known results again, so they are released: a query that searches 11 times holds only the
        // results of one search.
        var last = known > 0 ? _entries[^1] : default;
        ReleaseFound();
        var search = Search(_compiled.WithLimit(_limit!.Value), after: null);
        var found = RunOrRefuse(search, limit);

        // Entries with equal keys are in the order of etags, and those of one document in the order of entries.
        Invariant.Holds(
            found.Count >= known && (known == 0 || IsSame(found[known - 1], last)),
            "a search of the same segments with a higher limit finds the same results first"
        );
        Replace(search, found, dropped: 0);
        return found.Count > known;
    }

    /// <summary>
    /// Searches for the results after the known ones. Drops the known ones, which the caller has read.
    /// </summary>
    private bool SearchAfter(long limit, int known)
    {
        var last = _entries[^1];
        var place =
            OrderPosition.Of(last, _snapshot.Segments[last.Segment], _fields, _compiled, _work)
            ?? throw MakeOrderUnknown(limit);
        ReleaseFound();
        var search = Search(_compiled.ContinuedWith(_limit!.Value - limit), place);
        var found = RunOrRefuse(search, limit);
        Replace(search, found, dropped: known);
        return found.Count > 0;
    }

    private IndexSearch Search(CompiledQuery compiled, OrderPosition? after) =>
        new(_snapshot.Segments, _fields, compiled, _work, needsTotal: false, walk: _walk, after: after);

    private static IReadOnlyList<FoundEntry> RunOrRefuse(IndexSearch search, long limit)
    {
        var (found, _, areCandidates) = search.Run();
        return areCandidates ? throw MakeOrderUnknown(limit) : found;
    }

    private void ReleaseFound()
    {
        _entries = [];
        _documents.Replace([], new KeptIds(_work.Memory), [], dropped: 0);
        _work.Memory.ReleaseAll();
    }

    private void Replace(IndexSearch search, IReadOnlyList<FoundEntry> found, int dropped)
    {
        (_entries, _dropped) = (found, dropped);
        _documents.Replace(search.Documents, search.Ids, found, dropped);
    }

    private static QueryException MakeOrderUnknown(long limit) =>
        new(
            QueryFault.IndexUnavailable,
            $"The first {Amount.Number(limit)} results that the index found include documents that were deleted or "
                + "changed since, and the results after them can be sorted only by reading all documents. Try again "
                + "when the index has caught up, or ask without `limit`."
        );

    private static bool IsSame(in FoundEntry one, in FoundEntry other) =>
        (one.Segment, one.Entry) == (other.Segment, other.Entry);

    /// <summary>
    /// Returns whether a document of the page still matches. A document that has not changed since it was indexed
    /// matches. Otherwise it is evaluated.
    /// </summary>
    /// <param name="document">The current document.</param>
    /// <param name="etag">The etag that the index holds for it.</param>
    public bool IsStillResult(in QueriedDocument document, long etag) =>
        document.Etag == etag || _compiled.Matches(document, _work.Scan);

    /// <summary>For a static index: whether a row that the maps compute from the current document matches.</summary>
    /// <param name="document">The current document.</param>
    /// <param name="rows">Computes the rows.</param>
    public bool HasResult(in QueriedDocument document, IndexRows rows)
    {
        foreach (byte[] row in rows.Of(document))
        {
            if (_compiled.Matches(document.WithRow(row), _work.Scan))
            {
                return true;
            }
        }

        return false;
    }

    /// <summary>
    /// Reads the members that a static index stores of the row at <paramref name="index"/>, without braces; empty if
    /// none are stored. Valid until the next call.
    /// </summary>
    /// <param name="index">The position in <see cref="Documents"/>.</param>
    /// <exception cref="IndexDamagedException">The index is damaged.</exception>
    public ReadOnlySpan<byte> ReadRow(int index)
    {
        var found = _entries[index - _dropped];
        var (segment, entry) = (found.Segment, found.Entry);
        if (_stored.Length == 0)
        {
            _stored = new StoredValues?[_snapshot.Segments.Count];
        }
        try
        {
            var row = (_stored[segment] ??= _snapshot.Segments[segment].Reader.Stored()).Read(entry);
            return row.IsEmpty ? row : row[1..^1];
        }
        catch (Exception damaged) when (IndexDamage.Is(damaged))
        {
            throw _damageFound(damaged);
        }
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        Array.ForEach(_stored, static one => one?.Dispose());
        _work.Dispose();
        _snapshot.Dispose();
    }
}

/// <summary>
/// The found entries as a list of documents. Reads each id on access, which is fastest in the order of entries.
/// </summary>
/// <param name="documents">Reads the ids of each segment.</param>
/// <param name="ids">Ids that are already in memory.</param>
/// <param name="found">The entries.</param>
/// <param name="damageFound">Returns the exception to throw for damage that is found while ids are read.</param>
internal sealed class FoundDocuments(
    DocumentTable[] documents,
    KeptIds ids,
    IReadOnlyList<FoundEntry> found,
    Func<Exception, Exception> damageFound
) : IReadOnlyList<ScannedDocument>
{
    private DocumentTable[] _documents = documents;
    private KeptIds _ids = ids;
    private IReadOnlyList<FoundEntry> _found = found;
    private int _dropped;

    /// <inheritdoc/>
    public int Count => _dropped + _found.Count;

    /// <summary>Replaces the entries by those of another search, or by none to release them.</summary>
    /// <param name="documents">Reads the ids of each segment.</param>
    /// <param name="ids">Ids that are already in memory.</param>
    /// <param name="found">The entries.</param>
    /// <param name="dropped">The number of entries before these, which can no longer be accessed.</param>
    public void Replace(DocumentTable[] documents, KeptIds ids, IReadOnlyList<FoundEntry> found, int dropped) =>
        (_documents, _ids, _found, _dropped) = (documents, ids, found, dropped);

    /// <inheritdoc/>
    public ScannedDocument this[int index]
    {
        get
        {
            var (etag, segment, entry, score, id) = _found[index - _dropped];
            if (id != FoundEntry.NoId)
            {
                return new ScannedDocument(etag, _ids.IdAt(id), score);
            }

            try
            {
                return new ScannedDocument(etag, _documents[segment].Read(entry, out _).ToArray(), score);
            }
            catch (Exception damaged) when (IndexDamage.Is(damaged))
            {
                throw damageFound(damaged);
            }
        }
    }

    /// <inheritdoc/>
    public IEnumerator<ScannedDocument> GetEnumerator()
    {
        for (int i = _dropped; i < Count; i++)
        {
            yield return this[i];
        }
    }

    System.Collections.IEnumerator System.Collections.IEnumerable.GetEnumerator() => GetEnumerator();
}
