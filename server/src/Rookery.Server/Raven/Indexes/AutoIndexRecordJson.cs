using System.Text.Json;
using Rookery.Indexing.Automatic;

namespace Rookery.Server.Raven.Indexes;

/// <summary>
/// Writes definitions of automatic indexes as RavenDB's record of a database has them: by collection and fields, with
/// their options, and not as maps.
/// </summary>
internal static class AutoIndexRecordJson
{
    /// <summary>Writes the definition of an automatic index as an object.</summary>
    public static void Write(Utf8JsonWriter json, ShownIndex index)
    {
        json.WriteStartObject();
        json.WriteString("Name"u8, index.Name);
        json.WriteString("Type"u8, index.Type);
        json.WriteString("State"u8, index.State);
        json.WriteString("LockMode"u8, index.Record.Settings.LockMode.ToString());
        json.WriteString("Priority"u8, index.Record.Settings.Priority.ToString());
        if (index.Automatic is { } automatic)
        {
            Write(json, automatic);
        }
        else if (index.Grouped is { } grouped)
        {
            Write(json, grouped);
        }

        json.WriteEndObject();
    }

    private static void Write(Utf8JsonWriter json, AutoIndexDefinition automatic)
    {
        json.WriteString("Collection"u8, automatic.Collection ?? AutoIndexDefinition.AllDocuments);
        json.WriteStartObject("MapFields"u8);
        foreach (var field in automatic.Fields)
        {
            string indexing = field.Uses is AutoIndexFieldUses.None ? "Default" : field.Uses.ToString();
            WriteField(json, field.Name, indexing);
        }

        json.WriteEndObject();
        json.WriteStartObject("GroupByFields"u8);
        json.WriteEndObject();
    }

    private static void Write(Utf8JsonWriter json, AutoReduceDefinition grouped)
    {
        json.WriteString("Collection"u8, grouped.Collection ?? AutoIndexDefinition.AllDocuments);
        json.WriteStartObject("MapFields"u8);
        foreach (var aggregate in grouped.Aggregates)
        {
            WriteField(json, aggregate.Name, aggregation: aggregate.Kind.ToString());
        }

        json.WriteEndObject();
        json.WriteStartObject("GroupByFields"u8);
        foreach (var key in grouped.Keys)
        {
            WriteField(json, key.Name, arrayBehavior: key.IsOfElement ? "ByIndividualValues" : "NotApplicable");
        }

        json.WriteEndObject();
    }

    private static void WriteField(
        Utf8JsonWriter json,
        string name,
        string indexing = "Default",
        string aggregation = "None",
        string arrayBehavior = "NotApplicable"
    )
    {
        json.WriteStartObject(name);
        json.WriteString("Storage"u8, "No"u8);
        json.WriteString("Indexing"u8, indexing);
        json.WriteString("Aggregation"u8, aggregation);
        json.WriteNull("Spatial"u8);
        json.WriteString("GroupByArrayBehavior"u8, arrayBehavior);
        json.WriteBoolean("Suggestions"u8, value: false);
        json.WriteBoolean("IsNameQuoted"u8, value: false);
        json.WriteEndObject();
    }
}
