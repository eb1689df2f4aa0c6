using System.Text;
using System.Text.Json;
using Rookery.Json;

namespace Rookery.Documents.Ids;

/// <summary>
/// The documents <c>Raven/Hilo/TAG</c> <c>{"Max":n}</c>, which hold the last number that a client was given.
/// </summary>
public static class HiloDocument
{
    /// <summary>The largest number: the end of the integers that JavaScript represents exactly.</summary>
    public const long MaxNumber = 1L << 53;

    /// <summary>The beginning of the ids, in any casing.</summary>
    public static ReadOnlySpan<byte> IdPrefix => "Raven/Hilo/"u8;

    /// <summary>Returns whether an id is one of these documents.</summary>
    public static bool IsId(ReadOnlySpan<byte> id) =>
        id.Length > IdPrefix.Length && Ascii.EqualsIgnoreCase(id[..IdPrefix.Length], IdPrefix);

    /// <summary>
    /// Returns the document's Max; 0 if a user replaced it by anything but a whole number of at least 0.
    /// </summary>
    /// <param name="json">The document, valid JSON.</param>
    public static long MaxOf(ReadOnlySpan<byte> json)
    {
        var reader = new Utf8JsonReader(json, new JsonReaderOptions { MaxDepth = JsonLimits.MaxDepth + 1 });
        reader.Read();
        while (reader.Read() && reader.TokenType == JsonTokenType.PropertyName)
        {
            bool isMax = reader.ValueTextEquals("Max"u8);
            reader.Read();
            if (isMax)
            {
                return reader.TokenType == JsonTokenType.Number && reader.TryGetInt64(out long max) && max >= 0
                    ? Math.Min(max, MaxNumber)
                    : 0;
            }

            reader.Skip();
        }

        return 0;
    }
}
