using System.Buffers;
using System.Security.Cryptography;
using System.Text;
using System.Text.Json;

namespace Rookery.Transfer;

/// <summary>
/// Ids for documents that bring none. They follow from the import and the place of the document in it: what is sent
/// again after a broken connection, or by --resume, overwrites itself instead of being there twice.
/// </summary>
/// <param name="seed">What tells this import from others.</param>
internal sealed class RecordId(string seed)
{
    private static readonly JsonWriterOptions Writing = new()
    {
        Encoder = System.Text.Encodings.Web.JavaScriptEncoder.UnsafeRelaxedJsonEscaping,
        SkipValidation = true,
    };

    private readonly ArrayBufferWriter<byte> _written = new();

    /// <summary>
    /// The document with an id; as it is when it has one, or is no document at all, which the node says better.
    /// </summary>
    /// <param name="json">The document.</param>
    /// <param name="number">Its number among all, from 1.</param>
    /// <returns>Valid until the next call.</returns>
    public ReadOnlyMemory<byte> Complete(ReadOnlyMemory<byte> json, long number)
    {
        try
        {
            if (HasId(json.Span))
            {
                return json;
            }

            using var document = JsonDocument.Parse(json, JsonElements.Parsing);
            if (document.RootElement.ValueKind != JsonValueKind.Object)
            {
                return json;
            }

            Write(document.RootElement, number);
            return _written.WrittenMemory;
        }
        catch (JsonException)
        {
            return json;
        }
    }

    private static bool HasId(ReadOnlySpan<byte> json)
    {
        // Most of those without an id do not hold this text at all.
        if (json.IndexOf("\"@id\""u8) < 0)
        {
            return false;
        }

        var reader = new Utf8JsonReader(json, new JsonReaderOptions { MaxDepth = 512 });
        reader.Read();
        while (reader.Read() && reader.TokenType == JsonTokenType.PropertyName)
        {
            bool isMetadata = reader.ValueTextEquals("@metadata"u8);
            reader.Read();
            if (!isMetadata || reader.TokenType != JsonTokenType.StartObject)
            {
                reader.Skip();
                continue;
            }

            while (reader.Read() && reader.TokenType == JsonTokenType.PropertyName)
            {
                if (reader.ValueTextEquals("@id"u8))
                {
                    return true;
                }

                reader.Skip();
            }
        }

        return false;
    }

    private void Write(JsonElement document, long number)
    {
        byte[] hash = SHA256.HashData(Encoding.UTF8.GetBytes($"{seed}/{number}"));
        string id = Convert.ToHexStringLower(hash.AsSpan(0, 16));
        _written.ResetWrittenCount();
        using var json = new Utf8JsonWriter(_written, Writing);
        json.WriteStartObject();
        bool hasMetadata = false;
        foreach (var member in document.EnumerateObject())
        {
            if (!member.NameEquals("@metadata"u8) || member.Value.ValueKind != JsonValueKind.Object)
            {
                member.WriteTo(json);
                continue;
            }

            hasMetadata = true;
            json.WriteStartObject("@metadata"u8);
            json.WriteString("@id"u8, id);
            foreach (var inner in member.Value.EnumerateObject())
            {
                inner.WriteTo(json);
            }

            json.WriteEndObject();
        }

        if (!hasMetadata && !document.TryGetProperty("@metadata", out _))
        {
            json.WriteStartObject("@metadata"u8);
            json.WriteString("@id"u8, id);
            json.WriteEndObject();
        }

        json.WriteEndObject();
        json.Flush();
    }
}
