using System.Text.Json;

namespace Rookery.Indexing.Definitions;

/// <summary>Compares two results of a reduce in a <see cref="ReduceTrial"/>.</summary>
internal static class TrialComparison
{
    // Sums of doubles differ in their last digits by the order of addition.
    private const double Tolerance = 1e-9;

    /// <summary>Returns a member of a row; null if it is missing or null.</summary>
    public static JsonElement? Member(JsonElement row, string name) =>
        row.TryGetProperty(name, out var value) && value.ValueKind != JsonValueKind.Null ? value : null;

    /// <summary>Returns whether two members are equal, except for the last digits of numbers.</summary>
    public static bool AreSame(JsonElement? one, JsonElement? other) =>
        (one, other) switch
        {
            (null, null) => true,
            ({ } first, { } second) => AreSame(first, second),
            _ => false,
        };

    private static bool AreSame(JsonElement one, JsonElement other)
    {
        if (one.ValueKind != other.ValueKind)
        {
            return false;
        }

        switch (one.ValueKind)
        {
            case JsonValueKind.Number:
                var (first, second) = (one.GetDouble(), other.GetDouble());
                return Math.Abs(first - second) <= Tolerance * Math.Max(Math.Abs(first), Math.Abs(second));
            case JsonValueKind.Array:
                return one.GetArrayLength() == other.GetArrayLength()
                    && one.EnumerateArray().Zip(other.EnumerateArray()).All(static x => AreSame(x.First, x.Second));
            case JsonValueKind.Object:
                var members = one.EnumerateObject().ToList();
                return members.Count == other.EnumerateObject().Count()
                    && members.TrueForAll(member => AreSame(Member(one, member.Name), Member(other, member.Name)));
            default:
                // Compared as raw text: it may contain half a surrogate pair, which .NET cannot read as a string.
                return string.Equals(one.GetRawText(), other.GetRawText(), StringComparison.Ordinal);
        }
    }
}
