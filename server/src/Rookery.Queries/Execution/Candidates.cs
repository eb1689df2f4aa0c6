using Rookery.Search.Segments.Postings;

namespace Rookery.Queries.Execution;

/// <summary>The entries of a segment that may match a condition. No other entry matches.</summary>
/// <param name="Cursor">The entries, before the first. Some may be dead.</param>
/// <param name="IsExact">Whether each of them matches; otherwise the documents must be evaluated.</param>
internal readonly record struct Candidates(EntryCursor Cursor, bool IsExact)
{
    /// <summary>No entry matches.</summary>
    public static Candidates None => new(EmptyCursor.Instance, true);
}
