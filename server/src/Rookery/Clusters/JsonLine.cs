using System.Text;
using System.Text.Json;

namespace Rookery.Clusters;

/// <summary>A command's result for other programs.</summary>
internal static class JsonLine
{
    /// <summary>One object on one line.</summary>
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
