using Rookery.Documents.Consensus;
using Rookery.Queries.Language;

namespace Rookery.Queries.Answering;

/// <summary>
/// Limits how many long index searches run at once, because a search occupies its thread to the end and the threads
/// serve all requests. A search that exceeds <see cref="LongAfter"/> takes a place, or fails if no place is free.
/// Thread-safe.
/// </summary>
/// <param name="places">Number of places.</param>
internal sealed class LongSearches(int places)
{
    /// <summary>Time after which a search counts as long. Almost all searches are shorter.</summary>
    public static readonly TimeSpan LongAfter = TimeSpan.FromSeconds(2);

    private int _takenPlaces;

    /// <summary>Default number of places: one less than the processors, but at least two.</summary>
    public static int DefaultPlaces => Math.Max(2, Environment.ProcessorCount - 1);

    /// <summary>Takes a place.</summary>
    /// <exception cref="QueryException">No place is free (HTTP: 429).</exception>
    public void TakePlace()
    {
        if (Interlocked.Increment(ref _takenPlaces) <= places)
        {
            return;
        }

        Interlocked.Decrement(ref _takenPlaces);
        throw new QueryException(
            new Rejection(
                RejectionKind.Overloaded,
                $"The query has searched its index for {LongAfter.TotalSeconds:0} seconds and has not finished, "
                    + $"and this node already runs {places} searches of that length, which is its limit. "
                    + $"Narrow the query, or retry it later."
            )
        );
    }

    /// <summary>Releases the place.</summary>
    public void ReleasePlace() => Interlocked.Decrement(ref _takenPlaces);
}
