namespace Rookery.Queries.Language;

/// <summary>
/// Queries that were parsed a moment ago: applications send the same few texts, and differ in parameters. Each text has
/// one place; thread-safe.
/// </summary>
public static class ParsedQueries
{
    private const int Places = 64;

    // Longer ones are rare, and hold more than they save.
    private const int LongestText = 512;

    private static readonly Query?[] Parsed = new Query?[Places];

    /// <summary>Parses a query, or gives the one that was parsed of the same text.</summary>
    /// <param name="text">The query.</param>
    /// <exception cref="QueryException">It is none.</exception>
    public static Query Read(string text)
    {
        if (text.Length > LongestText)
        {
            return RqlParser.Parse(text);
        }

        ref Query? place = ref Parsed[(uint)text.GetHashCode(StringComparison.Ordinal) % Places];
        var known = Volatile.Read(ref place);
        if (known is null || !string.Equals(known.Text, text, StringComparison.Ordinal))
        {
            known = RqlParser.Parse(text);
            Volatile.Write(ref place, known);
        }

        return known;
    }
}
