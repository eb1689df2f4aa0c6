namespace Rookery.Cluster;

/// <summary>Names in a sentence.</summary>
internal static class NameList
{
    /// <summary>"a", "a and b" or "a, b and c", in order.</summary>
    public static string Of(IEnumerable<string> names)
    {
        string[] sorted = [.. names.Order(StringComparer.Ordinal)];
        return sorted.Length < 2 ? string.Concat(sorted) : $"{string.Join(", ", sorted[..^1])} and {sorted[^1]}";
    }
}
