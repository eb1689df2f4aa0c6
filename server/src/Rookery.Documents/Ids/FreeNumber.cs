namespace Rookery.Documents.Ids;

/// <summary>The ids that consist of a prefix and a number.</summary>
internal interface INumberedIds
{
    /// <summary>Whether a document has the id with this number.</summary>
    bool IsTaken(long number);
}

/// <summary>Finds the number for the next new id with a prefix.</summary>
internal static class FreeNumber
{
    /// <summary>
    /// Returns the next number without a document. After 64 taken numbers, searches exponentially, then by bisection.
    /// This may skip free numbers, but a million taken numbers do not delay other writes.
    /// </summary>
    /// <param name="ids">The ids.</param>
    /// <param name="last">The last number that was given.</param>
    public static long Find<T>(T ids, long last)
        where T : INumberedIds, allows ref struct
    {
        const int NumbersTriedInTurn = 64;
        for (int i = 1; i <= NumbersTriedInTurn; i++)
        {
            if (!ids.IsTaken(last + i))
            {
                return last + i;
            }
        }

        long taken = last + NumbersTriedInTurn;
        long step = 1;
        while (ids.IsTaken(taken + step))
        {
            taken += step;
            step *= 2;
        }

        long free = taken + step;
        while (free - taken > 1)
        {
            long middle = taken + ((free - taken) / 2);
            (taken, free) = ids.IsTaken(middle) ? (middle, free) : (taken, middle);
        }

        return free;
    }
}
