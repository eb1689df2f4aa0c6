using System.Text;
using System.Text.Json;

namespace Rookery.Clusters;

/// <summary>Formats a command's result as JSON for other programs.</summary>
internal static class JsonLine
{
    /// <summary>Returns one JSON object on one line.</summary>
    public static string Of(Action<Utf8JsonWriter> members)
    {
        using var text = new MemoryStream();
        using (var json = new Utf8JsonWriter(text))
        {
            json.WriteStartObject();
            members(json);
            json.WriteEndObject();
        }

        return Encoding.UTF8.GetString(text.ToArray());
    }
}
