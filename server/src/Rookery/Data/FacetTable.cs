using System.Text.Json;
using Rookery.Platform;
using Rookery.Terminal;

namespace Rookery.Data;

/// <summary>
/// Formats the answer of a query by <c>facet()</c> or <c>suggest()</c> as a table: one row for each value, because the
/// list of values in one cell would be cut.
/// </summary>
internal static class FacetTable
{
    private static readonly string[] FacetMembers =
    [
        "Name",
        "Values",
        "RemainingHits",
        "RemainingTermsCount",
        "RemainingTerms",
    ];

    private static readonly string[] SuggestionMembers = ["Name", "Suggestions"];
    private static readonly string[] Aggregates = ["Sum", "Min", "Max", "Average"];

    /// <summary>Returns the table; null if the results are neither facets nor suggestions.</summary>
    public static Table? TryOf(IReadOnlyList<JsonElement> results) =>
        results.Count == 0 ? null
        : results.All(static result => HasMembers(result, FacetMembers, "Values")) ? OfFacets(results)
        : results.All(static result => HasMembers(result, SuggestionMembers, "Suggestions")) ? OfSuggestions(results)
        : null;

    // Documents have metadata; facets and suggestions have none.
    private static bool HasMembers(JsonElement result, string[] names, string list) =>
        result.ValueKind == JsonValueKind.Object
        && result.EnumerateObject().Select(static member => member.Name).SequenceEqual(names, StringComparer.Ordinal)
        && result.GetProperty(list).ValueKind == JsonValueKind.Array;

    private static Table OfFacets(IReadOnlyList<JsonElement> facets)
    {
        JsonElement[] all = [.. facets.SelectMany(static facet => facet.GetProperty("Values").EnumerateArray())];
        string[] aggregates = [.. Aggregates.Where(name => all.Any(value => value.TryGetProperty(name, out _)))];
        string[] aggregateHeadings =
            aggregates.Length > 0 ? ["Of", .. aggregates.Select(static name => $">{name}")] : [];
        var table = new Table(["Name", "Range", ">Count", .. aggregateHeadings]);
        foreach (var facet in facets)
        {
            string name = ResultTable.FormatCell(facet, "Name");
            foreach (var value in facet.GetProperty("Values").EnumerateArray())
            {
                List<string> row =
                [
                    name,
                    ResultTable.FormatCell(value, "Range"),
                    ResultTable.FormatCell(value, "Count"),
                ];
                if (aggregates.Length > 0)
                {
                    row.Add(AggregatedField(value));
                    row.AddRange(aggregates.Select(aggregate => ResultTable.FormatCell(value, aggregate)));
                }

                table.Add([.. row]);
            }

            long others = facet.GetProperty("RemainingTermsCount").GetInt64();
            if (others > 0 || facet.GetProperty("Values").GetArrayLength() == 0)
            {
                table.Add([
                    name,
                    others > 0 ? $"({Amount.Of(others, "other value")})" : "(no value)",
                    ResultTable.FormatCell(facet, "RemainingHits"),
                    .. aggregateHeadings.Select(static _ => string.Empty),
                ]);
            }
        }

        return table;
    }

    // A range without an aggregate has null.
    private static string AggregatedField(JsonElement value) =>
        value.TryGetProperty("Name", out var field) && field.ValueKind == JsonValueKind.String
            ? field.GetString()!
            : string.Empty;

    private static Table OfSuggestions(IReadOnlyList<JsonElement> results)
    {
        var table = new Table("Name", "Suggestion");
        foreach (var result in results)
        {
            string name = ResultTable.FormatCell(result, "Name");
            foreach (var suggestion in result.GetProperty("Suggestions").EnumerateArray())
            {
                table.Add(name, suggestion.ToString());
            }

            if (result.GetProperty("Suggestions").GetArrayLength() == 0)
            {
                table.Add(name, "(none)");
            }
        }

        return table;
    }
}
