using Rookery.Indexing.Indexes;
using Rookery.Platform;
using Rookery.Queries.Language;
using Rookery.Queries.Scanning;
using Rookery.Search.Segments.Postings;
using Rookery.Search.Segments.Reading;
using Rookery.Search.Segments.Store;

namespace Rookery.Queries.Execution;

/// <summary>Answers one query from the segments of an index. For one thread.</summary>
/// <param name="segments">The index.</param>
/// <param name="fields">What it holds of which field.</param>
/// <param name="plan">The query.</param>
/// <param name="work">Of the answer.</param>
/// <param name="needsTotal">Whether results behind the page are counted.</param>
/// <param name="hasGroupsInOrder">Of an index whose entries are groups, whether their ids are in the order of the
/// groups; null where entries are of documents.</param>
/// <param name="walk">When a page is found by walking over the terms of its order.</param>
internal sealed partial class IndexSearch(
    IReadOnlyList<LiveSegment> segments,
    IndexedFields fields,
    ScanPlan plan,
    AnswerWork work,
    bool needsTotal,
    bool? hasGroupsInOrder = null,
    OrderWalk? walk = null
)
{
    // A longer page is held once, with its keys.
    private const int LongestRankedPage = 16 * 1024;

    private readonly OrderWalk _walk = walk ?? OrderWalk.WhereItPays;
    private readonly DocumentTable[] _documents = DocumentsOf(segments);

    // A document may have several entries, which lie side by side and have one etag; of no others is that the same.
    private readonly bool _joinsEntries = plan.Rows is not null && !plan.IsOfEachRow;
    private readonly KeptIds _ids = new(work.Memory);
    private long _lastEtag = -1;
    private long _total;

    /// <summary>Ids of what was found.</summary>
    public KeptIds Ids => _ids;

    /// <summary>Reads ids of the segments.</summary>
    public DocumentTable[] Documents => _documents;

    /// <summary>
    /// Finds the page, where terms and sort columns say all; otherwise the documents that have to be looked at.
    /// </summary>
    /// <returns>The entries in their order, how many results there are, and whether documents have to be looked
    /// at.</returns>
    public (IReadOnlyList<FoundEntry> Found, long Total, bool AreCandidates) Run()
    {
        // Of documents a score that the order does not ask for is computed by a scan, which counts words by itself.
        if (plan.Sort.HasScore || (plan.Rows is not null && (plan.IsScored || plan.IsOfScans)))
        {
            var statistics = new IndexStatistics(segments, work);
            statistics.Tell(plan.Where, fields);
            if (plan is { Rows: not null, IsOfScans: true, Filter: { } filter })
            {
                statistics.Tell(filter, fields);
            }
        }

        bool looksAtDocuments =
            (plan.Groups is not null && !CanSortGroups())
            || plan.Summary is not null
            || plan.IsScored != plan.Sort.HasScore
            || plan.Filter is not null
            || plan.FilterLimit is not null
            || plan.IsDistinct
            || !SegmentSort.CanSort(plan.Sort, fields);
        if (!looksAtDocuments && TryFindPage() is { } page)
        {
            return (page, _total, false);
        }

        return (FindCandidates(), _total, true);
    }

    // A shuffled order of groups is one of their rows.
    private bool CanSortGroups() =>
        hasGroupsInOrder is true
        && Array.TrueForAll(plan.Sort.Keys.ToArray(), static key => key.Kind != OrderKind.Random);

    /// <summary>Finds the page; null where documents have to be looked at.</summary>
    private FoundEntry[]? TryFindPage()
    {
        var opened = new Candidates[segments.Count];
        var conditions = new ConditionCursors[segments.Count];
        for (int i = 0; i < opened.Length; i++)
        {
            conditions[i] = new ConditionCursors(segments[i].Reader, fields, work);
            opened[i] = conditions[i].Open(plan.Where);
            if (!opened[i].IsExact)
            {
                return null;
            }
        }

        var found = plan.Sort.IsEmpty ? FindOldest(opened) : FindSorted(opened, conditions);
        Array.ForEach(conditions, static one => one.Opened.Count());
        return found is null || plan.Offset == 0 ? found : found[(int)Math.Min(plan.Offset, found.Length)..];
    }

    private FoundEntry[] FindOldest(Candidates[] opened)
    {
        var oldest = new FoundEntries(plan.PageEnd, work.Memory);
        for (int i = 0; i < opened.Length; i++)
        {
            if (plan.PageEnd == 0 && segments[i].Live.DeadCount == 0 && !_joinsEntries)
            {
                _total += opened[i].Cursor.CountRest();
                continue;
            }

            var cursor = LiveOf(i, opened[i].Cursor);
            for (int entry = cursor.MoveNext(); entry != EntryCursor.End; entry = cursor.MoveNext())
            {
                var id = _documents[i].Read(entry, out long etag);
                if (IsSameDocument(etag))
                {
                    continue;
                }

                Count();
                if (oldest.Wants(etag))
                {
                    oldest.Add(new FoundEntry(etag, i, entry, Id: _ids.Keep(id)));
                }
            }
        }

        return oldest.InOrder();
    }

    private FoundEntry[]? FindSorted(Candidates[] opened, ConditionCursors[] conditions)
    {
        var heap = new HitHeap(plan.Sort, plan.PageEnd);
        var sortKey = new PooledBytes();
        try
        {
            for (int i = 0; i < opened.Length; i++)
            {
                if (SegmentSort.Open(plan, segments[i].Reader, fields, conditions[i], work) is not { } sort)
                {
                    return null;
                }

                bool isRanked = sort.RankedColumns > 0 && plan.PageEnd is > 0 and <= LongestRankedPage;
                if (isRanked && !_joinsEntries && opened.Length == 1)
                {
                    return TryTakeRanked(opened[i].Cursor, sort, conditions[i].Opened, sortKey);
                }

                bool isDone =
                    _joinsEntries ? TryCollectJoined(i, opened[i].Cursor, sort, heap, sortKey)
                    : isRanked ? TryCollectRanked(i, opened[i].Cursor, sort, heap, conditions[i].Opened, sortKey)
                    : TryCollect(i, opened[i].Cursor, sort, heap, sortKey);
                if (!isDone)
                {
                    return null;
                }
            }
        }
        finally
        {
            sortKey.Release();
        }

        return [.. heap.InOrder().Select(static hit => hit.Place)];
    }

    private bool TryCollect(int segment, EntryCursor candidates, SegmentSort sort, HitHeap heap, PooledBytes sortKey)
    {
        var cursor = LiveOf(segment, candidates);
        int next = 0;
        for (
            int entry = cursor.MoveNext();
            entry != EntryCursor.End;
            entry = next == entry + 1 ? cursor.MoveNext() : cursor.Advance(next)
        )
        {
            Count();
            next = entry + 1;
            if (plan.PageEnd == 0)
            {
                continue;
            }

            if (heap.Last is { } last && sort.IsBehind(entry, last.SortKey, out int to))
            {
                next = needsTotal ? next : Math.Max(next, to == EntryCursor.End ? to : to + 1);
                continue;
            }

            if (!sort.TryWrite(entry, sortKey))
            {
                return false;
            }

            _documents[segment].Read(entry, out long etag);
            if (heap.Wants(sortKey.Written, etag))
            {
                work.Memory.Take(ScanHit.BaseBytes + sortKey.Length);
                var hit = new ScanHit
                {
                    SortKey = sortKey.Written.ToArray(),
                    Ordinal = etag,
                    Etag = etag,
                    Id = [],
                    Place = new FoundEntry(etag, segment, entry, sort.Score),
                };
                work.Memory.Give(heap.Add(hit)?.Bytes ?? 0);
            }
        }

        return true;
    }

    /// <summary>The same where a document is one result: it stands where the first of its entries does.</summary>
    private bool TryCollectJoined(
        int segment,
        EntryCursor candidates,
        SegmentSort sort,
        HitHeap heap,
        PooledBytes sortKey
    )
    {
        ScanHit? first = null;
        var cursor = LiveOf(segment, candidates);
        for (int entry = cursor.MoveNext(); entry != EntryCursor.End; entry = cursor.MoveNext())
        {
            _documents[segment].Read(entry, out long etag);
            if (!IsSameDocument(etag))
            {
                Offer(first, heap);
                first = null;
                Count();
            }

            if (plan.PageEnd == 0 || (heap.Last is { } last && sort.IsBehind(entry, last.SortKey, out _)))
            {
                continue;
            }

            if (!sort.TryWrite(entry, sortKey))
            {
                return false;
            }

            if (first is null || plan.Sort.Compare(sortKey.Written, first.SortKey) < 0)
            {
                first = new ScanHit
                {
                    SortKey = sortKey.Written.ToArray(),
                    Ordinal = etag,
                    Etag = etag,
                    Id = [],
                    Place = new FoundEntry(etag, segment, entry, sort.Score),
                };
            }
        }

        Offer(first, heap);
        return true;
    }

    private void Offer(ScanHit? hit, HitHeap heap)
    {
        if (hit is not null && heap.Wants(hit.SortKey, hit.Ordinal))
        {
            work.Memory.Take(hit.Bytes);
            work.Memory.Give(heap.Add(hit)?.Bytes ?? 0);
        }
    }

    private bool IsSameDocument(long etag)
    {
        bool isSame = _joinsEntries && etag == _lastEtag;
        _lastEtag = etag;
        return isSame;
    }

    /// <summary>
    /// All documents of which the condition may hold, the oldest first; reduced rows in the order of their keys.
    /// </summary>
    private FoundEntry[] FindCandidates()
    {
        _total = 0;
        _lastEtag = -1;
        var all = new FoundEntries(long.MaxValue, work.Memory);
        for (int i = 0; i < segments.Count; i++)
        {
            var conditions = new ConditionCursors(segments[i].Reader, fields, work);
            var cursor = LiveOf(
                i,
                plan.Groups is null || hasGroupsInOrder is not null
                    ? conditions.Open(plan.Where).Cursor
                    : new AllCursor(segments[i].Reader.Entries)
            );
            for (int entry = cursor.MoveNext(); entry != EntryCursor.End; entry = cursor.MoveNext())
            {
                _documents[i].Read(entry, out long etag);
                if (plan.Rows is { IsReduced: false } && etag == _lastEtag)
                {
                    continue;
                }

                _lastEtag = etag;
                Count();
                all.Add(new FoundEntry(etag, i, entry));
            }

            conditions.Opened.Count();
        }

        return plan.Rows is { IsReduced: true } ? InOrderOfKeys(all.InOrder()) : all.InOrder();
    }

    private FoundEntry[] InOrderOfKeys(FoundEntry[] found)
    {
        byte[][] keys = new byte[found.Length][];
        for (int i = 0; i < keys.Length; i++)
        {
            var key = _documents[found[i].Segment].Read(found[i].Entry, out _);
            work.Memory.Take(key.Length);
            work.Step(1);
            keys[i] = key.ToArray();
        }

        Array.Sort(keys, found, Comparer<byte[]>.Create(static (one, other) => one.AsSpan().SequenceCompareTo(other)));
        return found;
    }

    private static DocumentTable[] DocumentsOf(IReadOnlyList<LiveSegment> segments)
    {
        var tables = new DocumentTable[segments.Count];
        for (int i = 0; i < tables.Length; i++)
        {
            tables[i] = segments[i].Reader.Documents();
        }

        return tables;
    }

    private EntryCursor LiveOf(int segment, EntryCursor cursor) =>
        segments[segment].Live is { DeadCount: > 0 } live ? new LiveCursor(cursor, live) : cursor;

    private void Count()
    {
        _total++;
        work.Step(1);
    }
}
