using Rookery.Indexing.Automatic;
using Rookery.Search.Segments.Postings;
using Rookery.Search.Segments.Store;

namespace Rookery.Queries.Execution;

/// <summary>
/// Finds the marks that maps leave in an index, such as for a document that the index could not hold.
/// </summary>
internal static class MarkedEntries
{
    /// <summary>
    /// Returns whether an automatic index holds all documents that its map was fed. If it does not, an answer from it
    /// would look whole and lack some documents.
    /// </summary>
    public static bool HoldsAll(IndexSnapshot snapshot, AutoIndexMap map) =>
        !Any(snapshot, map.UnheldNumber, Indexing.Mapping.MappedField.AnyValue);

    /// <summary>Returns whether a live entry has a term.</summary>
    /// <param name="snapshot">The index's snapshot.</param>
    /// <param name="number">The field number of the term.</param>
    /// <param name="term">The term.</param>
    public static bool Any(IndexSnapshot snapshot, int number, ReadOnlySpan<byte> term)
    {
        foreach (var segment in snapshot.Segments)
        {
            if (segment.Reader.Field(number)?.Postings(term) is not { } postings)
            {
                continue;
            }

            for (int entry = postings.MoveNext(); entry != EntryCursor.End; entry = postings.MoveNext())
            {
                if (segment.Live.IsLive(entry))
                {
                    return true;
                }
            }
        }

        return false;
    }
}
