using System.CommandLine;
using System.Text;
using System.Text.Json;
using System.Text.Unicode;
using Rookery.Access;
using Rookery.Hosting;

namespace Rookery.Data;

/// <summary>An RQL query from the command line, with its parameters.</summary>
/// <param name="Path">The URL path of the database.</param>
/// <param name="Text">The query.</param>
/// <param name="Parameters">The values of the parameters.</param>
internal sealed record AskedQuery(string Path, string Text, IReadOnlyList<(string Name, JsonElement Value)> Parameters)
{
    /// <summary>Whether to wait for a lagging index.</summary>
    public bool Waits { get; init; }

    /// <summary>Whether the response includes timings.</summary>
    public bool WantsTimings { get; init; }

    /// <summary>Whether the node's own, possibly older state is enough.</summary>
    public bool IsLocal { get; init; }

    /// <summary>The maximum number of results; null for all.</summary>
    public int? PageSize { get; init; }

    /// <summary>Creates the option that sets a parameter.</summary>
    public static Option<string[]> ParameterOption() =>
        new("--param")
        {
            Description = "A parameter, NAME=VALUE; may be repeated. VALUE is JSON, or otherwise taken as text.",
            HelpName = "NAME=VALUE",
        };

    /// <summary>Reads the query; the text `-` means stdin.</summary>
    /// <exception cref="AdminException">The query is blank, a parameter has no name, or stdin is not
    /// UTF-8.</exception>
    public static async Task<AskedQuery> ReadAsync(string database, string text, string[]? parameters)
    {
        string query = text is "-" ? TextOf(await InputFile.ReadAllAsync(text)) : text;
        return string.IsNullOrWhiteSpace(query)
            ? throw new AdminException(
                text is "-" ? "stdin holds no query." : "The query is blank. Pass RQL, such as 'from Users'.",
                ExitCode.Configuration
            )
            : new(NodeClient.PathOf(database), query, [.. (parameters ?? []).Select(ReadParameter)]);
    }

    /// <summary>Parses NAME=VALUE. The value is JSON if it parses as JSON, otherwise text.</summary>
    /// <exception cref="AdminException">The name is missing.</exception>
    internal static (string Name, JsonElement Value) ReadParameter(string argument)
    {
        int equals = argument.IndexOf('=', StringComparison.Ordinal);
        string name = equals < 0 ? string.Empty : argument[..equals].TrimStart('$').Trim();
        if (name.Length == 0)
        {
            throw new AdminException($"--param must be NAME=VALUE, not \"{argument}\".", ExitCode.Configuration);
        }

        string value = argument[(equals + 1)..];
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

    // Console.In would replace invalid bytes by U+FFFD, and the query would find nothing.
    private static string TextOf(ReadOnlySpan<byte> utf8) =>
        Utf8.IsValid(utf8)
            ? Encoding.UTF8.GetString(utf8).TrimStart('\uFEFF')
            : throw new AdminException("The query on stdin is not valid UTF-8. Save it as UTF-8.", ExitCode.BadInput);

    /// <summary>Creates the request body.</summary>
    public ByteArrayContent Body() => NodeClient.BodyOf(WriteMembers);

    /// <summary>Creates the request body with the query as the member "Query" of another object.</summary>
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
            json.WriteExact(value);
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
