namespace Rookery.Queries.Language;

/// <summary>
/// Caches parsed queries, because applications send the same few texts with different parameters. The hash of a text
/// selects its slot. Thread-safe.
/// </summary>
public static class ParsedQueries
{
    private const int SlotCount = 64;

    // Longer texts are not cached. They are rare and would take too much memory.
    private const int MaxCachedLength = 512;

    private static readonly Query?[] Slots = new Query?[SlotCount];

    /// <summary>Parses a query, or returns the cached one of the same text.</summary>
    /// <param name="text">The text of the query.</param>
    /// <exception cref="QueryException">The text is not a query.</exception>
    public static Query Read(string text)
    {
        if (text.Length > MaxCachedLength)
        {
            return RqlParser.Parse(text);
        }

        ref Query? slot = ref Slots[(uint)text.GetHashCode(StringComparison.Ordinal) % SlotCount];
        var known = Volatile.Read(ref slot);
        if (known is null || !string.Equals(known.Text, text, StringComparison.Ordinal))
        {
            known = RqlParser.Parse(text);
            Volatile.Write(ref slot, known);
        }

        return known;
    }
}
