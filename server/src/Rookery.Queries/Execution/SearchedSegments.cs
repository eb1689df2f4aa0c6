using Rookery.Queries.Scanning;
using Rookery.Search.Segments.Postings;
using Rookery.Search.Segments.Reading;
using Rookery.Search.Segments.Store;

namespace Rookery.Queries.Execution;

/// <summary>
/// The segments of an index during one search: their live entries, ids and etags, and the number of results so far. Not
/// thread-safe.
/// </summary>
/// <param name="segments">The segments of the index.</param>
/// <param name="work">The answer's limits.</param>
internal sealed class SearchedSegments(IReadOnlyList<LiveSegment> segments, AnswerWork work)
{
    /// <summary>The segments.</summary>
    public IReadOnlyList<LiveSegment> All => segments;

    /// <summary>Number of segments.</summary>
    public int Count => segments.Count;

    /// <summary>Returns a segment by position.</summary>
    public LiveSegment this[int segment] => segments[segment];

    /// <summary>Reads ids and etags, by segment.</summary>
    public DocumentTable[] Documents { get; } = DocumentsOf(segments);

    /// <summary>The kept ids of found entries.</summary>
    public KeptIds Ids { get; } = new(work.Memory);

    /// <summary>Number of results so far.</summary>
    public long Total { get; set; }

    /// <summary>Returns the live entries of a cursor over a segment.</summary>
    public EntryCursor LiveOf(int segment, EntryCursor cursor) =>
        segments[segment].Live is { DeadCount: > 0 } live ? new LiveCursor(cursor, live) : cursor;

    /// <summary>Counts a result, and checks the limits now and then.</summary>
    public void CountResult()
    {
        Total++;
        work.Step(1);
    }

    /// <summary>Returns a found entry. Keeps its id unless <see cref="Ids"/> is full.</summary>
    public FoundEntry ToFoundEntry(int segment, int entry)
    {
        var id = Documents[segment].Read(entry, out long etag);
        return new FoundEntry(etag, segment, entry, Id: Ids.Keep(id));
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
}
