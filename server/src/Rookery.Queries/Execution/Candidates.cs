using Rookery.Search.Segments.Postings;

namespace Rookery.Queries.Execution;

/// <summary>The entries of a segment that may match a condition. All other entries certainly do not match.</summary>
/// <param name="Cursor">The entries, positioned before the first. Some may be dead: their documents were deleted or
/// rewritten.</param>
/// <param name="IsExact">Whether every entry of the cursor matches; otherwise the documents must be evaluated.</param>
internal readonly record struct Candidates(EntryCursor Cursor, bool IsExact)
{
    /// <summary>No entry matches.</summary>
    public static Candidates None => new(EmptyCursor.Instance, IsExact: true);
}
