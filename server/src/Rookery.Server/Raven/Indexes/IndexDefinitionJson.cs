using System.Text.Json;
using Rookery.Indexing.Automatic;
using Rookery.Indexing.Definitions;

namespace Rookery.Server.Raven.Indexes;

/// <summary>Writes index definitions in RavenDB's JSON form.</summary>
internal static class IndexDefinitionJson
{
    /// <summary>Writes a definition as an object.</summary>
    public static void Write(Utf8JsonWriter json, ShownIndex index)
    {
        json.WriteStartObject();
        json.WriteString("Name"u8, index.Name);
        json.WriteString("Type"u8, index.Type);
        json.WriteString("SourceType"u8, index.SourceType);
        json.WriteString("State"u8, index.State);
        json.WriteString("LockMode"u8, index.Record.Settings.LockMode.ToString());
        json.WriteString("Priority"u8, index.Record.Settings.Priority.ToString());
        if (index.Automatic is { } automatic)
        {
            WriteAutomatic(json, automatic);
        }
        else if (index.Grouped is { } grouped)
        {
            WriteGrouped(json, grouped);
        }
        else if (index.ReadDefined() is { } defined)
        {
            WriteDefined(json, defined);
        }

        json.WriteEndObject();
    }

    private static void WriteAutomatic(Utf8JsonWriter json, AutoIndexDefinition automatic)
    {
        string collection = automatic.Collection ?? AutoIndexDefinition.AllDocuments;
        WriteMapsAndReduce(
            json,
            [$"{collection}:[{string.Join(';', automatic.Fields.Select(static field => $"<Name:{field.Name}>"))}]"],
            reduce: null
        );
        json.WriteStartObject("Fields"u8);
        foreach (var field in automatic.Fields)
        {
            WriteField(
                json,
                field.ToString(),
                field.Uses.HasFlag(AutoIndexFieldUses.Search) ? "Search"
                    : field.Uses.HasFlag(AutoIndexFieldUses.Exact) ? "Exact"
                    : "Default",
                isStored: false,
                analyzer: null,
                hasSuggestions: false
            );
        }

        json.WriteEndObject();
        json.WriteStartObject("Configuration"u8);
        json.WriteEndObject();
    }

    private static void WriteGrouped(Utf8JsonWriter json, AutoReduceDefinition grouped)
    {
        string collection = grouped.Collection ?? AutoIndexDefinition.AllDocuments;
        var aggregates = grouped.Aggregates.Select(static aggregate =>
            $"<Name:{aggregate.Name},Operation:{aggregate.Kind}>"
        );
        WriteMapsAndReduce(
            json,
            [$"{collection}:[{string.Join(';', aggregates)}]"],
            $"{collection}:[{string.Join(';', grouped.Keys.Select(static key => $"<Name:{key.Name}>"))}]"
        );
        json.WriteStartObject("Fields"u8);
        foreach (
            string name in (IEnumerable<string>)
                [
                    .. grouped.Keys.Select(static key => key.Name),
                    .. grouped.Aggregates.Select(static aggregate => aggregate.Name),
                ]
        )
        {
            WriteField(json, name, "Default", isStored: true, analyzer: null, hasSuggestions: false);
        }

        json.WriteEndObject();
        json.WriteStartObject("Configuration"u8);
        json.WriteEndObject();
    }

    private static void WriteDefined(Utf8JsonWriter json, StaticIndexDefinition defined)
    {
        WriteMapsAndReduce(json, defined.Maps, defined.Reduce);
        json.WriteStartObject("Fields"u8);
        foreach (var field in defined.Options)
        {
            WriteField(
                json,
                field.Name,
                field.Indexing.ToString(),
                field.IsStored,
                field.Analyzer,
                field.HasSuggestions
            );
        }

        json.WriteEndObject();
        json.WriteStartObject("Configuration"u8);
        foreach (var (name, value) in defined.Configuration)
        {
            json.WriteString(name, value);
        }

        json.WriteEndObject();
        json.WriteStartObject("AdditionalSources"u8);
        foreach (var (name, text) in defined.AdditionalSources)
        {
            json.WriteString(name, text);
        }

        json.WriteEndObject();
    }

    private static void WriteMapsAndReduce(Utf8JsonWriter json, IReadOnlyList<string> maps, string? reduce)
    {
        json.WriteStartArray("Maps"u8);
        foreach (string map in maps)
        {
            json.WriteStringValue(map);
        }

        json.WriteEndArray();
        json.WriteString("Reduce"u8, reduce);
    }

    private static void WriteField(
        Utf8JsonWriter json,
        string name,
        string indexing,
        bool isStored,
        string? analyzer,
        bool hasSuggestions
    )
    {
        json.WriteStartObject(name);
        json.WriteString("Indexing"u8, indexing);
        json.WriteString("Storage"u8, isStored ? "Yes"u8 : "No"u8);
        json.WriteString("Analyzer"u8, analyzer);
        json.WriteBoolean("Suggestions"u8, hasSuggestions);
        json.WriteEndObject();
    }
}
