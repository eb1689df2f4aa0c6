using System.Text.Json;
using Rookery.Platform;
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

    // Clients may store the id in the document, too.
    private static readonly string[] SetupMembers = ["Facets", "RangeFacets", "Id", "@metadata"];
    private static readonly string[] FacetMembers = ["FieldName", "DisplayFieldName", "Options", "Aggregations"];
    private static readonly string[] RangeMembers = ["Ranges", "DisplayFieldName", "Options", "Aggregations"];
    private static readonly string[] AggregationMembers =
    [
        .. Functions.Select(static aggregation => aggregation.Member),
    ];
    private static readonly string[] AggregateMembers = ["Name", "DisplayName"];

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

        RequireKnown(setup, container: "", SetupMembers, position);

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
        foreach (var facet in Elements(setup, "Facets", JsonValueKind.Object, position))
        {
            RequireKnown(facet, "'Facets' in ", FacetMembers, position);
            var arguments = new List<string>();
            if (Text(facet, "FieldName", position) is { } field)
            {
                arguments.Add(Quote(field));
            }

            yield return Call(facet, arguments, position);
        }

        foreach (var facet in Elements(setup, "RangeFacets", JsonValueKind.Object, position))
        {
            RequireKnown(facet, "'RangeFacets' in ", RangeMembers, position);
            var ranges = Elements(facet, "Ranges", JsonValueKind.String, position);
            yield return Call(facet, [.. ranges.Select(static range => range.GetString()!)], position);
        }
    }

    private static string Call(JsonElement facet, List<string> arguments, int position)
    {
        AddAggregates(facet, arguments, position);
        if (Find(facet, "Options") is { } options)
        {
            Require(options, JsonValueKind.Object, "Options", position);
            arguments.Add(Quote(options.GetRawText()));
        }

        return $"facet({string.Join(',', arguments)})"
            + (Text(facet, "DisplayFieldName", position) is { } name ? " as " + Quote(name) : "");
    }

    /// <summary>
    /// Adds the aggregates: <c>{"Sum":["price"]}</c>, <c>{"Sum":[{"Name":"price","DisplayName":"total"}]}</c>, or from
    /// older clients <c>{"Sum":"price"}</c>.
    /// </summary>
    private static void AddAggregates(JsonElement facet, List<string> arguments, int position)
    {
        if (Find(facet, "Aggregations") is not { } all)
        {
            return;
        }

        Require(all, JsonValueKind.Object, "Aggregations", position);
        RequireKnown(all, "'Aggregations' in ", AggregationMembers, position);
        foreach (var (member, function) in Functions)
        {
            JsonElement[] fields = Find(all, member) switch
            {
                { ValueKind: JsonValueKind.Array } list => [.. list.EnumerateArray()],
                { } field => [field],
                null => [],
            };
            arguments.AddRange(fields.Select(field => Aggregate(function, field, member, position)));
        }
    }

    private static string Aggregate(string function, JsonElement field, string member, int position)
    {
        if (field.ValueKind == JsonValueKind.String)
        {
            return $"{function}({Quote(field.GetString()!)})";
        }

        Require(field, JsonValueKind.Object, member, position);
        RequireKnown(field, $"'{member}' in ", AggregateMembers, position);
        string name = Text(field, "Name", position) ?? throw Wrong(member, position);
        return $"{function}({Quote(name)})"
            + (Text(field, "DisplayName", position) is { } alias ? " as " + Quote(alias) : "");
    }

    private static JsonElement[] Elements(JsonElement value, string member, JsonValueKind kind, int position)
    {
        if (Find(value, member) is not { } list)
        {
            return [];
        }

        Require(list, JsonValueKind.Array, member, position);
        JsonElement[] elements = [.. list.EnumerateArray()];
        Array.ForEach(elements, element => Require(element, kind, member, position));
        return elements;
    }

    private static string? Text(JsonElement value, string member, int position)
    {
        if (Find(value, member) is not { } text)
        {
            return null;
        }

        Require(text, JsonValueKind.String, member, position);
        return text.GetString();
    }

    /// <summary>Returns a member of an object; null if it is missing or null.</summary>
    private static JsonElement? Find(JsonElement value, string member) =>
        value.TryGetProperty(member, out var found) && found.ValueKind != JsonValueKind.Null ? found : null;

    private static void Require(JsonElement value, JsonValueKind kind, string member, int position)
    {
        if (value.ValueKind != kind)
        {
            throw Wrong(member, position);
        }
    }

    private static void RequireKnown(JsonElement value, string container, string[] known, int position)
    {
        foreach (var member in value.EnumerateObject())
        {
            if (member.Value.ValueKind != JsonValueKind.Null && !known.Contains(member.Name, StringComparer.Ordinal))
            {
                throw new QueryException(
                    QueryFault.NotSupported,
                    $"The member '{member.Name}' of {container}the stored facet setup is not supported by this version."
                        + (Spelling.Suggest(member.Name, known) is { Length: > 0 } question ? question : " Remove it."),
                    position
                );
            }
        }
    }

    private static string Quote(string text) =>
        $"'{text.Replace("\\", "\\\\", StringComparison.Ordinal).Replace("'", "\\'", StringComparison.Ordinal)}'";

    private static QueryException Wrong(string member, int position) =>
        new(
            QueryFault.Invalid,
            $"'{member}' of the stored facet setup does not have the form that RavenDB's clients store: "
                + """{"Facets":[{"FieldName":"brand"}],"RangeFacets":[{"Ranges":["price < 100"]}]}.""",
            position
        );
}
