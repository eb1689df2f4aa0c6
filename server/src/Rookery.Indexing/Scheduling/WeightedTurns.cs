namespace Rookery.Indexing.Scheduling;

/// <summary>
/// Distributes turns among kinds of work in proportion to their weights, evenly spread (smooth weighted round robin).
/// Not thread-safe. Two instances whose turns are always drawn together stay in step, so some combinations never occur.
/// To combine two choices, use one instance of the second for each kind of the first.
/// </summary>
/// <param name="kinds">Number of kinds.</param>
internal sealed class WeightedTurns(int kinds)
{
    private readonly int[] _credits = new int[kinds];

    /// <summary>Draws the next turn.</summary>
    /// <param name="weights">The weight of each kind; 0 for a kind without work. Such a kind accumulates no
    /// turns.</param>
    /// <returns>The kind, from 0; -1 if no kind has work.</returns>
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
