using System.CommandLine;
using System.Text.Json;
using Rookery.Access;
using Rookery.Hosting;

namespace Rookery.Data;

/// <summary>A query in RQL as somebody typed it, with its parameters.</summary>
/// <param name="Path">The database's path at the node.</param>
/// <param name="Text">The query.</param>
/// <param name="Parameters">What $names stand for.</param>
internal sealed record AskedQuery(string Path, string Text, IReadOnlyList<(string Name, JsonElement Value)> Parameters)
{
    /// <summary>Whether an index that is behind is waited for.</summary>
    public bool Waits { get; init; }

    /// <summary>Whether the answer is to say how long its parts took.</summary>
    public bool WantsTimings { get; init; }

    /// <summary>Whether what the node has will do.</summary>
    public bool IsLocal { get; init; }

    /// <summary>How many results are wanted; null for all.</summary>
    public int? PageSize { get; init; }

    /// <summary>The option that gives a parameter's value.</summary>
    public static Option<string[]> ParameterOption() =>
        new("--param")
        {
            Description =
                "A parameter, NAME=VALUE; may be repeated. A value that is JSON is that value, any other is a text.",
            HelpName = "NAME=VALUE",
        };

    /// <summary>What was typed; a text of `-` is read from stdin.</summary>
    /// <exception cref="AdminException">A parameter has no name.</exception>
    public static async Task<AskedQuery> ReadAsync(string database, string text, string[]? parameters) =>
        new(
            NodeClient.PathOf(database),
            text is "-" ? await Console.In.ReadToEndAsync() : text,
            [.. (parameters ?? []).Select(ReadParameter)]
        );

    /// <summary>NAME=VALUE: JSON where it is, text otherwise.</summary>
    /// <exception cref="AdminException">There is no name.</exception>
    internal static (string Name, JsonElement Value) ReadParameter(string said)
    {
        int equals = said.IndexOf('=', StringComparison.Ordinal);
        string name = equals < 0 ? string.Empty : said[..equals].TrimStart('$').Trim();
        if (name.Length == 0)
        {
            throw new AdminException($"--param must be NAME=VALUE, not \"{said}\".", ExitCode.Configuration);
        }

        string value = said[(equals + 1)..];
        try
        {
            using var json = JsonDocument.Parse(value, NodeClient.Parsing);
            return (name, json.RootElement.Clone());
        }
        catch (JsonException)
        {
            using var text = JsonDocument.Parse($"\"{JsonEncodedText.Encode(value)}\"");
            return (name, text.RootElement.Clone());
        }
    }

    /// <summary>As the node takes it.</summary>
    public ByteArrayContent Body() => NodeClient.BodyOf(WriteMembers);

    /// <summary>As the node takes it where it is the member of another object.</summary>
    public ByteArrayContent WrappedBody() =>
        NodeClient.BodyOf(json =>
        {
            json.WriteStartObject("Query"u8);
            WriteMembers(json);
            json.WriteEndObject();
        });

    private void WriteMembers(Utf8JsonWriter json)
    {
        json.WriteString("Query"u8, Text);
        json.WriteStartObject("QueryParameters"u8);
        foreach (var (name, value) in Parameters)
        {
            json.WritePropertyName(name);
            value.WriteTo(json);
        }

        json.WriteEndObject();
        if (Waits)
        {
            json.WriteBoolean("WaitForNonStaleResults"u8, true);
        }

        if (WantsTimings)
        {
            json.WriteBoolean("IncludeTimings"u8, true);
        }

        if (PageSize is { } size)
        {
            json.WriteNumber("PageSize"u8, size);
        }
    }
}
