using System.Buffers;
using System.Security.Cryptography;
using System.Text;
using System.Text.Json;

namespace Rookery.Transfer;

/// <summary>
/// Generates ids for documents without one, and the rest of ids that end with /, from the import's seed and the number
/// of the record. A record that is sent again has the same id and overwrites itself.
/// </summary>
/// <param name="seed">Identifies this import.</param>
internal sealed class RecordId(string seed)
{
    private const string Consecutive =
        "An import gives no consecutive numbers, so @id must not end with | ($.@metadata.@id). End it with / to get an "
        + "id that begins so, or write the number.";

    private readonly ArrayBufferWriter<byte> _written = new();

    /// <summary>
    /// Returns the document with an id. Returns it unchanged if it has one. Also returns input that is not a document
    /// unchanged, because the node's error says more.
    /// </summary>
    /// <param name="json">The document.</param>
    /// <param name="number">The number of the record in the input, from 1.</param>
    /// <param name="refusal">Why the document cannot have an id; null if it has one.</param>
    /// <returns>The document; valid until the next call.</returns>
    /// <remarks>
    /// The id is inserted into the bytes. If the document were written anew, its invalid bytes would become U+FFFD, and
    /// the node could not refuse them.
    /// </remarks>
    public ReadOnlyMemory<byte> Complete(ReadOnlyMemory<byte> json, long number, out string? refusal)
    {
        refusal = null;
        try
        {
            if (FindGap(json.Span) is not { } gap)
            {
                return json;
            }

            if (gap.IsConsecutive)
            {
                refusal = Consecutive;
                return json;
            }

            byte[] hash = SHA256.HashData(Encoding.UTF8.GetBytes($"{seed}/{number}"));
            string id = Convert.ToHexStringLower(hash.AsSpan(0, 16));
            _written.ResetWrittenCount();
            _written.Write(json.Span[..gap.Start]);
            Encoding.UTF8.GetBytes($"{gap.Before}{id}{gap.After}", _written);
            _written.Write(json.Span[gap.End..]);
            return _written.WrittenMemory;
        }
        catch (Exception malformed) when (malformed is JsonException or InvalidOperationException)
        {
            // A name with half of a surrogate pair is an InvalidOperationException.
            return json;
        }
    }

    /// <summary>Returns where the id is missing; null if the document has one, or is not an object.</summary>
    /// <exception cref="JsonException">The input is not JSON.</exception>
    /// <exception cref="InvalidOperationException">A name has an escape that stands for no character.</exception>
    private static Gap? FindGap(ReadOnlySpan<byte> json)
    {
        var reader = new Utf8JsonReader(json, JsonElements.Reading);
        reader.Read();
        if (reader.TokenType != JsonTokenType.StartObject)
        {
            return null;
        }

        Gap? gap = null;
        bool hasMetadata = false;
        string comma = string.Empty;
        while (reader.Read() && reader.TokenType == JsonTokenType.PropertyName)
        {
            comma = ",";
            bool isMetadata = reader.ValueTextEquals("@metadata"u8);
            hasMetadata |= isMetadata;
            reader.Read();
            if (isMetadata && reader.TokenType == JsonTokenType.StartObject)
            {
                gap = FindGapInMetadata(ref reader);
                if (gap is null)
                {
                    return null;
                }
            }
            else
            {
                reader.Skip();
            }
        }

        // The id is inserted after the other members, so that the node's errors name positions of the input.
        int end = (int)reader.TokenStartIndex;
        reader.Read(); // throws if more than white space follows
        return hasMetadata ? gap : Gap.At(end, comma + "\"@metadata\":{\"@id\":\"", "\"}");
    }

    private static Gap? FindGapInMetadata(ref Utf8JsonReader reader)
    {
        string comma = string.Empty;
        while (reader.Read() && reader.TokenType == JsonTokenType.PropertyName)
        {
            comma = ",";
            bool isId = reader.ValueTextEquals("@id"u8);
            reader.Read();
            if (isId)
            {
                return FindGapInId(ref reader);
            }

            reader.Skip();
        }

        return Gap.At((int)reader.TokenStartIndex, comma + "\"@id\":\"", "\"");
    }

    // The node would complete each of these itself, and differently if the record is sent again.
    private static Gap? FindGapInId(ref Utf8JsonReader reader)
    {
        int start = (int)reader.TokenStartIndex;
        int end = (int)reader.BytesConsumed;
        return reader.TokenType switch
        {
            JsonTokenType.Null => new Gap(start, end, "\"", "\""),
            JsonTokenType.String => reader.GetString() switch
            {
                "" or [.., '/'] => Gap.At(end - 1, string.Empty, string.Empty),
                [.., '|'] => new Gap(start, end, string.Empty, string.Empty, IsConsecutive: true),
                _ => null,
            },
            _ => null,
        };
    }

    /// <summary>The bytes to replace by a generated id, and the JSON before and after it.</summary>
    /// <param name="Start">The first of these bytes.</param>
    /// <param name="End">The position after the last of them.</param>
    /// <param name="Before">The JSON before the id.</param>
    /// <param name="After">The JSON after the id.</param>
    /// <param name="IsConsecutive">Whether a consecutive number is wanted, which an import does not give.</param>
    private readonly record struct Gap(int Start, int End, string Before, string After, bool IsConsecutive = false)
    {
        /// <summary>Inserts the id at a position.</summary>
        public static Gap At(int position, string before, string after) => new(position, position, before, after);
    }
}
