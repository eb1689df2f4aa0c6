using System.Buffers;
using System.Text.Json;
using Microsoft.AspNetCore.Http;
using Rookery.Documents.Commands;
using Rookery.Documents.Databases;
using Rookery.Documents.Indexes;
using Rookery.Indexing.Definitions;
using Rookery.Indexing.Mapping;

namespace Rookery.Server.Raven.Indexes;

/// <summary>Defines static indexes, and compares a definition with the stored one.</summary>
internal sealed class DefineIndexes(ServerContext context)
{
    private const int BodyBytes = 4 << 20;
    private const string ExpectedBody =
        "The body must be {\"Indexes\":[{\"Name\":\"Users/ByName\",\"Maps\":[\"…\"]}]}.";

    /// <summary>PUT indexes and admin/indexes with {"Indexes":[…]}: stores all definitions or none.</summary>
    public async Task PutAsync(HttpContext http, Database database)
    {
        var requests = new List<StaticIndexRequest>();
        using (var body = await RequestBody.ReadAsync(http, BodyBytes, context.LargeRequests, BodyUse.Objects))
        {
            using var json = Read(body);
            var indexes = IndexesOf(json.RootElement);
            if (indexes.GetArrayLength() is 0 or > IndexRecord.MaxCount)
            {
                throw RefusedException.BadRequest(ExpectedBody);
            }

            foreach (var index in indexes.EnumerateArray())
            {
                // A new definition with a reduce is tested here, which can take seconds.
                http.RequestAborted.ThrowIfCancellationRequested();
                requests.Add(Parse(index, database));
            }
        }

        var outcome = await IndexCommand.ProposeAsync(
            context,
            http,
            database,
            writer =>
                requests.ForEach(request => writer.Put(request.Name, request.Definition.ToJson(), request.Settings))
        );
        var whyNoPlace = context.Indexes.Quota.ReadPlaces(database, context.Node.Databases.All);
        await JsonResponse.SendAsync(
            http,
            json =>
            {
                json.WriteStartArray("Results"u8);
                foreach (var request in requests)
                {
                    json.WriteStartObject();
                    json.WriteString("Index"u8, request.Name);
                    json.WriteNumber("RaftCommandIndex"u8, outcome.Index);
                    if (whyNoPlace(request.Name) is { } why)
                    {
                        json.WriteString("Trouble"u8, $"The index is not maintained on this node. {why}");
                    }

                    json.WriteEndObject();
                }

                json.WriteEndArray();
            },
            StatusCodes.Status201Created
        );
    }

    /// <summary>Defines one index of a dump.</summary>
    /// <param name="http">The request.</param>
    /// <param name="database">The database.</param>
    /// <param name="definition">The definition.</param>
    /// <param name="key">The key of this definition. The request's own key is for one change.</param>
    /// <exception cref="RefusedException">The definition is not accepted.</exception>
    public async Task DefineAsync(HttpContext http, Database database, JsonElement definition, IdempotencyKey key)
    {
        JsonBody.RefuseRepeatedMembers(definition);
        var request = Parse(definition, database);
        await IndexCommand.ProposeAsync(
            context,
            http,
            database,
            writer => writer.Put(request.Name, request.Definition.ToJson(), request.Settings),
            key
        );
    }

    /// <summary>
    /// POST indexes/has-changed with a definition: whether the definition, or a setting in it, differs from the stored
    /// one. A definition that this server would refuse differs from each stored one, unless it is that of an automatic
    /// index as GET indexes shows it.
    /// </summary>
    public async Task HasChangedAsync(HttpContext http, Database database)
    {
        bool hasChanged;
        using (var body = await RequestBody.ReadAsync(http, BodyBytes, context.LargeRequests, BodyUse.Objects))
        {
            using var json = Read(body);
            hasChanged = HasChanged(json.RootElement, database);
        }

        await JsonResponse.SendAsync(http, json => json.WriteBoolean("Changed"u8, hasChanged));
    }

    private bool HasChanged(JsonElement json, Database database)
    {
        try
        {
            var request = ParseDefinition(json, database);
            return !IsStored(request, database) || ChangesSettings(request, database);
        }
        catch (IndexDefinitionException) when (NameOf(json) is { Length: > 0 })
        {
            return !IsShown(json, database);
        }
        catch (IndexDefinitionException unnamed)
        {
            throw RefusedException.BadRequest(unnamed.Message);
        }
    }

