using System.Text.RegularExpressions;

namespace Rookery.Indexing.Definitions;

/// <summary>Says which members of its rows the text of a reduce may read.</summary>
internal static partial class ReadMembers
{
    // The patterns nest no repetition, so that they take time in proportion to the text.
    private const int TimeoutMilliseconds = 10_000;

    /// <summary>
    /// The names that stand behind a dot or in quotes in the text, which are all that it can read; null where it reads
    /// members by a name that it computes, or all of them.
    /// </summary>
    public static IReadOnlySet<string>? Of(string reduce) =>
        Computed().IsMatch(reduce)
            ? null
            : Named()
                .Matches(reduce)
                .Select(static match => match.Groups["name"].Value)
                .ToHashSet(StringComparer.Ordinal);

    [GeneratedRegex(@"\.\.\.|\[(?!\s*(?:\d|\]|'|""))", RegexOptions.CultureInvariant, TimeoutMilliseconds)]
    private static partial Regex Computed();

    [GeneratedRegex(
        @"\.\s*@?(?<name>[\p{L}_$][\p{L}\p{Nd}_$]*)|'(?<name>[^']*)'|""(?<name>[^""]*)""",
        RegexOptions.CultureInvariant,
        TimeoutMilliseconds
    )]
    private static partial Regex Named();
}
