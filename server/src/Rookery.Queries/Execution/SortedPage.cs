using Rookery.Indexing.Indexes;
using Rookery.Platform;
using Rookery.Queries.Scanning;
using Rookery.Search.Segments.Postings;

namespace Rookery.Queries.Execution;

/// <summary>Finds a sorted page, segment by segment. Not thread-safe.</summary>
/// <param name="segments">The segments of the index.</param>
/// <param name="fields">The numbers of the indexed fields.</param>
/// <param name="compiled">The compiled query.</param>
/// <param name="work">The answer's limits.</param>
/// <param name="needsTotal">Whether results after the page are counted.</param>
/// <param name="walk">Decides whether the page is found by walking the sort field's terms in order or by reading all
/// matches.</param>
/// <param name="after">The result after which the page begins; null for a page from the first result on.</param>
internal sealed class SortedPage(
    SearchedSegments segments,
    IndexedFields fields,
    CompiledQuery compiled,
    AnswerWork work,
    bool needsTotal,
    OrderWalk walk,
    OrderPosition? after = null
)
{
    // A longer page is sorted by keys only, not by ranks (RankedPage), because it would be held twice: by rank and by
    // key.
    private const int MaxRankedPage = 16 * 1024;

    private readonly HitHeap _heap = new(compiled.Sort, compiled.PageEnd);
    private readonly PooledBytes _sortKey = new();
    private long _lastEtag = -1;

    /// <summary>Finds the page.</summary>
    /// <param name="opened">The matching entries of each segment.</param>
    /// <param name="conditions">The cursors that opened the entries, by segment.</param>
    /// <returns>The entries in order; null if documents must be evaluated.</returns>
    public FoundEntry[]? Find(Candidates[] opened, ConditionCursors[] conditions)
    {
        var ranked = new RankedPage(segments, compiled, work, needsTotal, walk, _heap, _sortKey);
        try
        {
            for (int i = 0; i < opened.Length; i++)
            {
                if (SegmentSort.Open(compiled, segments[i].Reader, fields, conditions[i], work) is not { } sort)
                {
                    return null;
                }

                bool isRanked = after is null && sort.RankedColumns > 0 && compiled.PageEnd is > 0 and <= MaxRankedPage;
                if (isRanked && !compiled.JoinsRows && opened.Length == 1)
                {
                    return ranked.TryFindPage(opened[i].Cursor, sort, conditions[i].Opened);
                }

                bool isCollected = (compiled.JoinsRows, isRanked) switch
                {
                    (true, _) => TryCollectJoined(i, opened[i].Cursor, sort),
                    (false, true) => ranked.TryCollect(i, opened[i].Cursor, sort, conditions[i].Opened),
                    (false, false) => TryCollect(i, opened[i].Cursor, sort),
                };
                if (!isCollected)
                {
                    return null;
                }
            }
        }
        finally
        {
            _sortKey.Release();
        }

        return [.. _heap.InOrder().Select(static hit => hit.Entry)];
    }

    private bool TryCollect(int segment, EntryCursor candidates, SegmentSort sort)
    {
        var documents = segments.Documents[segment];
        var cursor = segments.LiveOf(segment, candidates);
        // The next entry to read. Entries that certainly come after the last wanted one are skipped.
        int next = 0;
        for (
            int entry = cursor.MoveNext();
            entry != EntryCursor.End;
            entry = next == entry + 1 ? cursor.MoveNext() : cursor.Advance(next)
        )
        {
            segments.CountResult();
            next = entry + 1;
            if (compiled.PageEnd == 0)
            {
                continue;
            }

            if (_heap.Last is { } last && sort.ComesAfter(entry, last.SortKey, out int to))
            {
                next = needsTotal ? next : Math.Max(next, to == EntryCursor.End ? to : to + 1);
                continue;
            }

            if (!sort.TryWrite(entry, _sortKey))
            {
                return false;
            }

            documents.Read(entry, out long etag);
            if (
                _heap.WouldKeep(_sortKey.Written, etag)
                && after?.IsBefore(_sortKey.Written, etag, entry, compiled.Sort) is not false
            )
            {
                var hit = new ScanHit
                {
                    SortKey = _sortKey.Written.ToArray(),
                    Ordinal = etag,
                    Etag = etag,
                    Id = [],
                    Entry = new FoundEntry(etag, segment, entry, sort.Score),
                };
                _heap.Keep(hit, work.Memory);
            }
        }

        return true;
    }

    /// <summary>
    /// Collects documents with several entries: each document is one result, sorted by its first entry in the order.
    /// </summary>
    private bool TryCollectJoined(int segment, EntryCursor candidates, SegmentSort sort)
    {
        var documents = segments.Documents[segment];
        ScanHit? first = null;
        var cursor = segments.LiveOf(segment, candidates);
        for (int entry = cursor.MoveNext(); entry != EntryCursor.End; entry = cursor.MoveNext())
        {
            documents.Read(entry, out long etag);
            if (etag != _lastEtag)
            {
                _lastEtag = etag;
                Offer(first);
                first = null;
                segments.CountResult();
            }

            if (compiled.PageEnd == 0 || (_heap.Last is { } last && sort.ComesAfter(entry, last.SortKey, out _)))
            {
                continue;
            }

            if (!sort.TryWrite(entry, _sortKey))
            {
                return false;
            }

            if (first is null || compiled.Sort.Compare(_sortKey.Written, first.SortKey) < 0)
            {
                first = new ScanHit
                {
                    SortKey = _sortKey.Written.ToArray(),
                    Ordinal = etag,
                    Etag = etag,
                    Id = [],
                    Entry = new FoundEntry(etag, segment, entry, sort.Score),
                };
            }
        }

        Offer(first);
        return true;
    }

    private void Offer(ScanHit? hit)
    {
        if (
            hit is not null
            && _heap.WouldKeep(hit.SortKey, hit.Ordinal)
            && after?.IsBefore(hit.SortKey, hit.Etag, hit.Entry.Entry, compiled.Sort) is not false
        )
        {
            _heap.Keep(hit, work.Memory);
        }
    }
}
