using System.Text.Json;
using Rookery.Queries.Language;

namespace Rookery.Queries.Summaries;

/// <summary>Reads stored facet setups. Converts them to RQL, which the parser of queries then reads.</summary>
public static class FacetSetup
{
    private static readonly (string Member, string Function)[] Functions =
    [
        ("Sum", "sum"),
        ("Min", "min"),
        ("Max", "max"),
        ("Average", "avg"),
    ];

    /// <summary>
    /// Returns the facets of a stored setup in the form of RavenDB's clients: <c>{"Facets":[…],"RangeFacets":[…]}</c>.
    /// </summary>
    /// <param name="setup">The document.</param>
    /// <param name="position">The position of its name in the query's text.</param>
    /// <exception cref="QueryException">The setup is invalid or has no facet.</exception>
    public static IReadOnlyList<SelectedField> Read(JsonElement setup, int position)
    {
        string[] facets = [.. Write(setup, position)];
        if (facets.Length == 0)
        {
            throw new QueryException(QueryFault.Invalid, "The stored facet setup has no facet.", position);
        }

        try
        {
            var items = (
                (FieldSelection)RqlParser.Parse("from @all_docs select " + string.Join(',', facets)).Select!
            ).Items;
            return [.. items.Select(item => item with { Position = position })];
        }
        catch (QueryException wrong)
        {
            throw new QueryException(wrong.Fault, "The stored facet setup is invalid: " + wrong.Message, position);
        }
    }

    /// <summary>Writes each facet as <c>facet(…)</c>.</summary>
    private static IEnumerable<string> Write(JsonElement setup, int position)
    {
        foreach (var facet in Elements(setup, "Facets"))
        {
            var arguments = new List<string>();
            if (Text(facet, "FieldName") is { } field)
            {
                arguments.Add(Quote(field));
            }

            AddAggregates(facet, arguments);
            if (facet.TryGetProperty("Options", out var options) && options.ValueKind == JsonValueKind.Object)
            {
                arguments.Add(Quote(options.GetRawText()));
            }

            yield return Call(facet, arguments);
        }

        foreach (var facet in Elements(setup, "RangeFacets"))
        {
            var arguments = Elements(facet, "Ranges")
                .Select(range =>
                    range.ValueKind == JsonValueKind.String ? range.GetString()! : throw Wrong("Ranges", position)
                )
                .ToList();
            AddAggregates(facet, arguments);
            yield return Call(facet, arguments);
        }
    }

    private static string Call(JsonElement facet, List<string> arguments) =>
        $"facet({string.Join(',', arguments)})"
        + (Text(facet, "DisplayFieldName") is { } name ? " as " + Quote(name) : "");

    /// <summary>
    /// Adds the aggregates: <c>{"Sum":["price"]}</c>, <c>{"Sum":[{"Name":"price","DisplayName":"total"}]}</c>, or from
    /// older clients <c>{"Sum":"price"}</c>.
    /// </summary>
    private static void AddAggregates(JsonElement facet, List<string> arguments)
    {
        if (!facet.TryGetProperty("Aggregations", out var all) || all.ValueKind != JsonValueKind.Object)
        {
            return;
        }

        foreach (var (member, function) in Functions)
        {
            if (!all.TryGetProperty(member, out var fields))
            {
                continue;
            }

            foreach (
                var field in fields.ValueKind == JsonValueKind.Array ? fields.EnumerateArray().ToArray() : [fields]
            )
            {
                string? name = field.ValueKind == JsonValueKind.String ? field.GetString() : Text(field, "Name");
                if (name is not null)
                {
                    arguments.Add(
                        $"{function}({Quote(name)})"
                            + (Text(field, "DisplayName") is { } alias ? " as " + Quote(alias) : "")
                    );
                }
            }
        }
    }

    private static JsonElement[] Elements(JsonElement value, string member) =>
        value.ValueKind == JsonValueKind.Object
        && value.TryGetProperty(member, out var list)
        && list.ValueKind == JsonValueKind.Array
            ? [.. list.EnumerateArray()]
            : [];

    private static string? Text(JsonElement value, string member) =>
        value.ValueKind == JsonValueKind.Object
        && value.TryGetProperty(member, out var text)
        && text.ValueKind == JsonValueKind.String
            ? text.GetString()
            : null;

    private static string Quote(string text) =>
        $"'{text.Replace("\\", "\\\\", StringComparison.Ordinal).Replace("'", "\\'", StringComparison.Ordinal)}'";

    private static QueryException Wrong(string member, int position) =>
        new(
            QueryFault.Invalid,
            $"'{member}' of the stored facet setup must contain texts like 'price < 100'.",
            position
        );
}
