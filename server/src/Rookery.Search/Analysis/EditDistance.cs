namespace Rookery.Search.Analysis;

/// <summary>
/// The Levenshtein distance: the minimum number of characters to insert, delete or replace to turn one text into
/// another.
/// </summary>
public static class EditDistance
{
    /// <summary>Returns whether the distance of two texts is within a bound, see <see cref="Measure"/>.</summary>
    public static bool IsWithin(ReadOnlySpan<int> left, ReadOnlySpan<int> right, int bound) =>
        Measure(left, right, bound) <= bound;

    /// <summary>
    /// Returns the distance of two texts if it is within a bound, otherwise the bound plus 1. Takes time proportional
    /// to the length of one text multiplied by the bound.
    /// </summary>
    /// <param name="left">One text, up to 1,024 characters.</param>
    /// <param name="right">The other text, of any length.</param>
    /// <param name="bound">The maximum distance, from 0.</param>
    public static int Measure(ReadOnlySpan<int> left, ReadOnlySpan<int> right, int bound)
    {
        // One row of the matrix, by characters of left. Only cells within the bound of the diagonal matter; other cells
        // hold bound + 1.
        int tooMuch = bound + 1;
        if (Math.Abs(left.Length - right.Length) > bound)
        {
            return tooMuch;
        }

        Span<int> row = stackalloc int[left.Length + 1];
        for (int column = 0; column <= left.Length; column++)
        {
            row[column] = Math.Min(column, tooMuch);
        }

        for (int line = 1; line <= right.Length; line++)
        {
            int first = Math.Max(1, line - bound);
            int last = Math.Min(left.Length, line + bound);
            int diagonal = row[first - 1];
            row[first - 1] = first is 1 ? Math.Min(line, tooMuch) : tooMuch;
            int min = row[first - 1];
            for (int column = first; column <= last; column++)
            {
                int above = row[column];
                int change = diagonal + (left[column - 1] == right[line - 1] ? 0 : 1);
                row[column] = Math.Min(Math.Min(change, Math.Min(above, row[column - 1]) + 1), tooMuch);
                min = Math.Min(min, row[column]);
                diagonal = above;
            }

            if (min == tooMuch)
            {
                return tooMuch;
            }
        }

        return row[left.Length];
    }
}
