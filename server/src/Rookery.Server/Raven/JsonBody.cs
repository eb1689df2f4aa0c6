using System.Text.Json;
using Rookery.Json;
using Rookery.Platform;

namespace Rookery.Server.Raven;

/// <summary>
/// Reads one JSON value. The reader is at the value's first token before the call, and at its last after it.
/// </summary>
internal delegate TResult JsonRead<out TResult>(ref Utf8JsonReader json);

/// <summary>Reads the value of one member; the reader is at the value's first token.</summary>
internal delegate void JsonMember(string name, ref Utf8JsonReader value);

/// <summary>Reads the small JSON envelopes of requests. Documents are parsed by Rookery.Documents instead.</summary>
internal static class JsonBody
{
    /// <summary>Reads a body that is one JSON value with nothing after it.</summary>
    /// <exception cref="RefusedException">The body is not valid JSON: 400.</exception>
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
    /// Converts an exception of the JSON reader to a refusal with a message of this server: in the published program
    /// the framework's messages are only resource keys.
    /// </summary>
    /// <param name="subject">What was read ("The body").</param>
    /// <param name="thrown">The exception of the JSON reader.</param>
    public static RefusedException Malformed(string subject, Exception thrown) =>
        RefusedException.BadRequest(
            thrown is JsonException { LineNumber: { } line, BytePositionInLine: { } at }
                ? $"{subject} is not valid JSON in line {line + 1}, byte {at}: something is missing, misplaced or "
                    + $"nested too deeply. Send JSON as RFC 8259 defines it."
                : $"{subject} is not valid JSON: a string in it is not UTF-8 or ends within an escaped surrogate pair."
        );

    /// <summary>
    /// Refuses objects that contain a member twice, because only one of the two would have an effect.
    /// </summary>
    /// <param name="value">The value; objects within it are checked too.</param>
    /// <exception cref="RefusedException">A member occurs twice in an object (400).</exception>
    /// <exception cref="InvalidOperationException">The name of a member is not UTF-8, or ends within an escaped
    /// surrogate pair.</exception>
    public static void RefuseRepeatedMembers(JsonElement value)
    {
        if (value.ValueKind == JsonValueKind.Object)
        {
            var names = new HashSet<string>(StringComparer.Ordinal);
            foreach (var member in value.EnumerateObject())
            {
                if (!names.Add(member.Name))
                {
                    throw RefusedException.BadRequest(
                        $"An object of the body contains the member '{member.Name}' twice."
                    );
                }

                RefuseRepeatedMembers(member.Value);
            }
        }
        else if (value.ValueKind == JsonValueKind.Array)
        {
            foreach (var item in value.EnumerateArray())
            {
                RefuseRepeatedMembers(item);
            }
        }
    }

    /// <summary>Calls <paramref name="member"/> for each member of an object.</summary>
    /// <param name="json">The reader, at the object's first token; afterwards at its last.</param>
    /// <param name="member">Called with each member's name, while the reader is at the member's value.</param>
    /// <param name="subject">Name of the value in a refusal.</param>
    /// <exception cref="RefusedException">The value is no object, or has a member twice (400).</exception>
    public static void ForEachMember(ref Utf8JsonReader json, JsonMember member, string subject = "The body")
    {
        if (json.TokenType != JsonTokenType.StartObject)
        {
            throw RefusedException.BadRequest($"{subject} must be a JSON object.");
        }

        var names = default(MemberNames);
        while (json.Read() && json.TokenType == JsonTokenType.PropertyName)
        {
            string name = json.GetString()!;
            names.Add(name);
            json.Read();
            member(name, ref json);
        }
    }

    /// <summary>
    /// Accepts a member whose value is null and refuses it otherwise, so that no option is ignored silently.
    /// </summary>
    /// <param name="value">The member's value.</param>
    /// <param name="name">Name of the member.</param>
    /// <param name="container">The object that contains it ("the body of a query").</param>
    /// <param name="known">The members that the object may have; a similar name is suggested.</param>
    /// <exception cref="RefusedException">The value is not null: 501.</exception>
    public static void RequireNull(
        ref Utf8JsonReader value,
        string name,
        string container,
        params ReadOnlySpan<string> known
    )
    {
        if (value.TokenType != JsonTokenType.Null)
        {
            throw NotSupported(name, container, known);
        }
    }

    /// <summary>Returns the error for a member that is not supported: 501.</summary>
    /// <param name="name">Name of the member.</param>
    /// <param name="container">The object that contains it ("the body of a query").</param>
    /// <param name="known">The members that the object may have; a similar name is suggested.</param>
    public static RefusedException NotSupported(string name, string container, params ReadOnlySpan<string> known) =>
        RefusedException.NotSupported(
            $"The member '{name}' of {container} is not supported by this version, and nothing was done."
                + (Spelling.Suggest(name, known) is { Length: > 0 } question ? question : " Leave it out.")
        );

    /// <summary>Reads a string, or null.</summary>
    public static string? ReadText(ref Utf8JsonReader json, string name) =>
        json.TokenType switch
        {
            JsonTokenType.String => json.GetString(),
            JsonTokenType.Null => null,
            _ => throw RefusedException.BadRequest($"'{name}' must be a string."),
        };

    /// <summary>Reads an array of strings.</summary>
    /// <param name="json">The reader, at the array's first token.</param>
    /// <param name="name">Name of the array in a refusal.</param>
    /// <param name="nullText">The text that stands for an element that is null; if null, such elements are
    /// refused.</param>
    /// <exception cref="RefusedException">The value is no array of strings (400).</exception>
    public static List<string> ReadTexts(ref Utf8JsonReader json, string name, string? nullText = null)
    {
        if (json.TokenType != JsonTokenType.StartArray)
        {
            throw RefusedException.BadRequest($"'{name}' must be a list of strings.");
        }

        var texts = new List<string>();
        while (json.Read() && json.TokenType != JsonTokenType.EndArray)
        {
            texts.Add(
                ReadText(ref json, name)
                    ?? nullText
                    ?? throw RefusedException.BadRequest($"'{name}' must be a list of strings; null is not one.")
            );
        }

        return texts;
    }

    /// <summary>Returns the raw JSON of a value and moves the reader to its last token.</summary>
    public static ReadOnlySpan<byte> ReadRaw(ref Utf8JsonReader json, ReadOnlySpan<byte> body)
    {
        int start = (int)json.TokenStartIndex;
        json.Skip();
        return body[start..(int)json.BytesConsumed];
    }
}
