namespace Rookery.Indexing.Indexes;

/// <summary>
/// Shares turns between kinds of work in proportion to their weights, and spreads the turns of each evenly: smooth
/// weighted round robin. One thread at a time. Two whose turns are always given out together keep in step, so that a
/// kind of one may only ever meet the same kind of the other: use one for each kind of the first.
/// </summary>
/// <param name="kinds">How many kinds there are.</param>
internal sealed class WeightedTurns(int kinds)
{
    private readonly int[] _credits = new int[kinds];

    /// <summary>Gives the next turn.</summary>
    /// <param name="weights">The share of each kind; 0 for one that has nothing to do, which saves up no turns.</param>
    /// <returns>The kind, from 0; -1 when none has anything to do.</returns>
    public int Next(ReadOnlySpan<int> weights)
    {
        int total = 0;
        int next = -1;
        for (int kind = 0; kind < kinds; kind++)
        {
            total += weights[kind];
            _credits[kind] = weights[kind] == 0 ? 0 : _credits[kind] + weights[kind];
            if (weights[kind] > 0 && (next < 0 || _credits[kind] > _credits[next]))
            {
                next = kind;
            }
        }

        if (next >= 0)
        {
            _credits[next] -= total;
        }

        return next;
    }
}
