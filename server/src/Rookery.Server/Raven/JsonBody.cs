using System.Text.Json;
using Rookery.Json;

namespace Rookery.Server.Raven;

/// <summary>
/// Reads a JSON value from a reader that stands on its first token, and leaves the reader on its last.
/// </summary>
internal delegate TResult JsonRead<out TResult>(ref Utf8JsonReader json);

/// <summary>Reads the value of one member.</summary>
internal delegate void JsonMember(string name, ref Utf8JsonReader value);

/// <summary>Reads the small envelopes of requests. Documents never pass here: the Documents room parses them.</summary>
internal static class JsonBody
{
    /// <summary>Reads a body that is one JSON value and nothing else.</summary>
    /// <exception cref="RefusedException">It is not JSON.</exception>
    public static TResult Read<TResult>(ReadOnlySpan<byte> body, JsonRead<TResult> read)
    {
        try
        {
            var json = new Utf8JsonReader(body, new JsonReaderOptions { MaxDepth = JsonLimits.MaxEnvelopeDepth });
            json.Read();
            var result = read(ref json);
            return json.Read()
                ? throw RefusedException.BadRequest(
                    "The body is not valid JSON: something follows the end of its value."
                )
                : result;
        }
        catch (Exception malformed) when (malformed is JsonException or InvalidOperationException)
        {
            throw Malformed("The body", malformed);
        }
    }

    /// <summary>
    /// Says in our own words what the reader threw: the framework's are keys of resources in the published program.
    /// </summary>
    /// <param name="what">What was read ("The body").</param>
    /// <param name="thrown">What the reader threw.</param>
    public static RefusedException Malformed(string what, Exception thrown) =>
        RefusedException.BadRequest(
            thrown is JsonException { LineNumber: { } line, BytePositionInLine: { } at }
                ? $"{what} is not valid JSON in line {line + 1}, byte {at}: something is missing, or stands "
                    + $"where it must not, or the nesting is too deep. Send JSON as RFC 8259 defines it."
                : $"{what} is not valid JSON: a text in it is not UTF-8 or ends within an escaped surrogate pair."
        );

    /// <summary>Walks over the members of an object.</summary>
    public static void ForEachMember(ref Utf8JsonReader json, JsonMember member)
    {
        if (json.TokenType != JsonTokenType.StartObject)
        {
            throw RefusedException.BadRequest("The body must be a JSON object.");
        }

        while (json.Read() && json.TokenType == JsonTokenType.PropertyName)
        {
            string name = json.GetString()!;
            json.Read();
            member(name, ref json);
        }
    }

    /// <summary>Passes over a member that says nothing, and refuses by its name whatever else is not known.</summary>
    /// <param name="value">The member's value.</param>
    /// <param name="name">The member.</param>
    /// <param name="where">Of what it is a member ("the body of a query").</param>
    /// <exception cref="RefusedException">It says something.</exception>
    public static void RequireNothing(ref Utf8JsonReader value, string name, string where)
    {
        if (value.TokenType != JsonTokenType.Null)
        {
            throw NotSupported(name, where);
        }
    }

    /// <summary>A member that would be passed over.</summary>
    public static RefusedException NotSupported(string name, string where) =>
        RefusedException.NotSupported(
            $"The member '{name}' of {where} is not supported by this version, and nothing was done; leave it out."
        );

    /// <summary>A text; null when it is null.</summary>
    public static string? ReadText(ref Utf8JsonReader json, string name) =>
        json.TokenType switch
        {
            JsonTokenType.String => json.GetString(),
            JsonTokenType.Null => null,
            _ => throw RefusedException.BadRequest($"'{name}' must be a text."),
        };

    /// <summary>A list of texts.</summary>
    public static List<string> ReadTexts(ref Utf8JsonReader json, string name)
    {
        if (json.TokenType != JsonTokenType.StartArray)
        {
            throw RefusedException.BadRequest($"'{name}' must be a list of texts.");
        }

        var texts = new List<string>();
        while (json.Read() && json.TokenType != JsonTokenType.EndArray)
        {
            texts.Add(
                ReadText(ref json, name)
                    ?? throw RefusedException.BadRequest($"'{name}' must be a list of texts; null is none.")
            );
        }

        return texts;
    }

    /// <summary>The raw JSON of a value; the reader goes to its last token.</summary>
    public static ReadOnlySpan<byte> Raw(ref Utf8JsonReader json, ReadOnlySpan<byte> body)
    {
        int start = (int)json.TokenStartIndex;
        json.Skip();
        return body[start..(int)json.BytesConsumed];
    }
}
