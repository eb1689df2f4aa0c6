namespace Rookery.Queries.Language;

/// <summary>A query that was parsed, and what follows from its text alone. Thread-safe.</summary>
/// <param name="query">The query.</param>
public sealed class ParsedQuery(Query query)
{
    private Planning.KnownIndexes? _indexes;

    /// <summary>The query.</summary>
    public Query Query => query;

    /// <summary>The automatic indexes that can answer it, as it was last asked; null before.</summary>
    internal Planning.KnownIndexes? Indexes
    {
        get => Volatile.Read(ref _indexes);
        set => Volatile.Write(ref _indexes, value);
    }
}

/// <summary>
/// Queries that were parsed a moment ago: applications send the same few texts, and differ in parameters. Each text has
/// one place; thread-safe.
/// </summary>
public static class ParsedQueries
{
    private const int Places = 64;

    // Longer ones are rare, and hold more than they save.
    private const int LongestText = 512;

    private static readonly ParsedQuery?[] Parsed = new ParsedQuery?[Places];

    /// <summary>Parses a query, or gives the one that was parsed of the same text.</summary>
    /// <param name="text">The query.</param>
    /// <exception cref="QueryException">It is none.</exception>
    public static ParsedQuery Read(string text)
    {
        if (text.Length > LongestText)
        {
            return new ParsedQuery(RqlParser.Parse(text));
        }

        ref ParsedQuery? place = ref Parsed[(uint)text.GetHashCode(StringComparison.Ordinal) % Places];
        var known = Volatile.Read(ref place);
        if (known is null || !string.Equals(known.Query.Text, text, StringComparison.Ordinal))
        {
            known = new ParsedQuery(RqlParser.Parse(text));
            Volatile.Write(ref place, known);
        }

        return known;
    }
}
