using System.Globalization;
using System.Text;
using System.Text.Json;
using Rookery.Terminal;

namespace Rookery.Data;

/// <summary>Formats query results as a table: the id and the top-level members of each.</summary>
internal static class ResultTable
{
    private const int MaxColumns = 12;
    private const int WidestCell = 60;
    private const int DigitsOfDouble = 15;
    private const string Metadata = "@metadata";

    /// <summary>
    /// Returns the table. Columns are in the order in which the members first occur. Facets and suggestions have a row
    /// for each value.
    /// </summary>
    public static Table Of(IReadOnlyList<JsonElement> results) => FacetTable.TryOf(results) ?? OfObjects(results);

    private static Table OfObjects(IReadOnlyList<JsonElement> results)
    {
        string[] names =
        [
            .. results
                .Where(static result => result.ValueKind == JsonValueKind.Object)
                .SelectMany(static result => result.EnumerateObject().Select(static member => member.Name))
                .Where(static name => name is not Metadata)
                .Distinct(StringComparer.Ordinal)
                .Take(MaxColumns),
        ];
        bool hasIds = results.Any(static result => IdOf(result) is not null);
        string[] idColumn = hasIds ? ["ID"] : [];
        var table = new Table([
            .. idColumn,
            // '>' right-aligns the column.
            .. names.Select(name => results.All(result => IsNumberOrAbsent(result, name)) ? $">{name}" : name),
        ]);
        foreach (var result in results)
        {
            string[] idCell = hasIds ? [IdOf(result) ?? string.Empty] : [];
            table.Add([.. idCell, .. names.Select(name => FormatCell(result, name))]);
        }

        return table;
    }

    private static string? IdOf(JsonElement result) =>
        result.ValueKind == JsonValueKind.Object
        && result.TryGetProperty(Metadata, out var metadata)
        && metadata.ValueKind == JsonValueKind.Object
        && metadata.TryGetProperty("@id", out var id)
            ? id.GetString()
            : null;

    private static bool IsNumberOrAbsent(JsonElement result, string name) =>
        result.ValueKind == JsonValueKind.Object
        && (
            !result.TryGetProperty(name, out var value) || value.ValueKind is JsonValueKind.Number or JsonValueKind.Null
        );

    /// <summary>
    /// Formats a number for people: omits digits after the fifteenth, which are rounding noise of binary fractions.
    /// </summary>
    internal static string FormatNumber(string written) =>
        written.Contains('.', StringComparison.Ordinal)
        && written.Count(char.IsAsciiDigit) > DigitsOfDouble
        && double.TryParse(written, NumberStyles.Float, CultureInfo.InvariantCulture, out double value)
            ? value.ToString("G15", CultureInfo.InvariantCulture)
            : written;

    /// <summary>Formats a member of a result as a cell; empty if the result does not have it.</summary>
    internal static string FormatCell(JsonElement result, string name)
    {
        if (result.ValueKind != JsonValueKind.Object || !result.TryGetProperty(name, out var value))
        {
            return string.Empty;
        }

        string text = value.ValueKind switch
        {
            JsonValueKind.String => value.GetString()!,
            JsonValueKind.Number => FormatNumber(value.GetRawText()),
            JsonValueKind.Object or JsonValueKind.Array => Encoding.UTF8.GetString(
                Output.Bytes(value, Output.Compact).AsSpan().TrimEnd((byte)'\n')
            ),
            _ => value.GetRawText(),
        };
        return Table.Cut(text, WidestCell);
    }
}
