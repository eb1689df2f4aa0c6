using Rookery.Data;
using Rookery.Queries.Language;

namespace Rookery.Shell;

/// <summary>Names that completion can offer.</summary>
internal interface IKnownNames
{
    /// <summary>The databases.</summary>
    IReadOnlyList<string> Databases { get; }

    /// <summary>The collections of the database.</summary>
    IReadOnlyList<string> Collections { get; }

    /// <summary>The indexes of the database.</summary>
    IReadOnlyList<string> Indexes { get; }

    /// <summary>Returns the fields that were seen in a source: what stands after <c>from</c> in RQL.</summary>
    IReadOnlyList<string> Fields(string source);
}

/// <summary>Completes RQL and the shell's own commands.</summary>
internal static class RqlCompletion
{
    private static readonly Completion Nothing = new(0, []);

    private static readonly string[] Clauses =
    [
        "where",
        "order by",
        "group by",
        "select",
        "include",
        "limit",
        "load",
        "filter",
        "update",
        "as",
    ];

    private static readonly string[] Operators =
    [
        "and",
        "or",
        "not",
        "in",
        "between",
        "all in",
        "true",
        "false",
        "null",
        "desc",
        "asc",
        "distinct",
        "offset",
    ];

    private static readonly string[] Functions =
    [
        "id()",
        "startsWith(",
        "endsWith(",
        "search(",
        "exists(",
        "exact(",
        "regex(",
        "lucene(",
        "boost(",
        "fuzzy(",
        "proximity(",
        "intersect(",
        "moreLikeThis(",
        "key()",
        "count()",
        "sum(",
        "min(",
        "max(",
        "avg(",
        "score()",
        "facet(",
        "suggest(",
        "random()",
        "timings()",
    ];

    /// <summary>Returns what can stand at the cursor; nothing inside a text, a comment or a script.</summary>
    public static Completion Of(string text, int cursor, IKnownNames known)
    {
        int start = 0;
        while (RqlStatement.FindEnd(text, start) is >= 0 and var end && end < cursor)
        {
            start = end + 1;
        }

        start = RqlStatement.SkipBlanks(text, start);
        if (start < cursor && text[start] == '\\')
        {
            return OfShellCommand(text, start, cursor, known);
        }

        var before = RqlWords.Read(text, Math.Min(start, cursor), cursor);
        return before.IsInside
            ? Nothing
            : new Completion(before.From, [.. Matching(OptionsAfter(before.Words, known), before.Typed)]);
    }

    private static Completion OfShellCommand(string text, int start, int cursor, IKnownNames known)
    {
        string typed = text[start..cursor];
        int space = typed.LastIndexOf(' ');
        if (space < 0)
        {
            return new Completion(start, [.. Matching(ShellHelp.Commands, typed)]);
        }

        int from = start + space + 1;
        IEnumerable<string> options = typed[..typed.IndexOf(' ', StringComparison.Ordinal)] switch
        {
            "\\c" => known.Databases,
            "\\d" => [.. known.Collections, .. known.Indexes],
            _ => [],
        };
        return new Completion(from, [.. Matching(options, text[from..cursor])]);
    }

    private static IEnumerable<string> OptionsAfter(IReadOnlyList<string> words, IKnownNames known)
    {
        int from = words.ToList().FindIndex(static word => Is(word, "from"));
        if (from < 0)
        {
            return ["from", "delete from", "declare function"];
        }

        bool isIndex = from + 1 < words.Count && Is(words[from + 1], "index");
        if (isIndex && words.Count == from + 2)
        {
            return known.Indexes.Select(RqlNames.Text);
        }

        if (words.Count == from + 1)
        {
            return [.. known.Collections.Select(RqlNames.Quoted), "@all_docs", "index"];
        }

        string source = isIndex ? $"index {words[from + 2]}" : words[from + 1];
        int afterSource = from + (isIndex ? 3 : 2);
        if (words.Count == afterSource)
        {
            return Clauses;
        }

        var fields = known.Fields(source);
        return
        [
            .. fields,
            .. AliasAt(words, afterSource) is { } alias ? fields.Select(field => $"{alias}.{field}") : [],
            .. Operators,
            .. Functions,
            .. Clauses,
        ];
    }

    /// <summary>Returns the alias of the source, as in <c>from Orders as o</c>; null if there is none.</summary>
    private static string? AliasAt(IReadOnlyList<string> words, int afterSource)
    {
        int place = Is(words[afterSource], "as") ? afterSource + 1 : afterSource;
        return place < words.Count && RqlNames.IsPlain(words[place]) ? words[place] : null;
    }

    private static IEnumerable<string> Matching(IEnumerable<string> options, string typed)
    {
        string unquoted = typed.TrimStart('\'', '"');
        return options
            .Where(option =>
                option.StartsWith(typed, StringComparison.OrdinalIgnoreCase)
                || (
                    typed.Length > 0
                    && typed[0] is '\'' or '"'
                    && option.TrimStart('\'').StartsWith(unquoted, StringComparison.OrdinalIgnoreCase)
                )
            )
            .Distinct(StringComparer.Ordinal);
    }

    private static bool Is(string word, string keyword) =>
        string.Equals(word, keyword, StringComparison.OrdinalIgnoreCase);
}
