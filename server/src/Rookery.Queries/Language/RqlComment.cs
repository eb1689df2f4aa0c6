namespace Rookery.Queries.Language;

/// <summary>
/// Skips comments in a query and in its scripts: <c>//</c> to the end of the line, and <c>/* … */</c>.
/// </summary>
internal static class RqlComment
{
    /// <summary>
    /// Finds the end of the comment that begins at <paramref name="position"/>. Returns false if none begins there.
    /// </summary>
    /// <exception cref="QueryException">The comment does not end.</exception>
    public static bool TrySkip(string text, int position, out int end)
    {
        var remaining = text.AsSpan(position);
        if (remaining.StartsWith("//", StringComparison.Ordinal))
        {
            int length = remaining.IndexOf('\n');
            end = length < 0 ? text.Length : position + length + 1;
            return true;
        }

        end = position;
        if (!remaining.StartsWith("/*", StringComparison.Ordinal))
        {
            return false;
        }

        int close = text.IndexOf("*/", position + 2, StringComparison.Ordinal);
        end =
            close >= 0
                ? close + 2
                : throw new QueryException(QueryFault.Invalid, "This comment does not end: '*/' is missing.", position);
        return true;
    }
}
