namespace Rookery.Data;

/// <summary>Writes names in RQL.</summary>
internal static class RqlNames
{
    // Words that begin a clause. A collection or field with such a name needs quotes.
    private static readonly HashSet<string> Reserved = new(StringComparer.OrdinalIgnoreCase)
    {
        "from",
        "index",
        "where",
        "order",
        "group",
        "by",
        "select",
        "include",
        "limit",
        "offset",
        "load",
        "filter",
        "update",
        "as",
        "and",
        "or",
        "not",
        "in",
        "between",
        "true",
        "false",
        "null",
        "distinct",
        "declare",
    };

    /// <summary>Returns the name, in quotes if it is not a plain word.</summary>
    public static string Quoted(string name) => IsPlain(name) ? name : Text(name);

    /// <summary>Returns a text in quotes.</summary>
    public static string Text(string name) =>
        $"'{name.Replace("\\", "\\\\", StringComparison.Ordinal).Replace("'", "\\'", StringComparison.Ordinal)}'";

    /// <summary>Returns whether a name needs no quotes.</summary>
    public static bool IsPlain(string name) =>
        name.Length > 0
        && (char.IsLetter(name[0]) || name[0] is '_' or '@')
        && name.All(static letter => char.IsLetterOrDigit(letter) || letter is '_' or '@' or '-')
        && !Reserved.Contains(name);
}
