using System.Buffers;
using System.Security.Cryptography;
using System.Text;
using System.Text.Json;

namespace Rookery.Transfer;

/// <summary>
/// Generates ids for documents without one, from the import's seed and the number of the record. A record that is sent
/// again has the same id and overwrites itself.
/// </summary>
/// <param name="seed">Identifies this import.</param>
internal sealed class RecordId(string seed)
{
    private static readonly JsonWriterOptions Writing = new()
    {
        Encoder = System.Text.Encodings.Web.JavaScriptEncoder.UnsafeRelaxedJsonEscaping,
        SkipValidation = true,
    };

    private readonly ArrayBufferWriter<byte> _written = new();

    /// <summary>
    /// Returns the document with an id. Returns it unchanged if it has one. Also returns input that is no document
    /// unchanged, because the node's error says more.
    /// </summary>
    /// <param name="json">The document.</param>
    /// <param name="number">The number of the record in the input, from 1.</param>
    /// <returns>The document; valid until the next call.</returns>
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
        // Most documents without an id do not contain this text at all.
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
