using System.Runtime.InteropServices;
using System.Text.Json;

namespace Rookery.Access;

/// <summary>Writes the user's JSON into request bodies as it is.</summary>
internal static class ExactJson
{
    /// <summary>
    /// Writes a value with the bytes that it was read from, so that the node refuses what is invalid in its texts.
    /// <see cref="JsonElement.WriteTo"/> replaces invalid UTF-8 by U+FFFD, and throws at half of a surrogate pair.
    /// </summary>
    public static void WriteExact(this Utf8JsonWriter json, JsonElement value) =>
        json.WriteRawValue(JsonMarshal.GetRawUtf8Value(value), skipInputValidation: true);
}
