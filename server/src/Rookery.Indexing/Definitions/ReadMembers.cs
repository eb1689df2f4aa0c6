using System.Text.RegularExpressions;

namespace Rookery.Indexing.Definitions;

/// <summary>Determines which members of rows a reduce may read.</summary>
internal static partial class ReadMembers
{
    // The patterns have no nested repetition, so matching is linear in the text.
    private const int TimeoutMilliseconds = 10_000;

    /// <summary>
    /// Returns all names in the text that follow a dot or are quoted, because it can read no other members. Returns
    /// null if the text reads members by computed names, or all members.
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
