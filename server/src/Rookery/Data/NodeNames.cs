using System.Text.Json;
using Rookery.Access;

namespace Rookery.Data;

/// <summary>Reads names from a node, for completion.</summary>
/// <param name="client">The node.</param>
/// <param name="cancellation">Ends the requests.</param>
internal sealed class NodeNames(NodeClient client, CancellationToken cancellation)
{
    private const int MaxNames = 1000;
    private const int MaxDocuments = 100;

    /// <summary>The number of documents whose fields are read.</summary>
    public const int SampledDocuments = 20;

    private const int MaxFields = 500;

    /// <summary>Returns the names of the databases that the user may access.</summary>
    public async Task<IReadOnlyList<string>> DatabasesAsync()
    {
        var answer = await GetAsync($"/databases?namesOnly=true&pageSize={MaxNames}");
        return Texts(answer.GetProperty("Databases"));
    }

    /// <summary>Returns the names of the collections.</summary>
    public async Task<IReadOnlyList<string>> CollectionsAsync(string database)
    {
        var answer = await GetAsync($"{NodeClient.PathOf(database)}/collections/stats");
        return
        [
            .. answer
                .GetProperty("Collections")
                .EnumerateObject()
                .Take(MaxNames)
                .Select(static collection => collection.Name),
        ];
    }

    /// <summary>Returns the names of the indexes.</summary>
    public async Task<IReadOnlyList<string>> IndexesAsync(string database)
    {
        var answer = await GetAsync($"{NodeClient.PathOf(database)}/indexes?namesOnly=true&pageSize={MaxNames}");
        return Texts(answer.GetProperty("Results"));
    }

    /// <summary>Returns the first document ids that begin with a text.</summary>
    public async Task<IReadOnlyList<string>> DocumentsAsync(string database, string beginning)
    {
        var answer = await GetAsync(
            $"{NodeClient.PathOf(database)}/docs?startsWith={Uri.EscapeDataString(beginning)}"
                + $"&pageSize={MaxDocuments}&metadataOnly=true"
        );
        return
        [
            .. answer
                .GetProperty("Results")
                .EnumerateArray()
                .Select(static document => document.GetProperty("@metadata").GetProperty("@id").GetString()!),
        ];
    }

    /// <summary>
    /// Returns the paths of fields in some documents or entries of a source, with the types of their values.
    /// </summary>
    /// <param name="database">The database.</param>
    /// <param name="source">What stands after <c>from</c> in RQL.</param>
    public async Task<IReadOnlyList<(string Path, string Type)>> FieldsAsync(string database, string source)
    {
        var sample = new AskedQuery(NodeClient.PathOf(database), $"from {source}", [])
        {
            PageSize = SampledDocuments,
            IsLocal = true,
        };
        using var body = sample.Body();
        var answer = await client.GetJsonAsync(
            HttpMethod.Post,
            $"{sample.Path}/queries?consistency=local",
            body,
            cancellation: cancellation
        );
        var fields = new List<(string Path, string Type)>();
        foreach (var result in answer.GetProperty("Results").EnumerateArray())
        {
            AddFields(result, string.Empty, 0, fields);
        }

        return
        [
            .. fields
                .GroupBy(static field => field.Path, StringComparer.Ordinal)
                .Take(MaxFields)
                .Select(static group =>
                    (
                        group.Key,
                        string.Join(" or ", group.Select(static field => field.Type).Distinct(StringComparer.Ordinal))
                    )
                ),
        ];
    }

    private Task<JsonElement> GetAsync(string path) =>
        client.GetJsonAsync(HttpMethod.Get, path, cancellation: cancellation);

    private static string[] Texts(JsonElement list) =>
        [.. list.EnumerateArray().Select(static name => name.GetString()!)];

    private static void AddFields(JsonElement value, string path, int depth, List<(string Path, string Type)> fields)
    {
        const int MaxDepth = 4;
        if (value.ValueKind == JsonValueKind.Array)
        {
            foreach (var element in value.EnumerateArray().Take(SampledDocuments))
            {
                if (element.ValueKind == JsonValueKind.Object && depth < MaxDepth)
                {
                    AddFields(element, $"{path}[]", depth, fields);
                }
            }

            return;
        }

        if (value.ValueKind != JsonValueKind.Object || depth >= MaxDepth)
        {
            return;
        }

        foreach (var member in value.EnumerateObject().Where(static member => member.Name is not "@metadata"))
        {
            string name = RqlNames.Quoted(member.Name);
            string inner = path.Length == 0 ? name : $"{path}.{name}";
            fields.Add((inner, TypeOf(member.Value)));
            AddFields(member.Value, inner, depth + 1, fields);
        }
    }

    private static string TypeOf(JsonElement value) =>
        value.ValueKind switch
        {
            JsonValueKind.String => "text",
            JsonValueKind.Number => "number",
            JsonValueKind.True or JsonValueKind.False => "true or false",
            JsonValueKind.Null => "null",
            JsonValueKind.Array => "list",
            _ => "object",
        };
}
