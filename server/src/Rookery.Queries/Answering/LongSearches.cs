using Rookery.Documents.Consensus;
using Rookery.Queries.Language;

namespace Rookery.Queries.Answering;

/// <summary>
/// Bounds how many queries search an index for long at once. A search holds its thread from beginning to end; if all
/// threads searched, no request would be answered. Who searches for longer than
/// <see cref="LongAfter"/> takes a place, and gives up where there is none. Thread-safe.
/// </summary>
/// <param name="places">How many there are.</param>
internal sealed class LongSearches(int places)
{
    /// <summary>From when on a search is long. Almost all end before.</summary>
    public static readonly TimeSpan LongAfter = TimeSpan.FromSeconds(2);

    private int _running;

    /// <summary>As many as leave a core to others, and two where there are few.</summary>
    public static int UsualPlaces => Math.Max(2, Environment.ProcessorCount - 1);

    /// <summary>Takes a place.</summary>
    /// <exception cref="QueryException">There is none: 429.</exception>
    public void Enter()
    {
        if (Interlocked.Increment(ref _running) <= places)
        {
            return;
        }

        Interlocked.Decrement(ref _running);
        throw new QueryException(
            new Rejection(
                RejectionKind.Overloaded,
                $"The query searched its index for {LongAfter.TotalSeconds:0} seconds without coming to its "
                    + $"end, and {places} others search longer than that already, which is as many as this node "
                    + $"lets. Narrow it, or ask again when one of them has ended."
            )
        );
    }

    /// <summary>Gives the place back.</summary>
    public void Leave() => Interlocked.Decrement(ref _running);
}
