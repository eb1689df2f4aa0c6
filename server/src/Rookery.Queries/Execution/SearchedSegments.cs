using Rookery.Queries.Scanning;
using Rookery.Search.Segments.Postings;
using Rookery.Search.Segments.Reading;
using Rookery.Search.Segments.Store;

namespace Rookery.Queries.Execution;

/// <summary>
/// The segments of an index as one search walks over them: which entries live, what their ids and etags are, and how
/// many results were met. For one thread.
/// </summary>
/// <param name="segments">The index.</param>
/// <param name="work">Of the answer.</param>
internal sealed class SearchedSegments(IReadOnlyList<LiveSegment> segments, AnswerWork work)
{
    /// <summary>The segments.</summary>
    public IReadOnlyList<LiveSegment> All => segments;

    /// <summary>How many there are.</summary>
    public int Count => segments.Count;

    /// <summary>One of them.</summary>
    public LiveSegment this[int segment] => segments[segment];

    /// <summary>Reads ids and etags of each segment.</summary>
    public DocumentTable[] Documents { get; } = DocumentsOf(segments);

    /// <summary>Ids of what was found.</summary>
    public KeptIds Ids { get; } = new(work.Memory);

    /// <summary>Results that were met.</summary>
    public long Total { get; set; }

    /// <summary>Those of a segment's entries that live.</summary>
    public EntryCursor LiveOf(int segment, EntryCursor cursor) =>
        segments[segment].Live is { DeadCount: > 0 } live ? new LiveCursor(cursor, live) : cursor;

    /// <summary>Counts a result, and asks the clock now and then.</summary>
    public void CountResult()
    {
        Total++;
        work.Step(1);
    }

    /// <summary>An entry that was found, with its id.</summary>
    public FoundEntry PlaceOf(int segment, int entry)
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