    private bool IsShown(JsonElement sent, Database database)
    {
        string name = NameOf(sent)!;
        var stored = ShownIndex
            .All(context.Indexes, database)
            .Find(index => index.IsAutomatic && index.Name.Equals(name, StringComparison.OrdinalIgnoreCase));
        if (stored is null || !sent.TryGetProperty("Maps"u8, out _))
        {
            return false;
        }

        var bytes = new ArrayBufferWriter<byte>();
        using (var json = new Utf8JsonWriter(bytes))
        {
            IndexDefinitionJson.Write(json, stored);
        }

        using var shown = JsonDocument.Parse(bytes.WrittenMemory);
        return sent.EnumerateObject()
            .All(member =>
                member.NameEquals("Name"u8)
                || (
                    shown.RootElement.TryGetProperty(member.Name, out var value)
                        ? JsonElement.DeepEquals(value, member.Value)
                        : member.Value.ValueKind == JsonValueKind.Null
                )
            );
    }

    private static JsonElement IndexesOf(JsonElement body)
    {
        var indexes = default(JsonElement);
        foreach (
            var member in body.ValueKind == JsonValueKind.Object
                ? body.EnumerateObject()
                : throw RefusedException.BadRequest(ExpectedBody)
        )
        {
            indexes =
                member.NameEquals("Indexes"u8) ? member.Value
                : member.Value.ValueKind == JsonValueKind.Null ? indexes
                : throw JsonBody.NotSupported(member.Name, "the body of PUT indexes", "Indexes");
        }

        return indexes.ValueKind == JsonValueKind.Array ? indexes : throw RefusedException.BadRequest(ExpectedBody);
    }

    private static JsonDocument Read(RequestBody body)
    {
        try
        {
            var definitions = JsonDocument.Parse(body.Span.ToArray(), new JsonDocumentOptions { MaxDepth = 128 });
            JsonBody.RefuseRepeatedMembers(definitions.RootElement);
            return definitions;
        }
        catch (Exception malformed) when (malformed is JsonException or InvalidOperationException)
        {
            throw JsonBody.Malformed("The body", malformed);
        }
    }

    private static bool IsStored(StaticIndexRequest request, Database database)
    {
        using var reader = database.OpenReader();
        return reader.FindIndex(request.Name) is { } record
            && record.Definition.Span.SequenceEqual(request.Definition.ToJson());
    }

    private static bool ChangesSettings(StaticIndexRequest request, Database database)
    {
        using var reader = database.OpenReader();
        return reader.FindIndex(request.Name) is { } record
            && request.Settings.ApplyTo(record.Settings) != record.Settings;
    }

    private StaticIndexRequest Parse(JsonElement json, Database database)
    {
        try
        {
            return ParseDefinition(json, database);
        }
        catch (IndexDefinitionException refused)
        {
            string message = NameOf(json) is { } name
                ? $"The index '{name}' was not defined: {refused.Message}"
                : refused.Message;
            throw refused.IsNotSupported
                ? RefusedException.NotSupported(message)
                : new RefusedException(StatusCodes.Status400BadRequest, RavenType.IndexCompilation, message);
        }
    }

    /// <summary>Parses a definition, as the indexes know it.</summary>
    /// <exception cref="IndexDefinitionException">The definition is invalid or not supported.</exception>
    private StaticIndexRequest ParseDefinition(JsonElement json, Database database)
    {
        try
        {
            return StaticIndexRequest.Parse(
                json,
                request =>
                    IsStored(request, database) && context.Indexes.WhyNotMaintained(database, request.Name) is null
            );
        }
        catch (InvalidOperationException)
        {
            throw RefusedException.BadRequest("A string in the definition is not UTF-8.");
        }
    }

    /// <summary>Returns the name in a definition; null if it has none that is valid UTF-8.</summary>
    private static string? NameOf(JsonElement definition)
    {
        try
        {
            return
                definition.ValueKind == JsonValueKind.Object
                && definition.TryGetProperty("Name", out var name)
                && name.ValueKind == JsonValueKind.String
                ? name.GetString()
                : null;
        }
        catch (InvalidOperationException)
        {
            return null;
        }
    }
}
