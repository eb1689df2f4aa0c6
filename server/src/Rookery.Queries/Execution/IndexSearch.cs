using Rookery.Indexing.Indexes;
using Rookery.Queries.Language;
using Rookery.Queries.Scanning;
using Rookery.Search.Segments.Postings;
using Rookery.Search.Segments.Reading;
using Rookery.Search.Segments.Store;

namespace Rookery.Queries.Execution;

/// <summary>Searches the segments of an index for one query. Not thread-safe.</summary>
/// <param name="segments">The segments of the index.</param>
/// <param name="fields">The numbers of the indexed fields.</param>
/// <param name="compiled">The compiled query.</param>
/// <param name="work">The answer's limits.</param>
/// <param name="needsTotal">Whether results after the page are counted.</param>
/// <param name="areGroupsInOrder">For an automatic map/reduce index, whether the order of its ids is the order of the
/// groups; null for any other index.</param>
/// <param name="walk">Decides whether the page is found by walking the sort field's terms in order or by reading all
/// matches; null to decide by cost.</param>
/// <param name="after">The result after which the page begins; null for a page from the first result on.</param>
internal sealed class IndexSearch(
    IReadOnlyList<LiveSegment> segments,
    IndexedFields fields,
    CompiledQuery compiled,
    AnswerWork work,
    bool needsTotal,
    bool? areGroupsInOrder = null,
    OrderWalk? walk = null,
    OrderPosition? after = null
)
{
    private readonly SearchedSegments _segments = new(segments, work);

    /// <summary>The kept ids of found entries.</summary>
    public KeptIds Ids => _segments.Ids;

    /// <summary>Reads ids and etags, by segment.</summary>
    public DocumentTable[] Documents => _segments.Documents;

    /// <summary>
    /// Finds the page if terms and sort columns decide the query; otherwise the candidates, whose documents must be
    /// evaluated.
    /// </summary>
    /// <returns>The entries in order, the number of results, and whether the entries are candidates.</returns>
    public (IReadOnlyList<FoundEntry> Found, long Total, bool AreCandidates) Run()
    {
        // Scores of a static index's rows always use the word statistics of the index. For documents, only scores that
        // sort the results do. Other scores are computed by a scan, which collects its own word statistics.
        if (compiled.Sort.HasScore || (compiled.Rows is not null && (compiled.IsScored || compiled.NeedsScan)))
        {
            var statistics = new IndexStatistics(segments, work);
            statistics.ApplyTo(compiled.Where, fields);
            if (compiled is { Rows: not null, NeedsScan: true, Filter: { } filter })
            {
                statistics.ApplyTo(filter, fields);
            }
        }

        bool needsDocuments =
            (compiled.Groups is not null && !CanSortGroups())
            || compiled.Summary is not null
            || compiled.IsScored != compiled.Sort.HasScore
            || compiled.Filter is not null
            || compiled.FilterLimit is not null
            || compiled.IsDistinct
            || compiled.Intersected.Length > 0
            || !SegmentSort.CanSort(compiled.Sort, fields);
        if (!needsDocuments && TryFindPage() is { } page)
        {
            return (page, _segments.Total, AreCandidates: false);
        }
        return (FindCandidates(), _segments.Total, AreCandidates: true);
    }

    // A shuffled order of groups hashes their rows, so the rows must be read.
    private bool CanSortGroups() =>
        areGroupsInOrder is true
        && Array.TrueForAll(compiled.Sort.Keys.ToArray(), static key => key.Kind != OrderKind.Random);

    /// <summary>Finds the page; returns null if documents must be evaluated.</summary>
    private FoundEntry[]? TryFindPage()
    {
        var opened = new Candidates[segments.Count];
        var conditions = new ConditionCursors[segments.Count];
        for (int i = 0; i < opened.Length; i++)
        {
            conditions[i] = new ConditionCursors(segments[i].Reader, fields, work);
            opened[i] = conditions[i].Open(compiled.Where);
            if (!opened[i].IsExact)
            {
                return null;
            }
        }

        var found = compiled.Sort.IsEmpty ? FindOldest(opened) : FindSorted(opened, conditions);
        Array.ForEach(conditions, static one => one.Opened.CountDecoded());
        return found is null || compiled.Offset == 0 ? found : found[(int)Math.Min(compiled.Offset, found.Length)..];
    }

    private FoundEntry[]? FindSorted(Candidates[] opened, ConditionCursors[] conditions)
    {
        var page = new SortedPage(_segments, fields, compiled, work, needsTotal, walk ?? OrderWalk.Default, after);
        return page.Find(opened, conditions);
    }

    // Results without a sort are in the order of their etags, so the page begins with the oldest entries.
    private FoundEntry[] FindOldest(Candidates[] opened)
    {
        var oldest = new FoundEntries(compiled.PageEnd, work.Memory);
        bool joinsRows = compiled.JoinsRows;
        long lastEtag = -1;
        for (int i = 0; i < opened.Length; i++)
        {
            if (compiled.PageEnd == 0 && segments[i].Live.DeadCount == 0 && !joinsRows)
            {
                _segments.Total += opened[i].Cursor.CountRest();
                continue;
            }

            var documents = _segments.Documents[i];
            var cursor = _segments.LiveOf(i, opened[i].Cursor);
            for (int entry = cursor.MoveNext(); entry != EntryCursor.End; entry = cursor.MoveNext())
            {
                var id = documents.Read(entry, out long etag);
                if (joinsRows && etag == lastEtag)
                {
                    continue;
                }

                lastEtag = etag;
                _segments.CountResult();
                if (oldest.WouldKeep(etag) && after?.IsBefore([], etag, entry, compiled.Sort) is not false)
                {
                    oldest.Add(new FoundEntry(etag, i, entry, Id: _segments.Ids.Keep(id)));
                }
            }
        }

        return oldest.InOrder();
    }

    /// <summary>
    /// Returns all entries that may match, by ascending etag; reduced rows in the order of their keys.
    /// </summary>
    private FoundEntry[] FindCandidates()
    {
        _segments.Total = 0;
        bool joinsRows = compiled.Rows is { IsReduced: false };
        long lastEtag = -1;
        var all = new FoundEntries(long.MaxValue, work.Memory);
        for (int i = 0; i < segments.Count; i++)
        {
            var conditions = new ConditionCursors(segments[i].Reader, fields, work);
            var documents = _segments.Documents[i];
            var cursor = _segments.LiveOf(
                i,
                compiled.Groups is null || areGroupsInOrder is not null
                    ? conditions.Open(compiled.Where).Cursor
                    : new AllCursor(segments[i].Reader.Entries)
            );
            for (int entry = cursor.MoveNext(); entry != EntryCursor.End; entry = cursor.MoveNext())
            {
                documents.Read(entry, out long etag);
                if (joinsRows && etag == lastEtag)
                {
                    continue;
                }

                lastEtag = etag;
                _segments.CountResult();
                all.Add(new FoundEntry(etag, i, entry));
            }

            conditions.Opened.CountDecoded();
        }

        return compiled.Rows is { IsReduced: true } ? InOrderOfKeys(all.InOrder()) : all.InOrder();
    }

    private FoundEntry[] InOrderOfKeys(FoundEntry[] found)
    {
        byte[][] keys = new byte[found.Length][];
        for (int i = 0; i < keys.Length; i++)
        {
            var key = _segments.Documents[found[i].Segment].Read(found[i].Entry, out _);
            work.Memory.Reserve(key.Length);
            work.Step(1);
            keys[i] = key.ToArray();
        }

        Array.Sort(keys, found, Comparer<byte[]>.Create(static (one, other) => one.AsSpan().SequenceCompareTo(other)));
        return found;
    }
}
