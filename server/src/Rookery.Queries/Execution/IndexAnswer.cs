using Rookery.Indexing.Indexes;
using Rookery.Indexing.Values;
using Rookery.Platform;
using Rookery.Queries.Scanning;
using Rookery.Search.Segments.Reading;
using Rookery.Search.Segments.Store;

namespace Rookery.Queries.Execution;

/// <summary>
/// What an index says to a query: the page of its results, or, where terms do not say all
/// (<see cref="AreCandidates"/>), the documents of which some are results. An index follows the documents with a delay,
/// so what it names may have changed or be gone: who reads them passes over what is gone, and asks
/// <see cref="IsStillResult"/> of the rest. For one thread; holds the index open until it is disposed.
/// </summary>
public sealed class IndexAnswer : IDisposable
{
    private readonly ScanPlan _plan;
    private readonly AnswerWork _work;
    private readonly IndexSnapshot _snapshot;
    private readonly IReadOnlyList<FoundEntry> _entries;
    private StoredValues?[] _stored = [];
    private readonly Func<Exception, Exception> _damageFound;

    private IndexAnswer(
        IndexSnapshot snapshot,
        IndexedFields fields,
        ScanPlan plan,
        AnswerWork work,
        bool needsTotal,
        Func<Exception, Exception> damageFound,
        OrderWalk? walk
    )
    {
        (_snapshot, _plan, _work, _damageFound) = (snapshot, plan, work, damageFound);
        var search = new IndexSearch(snapshot.Segments, fields, plan, work, needsTotal, walk: walk);
        var (found, total, areCandidates) = search.Run();
        AreCandidates = areCandidates;
        TotalResults = areCandidates ? null : total;
        Documents = new FoundDocuments(search.Documents, search.Ids, found, damageFound);
        _entries = found;
    }

    /// <summary>
    /// Whether <see cref="Documents"/> are not the page, but what has to be given to a <see cref="ScanRun"/> of the
    /// same plan, in this order.
    /// </summary>
    public bool AreCandidates { get; }

    /// <summary>
    /// The documents, in their order. Ids are lower-cased; they are read from the index when they are asked for.
    /// </summary>
    public IReadOnlyList<ScannedDocument> Documents { get; }

    /// <summary>
    /// How many results there are, on the page or not; when they need not be counted, how many were seen; null where a
    /// scan of the candidates tells.
    /// </summary>
    public long? TotalResults { get; }

    /// <summary>The etag through which the answer follows the documents.</summary>
    public long Watermark => _snapshot.Watermark;

    /// <summary>Postings that were decoded, for <c>explain</c>.</summary>
    public long PostingsRead => _work.PostingsRead;

    /// <summary>Keys of fields that were read for <c>order by</c>.</summary>
    internal long SortKeysRead => _work.SortKeysRead;

    /// <summary>Answers a query.</summary>
    /// <param name="snapshot">The index; disposed with the answer, and when there is none.</param>
    /// <param name="fields">What it holds of which field.</param>
    /// <param name="plan">The query.</param>
    /// <param name="share">What is held is drawn from here.</param>
    /// <param name="clock">Is asked as the work goes on.</param>
    /// <param name="needsTotal">Whether results behind the page are counted; without that fewer postings are
    /// read.</param>
    /// <param name="damageFound">Told of damage that is found when results are read, behind this call, which throws it;
    /// gives what is thrown then. Null: the damage itself.</param>
    /// <param name="walk">When a page is found by walking over the terms of its order; null as costs say.</param>
    /// <exception cref="Language.QueryException">The time or the memory of the query is used up.</exception>
    internal static IndexAnswer Find(
        IndexSnapshot snapshot,
        IndexedFields fields,
        ScanPlan plan,
        MemoryShare share,
        IScanClock clock,
        bool needsTotal = true,
        Func<Exception, Exception>? damageFound = null,
        OrderWalk? walk = null
    )
    {
        var begun = new AnswerWork(share, clock);
        try
        {
            return new IndexAnswer(
                snapshot,
                fields,
                plan,
                begun,
                needsTotal,
                damageFound ?? (static damaged => damaged),
                walk
            );
        }
        catch
        {
            begun.Dispose();
            snapshot.Dispose();
            throw;
        }
    }

    /// <summary>
    /// Whether a document of the page is still a result as it is now. One that was not written since is; of another all
    /// conditions are asked.
    /// </summary>
    /// <param name="document">The document as it is now.</param>
    /// <param name="etag">The etag that the index knows.</param>
    public bool IsStillResult(in QueriedDocument document, long etag) =>
        document.Etag == etag || _plan.Matches(document, _work.Scan);

    /// <summary>Whether one of the rows of a document is still a result as they are now; of a static index.</summary>
    /// <param name="document">The document as it is now.</param>
    /// <param name="rows">Makes its rows.</param>
    public bool HasResult(in QueriedDocument document, IndexRows rows)
    {
        foreach (byte[] row in rows.Of(document))
        {
            if (_plan.Matches(document.WithRow(row), _work.Scan))
            {
                return true;
            }
        }

        return false;
    }

    /// <summary>
    /// The members that a static index keeps of the row of one of <see cref="Documents"/>, without braces; empty when
    /// it keeps none. Valid until the next call.
    /// </summary>
    /// <param name="index">Which one.</param>
    /// <exception cref="IndexDamagedException">It cannot be read.</exception>
    public ReadOnlySpan<byte> ReadRow(int index)
    {
        var (_, segment, entry, _, _) = _entries[index];
        _stored = _stored.Length > 0 ? _stored : new StoredValues?[_snapshot.Segments.Count];
        try
        {
            var row = (_stored[segment] ??= _snapshot.Segments[segment].Reader.Stored()).Read(entry);
            return row.IsEmpty ? row : row[1..^1];
        }
        catch (Exception damaged) when (RunningIndex.IsDamage(damaged))
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
/// Found entries as documents: ids are read when they are asked for, fastest in the order of entries.
/// </summary>
/// <param name="documents">Reads the ids of each segment.</param>
/// <param name="ids">Those that are kept.</param>
/// <param name="found">The entries.</param>
/// <param name="damageFound">Told of damage, and gives what is thrown then.</param>
internal sealed class FoundDocuments(
    DocumentTable[] documents,
    KeptIds ids,
    IReadOnlyList<FoundEntry> found,
    Func<Exception, Exception> damageFound
) : IReadOnlyList<ScannedDocument>
{
    /// <inheritdoc/>
    public int Count => found.Count;

    /// <inheritdoc/>
    public ScannedDocument this[int index]
    {
        get
        {
            var (etag, segment, entry, score, id) = found[index];
            if (id != FoundEntry.Nowhere)
            {
                return new ScannedDocument(etag, ids.At(id), score);
            }

            try
            {
                return new ScannedDocument(etag, documents[segment].Read(entry, out _).ToArray(), score);
            }
            catch (Exception damaged) when (RunningIndex.IsDamage(damaged))
            {
                throw damageFound(damaged);
            }
        }
    }

    /// <inheritdoc/>
    public IEnumerator<ScannedDocument> GetEnumerator()
    {
        for (int i = 0; i < Count; i++)
        {
            yield return this[i];
        }
    }

    System.Collections.IEnumerator System.Collections.IEnumerable.GetEnumerator() => GetEnumerator();
}
