namespace Rookery.Cluster;

/// <summary>Joins names for a sentence.</summary>
internal static class NameList
{
    /// <summary>Returns "a", "a and b" or "a, b and c", sorted.</summary>
    public static string Of(IEnumerable<string> names)
    {
        string[] sorted = [.. names.Order(StringComparer.Ordinal)];
        return sorted.Length < 2 ? string.Concat(sorted) : $"{string.Join(", ", sorted[..^1])} and {sorted[^1]}";
    }
}
