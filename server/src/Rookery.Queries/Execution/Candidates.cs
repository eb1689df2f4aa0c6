using Rookery.Search.Segments.Postings;

namespace Rookery.Queries.Execution;

/// <summary>Entries of a segment of which a condition may hold; it holds of no others.</summary>
/// <param name="Cursor">The entries, not yet begun. Dead ones may be among them.</param>
/// <param name="IsExact">Whether it holds of each of them; else the documents have to be asked.</param>
internal readonly record struct Candidates(EntryCursor Cursor, bool IsExact)
{
    /// <summary>It holds of no entry.</summary>
    public static Candidates None => new(EmptyCursor.Instance, true);
}
