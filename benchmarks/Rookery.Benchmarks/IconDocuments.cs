using System.Text;
using System.Text.Json;

namespace Rookery.Benchmarks;

/// <summary>Real documents: the icons of npm's @iconify/json, one document an icon, as one bulk_insert array.</summary>
internal static class IconDocuments
{
    /// <summary>Writes <paramref name="target"/>; prints the number of documents and their JSON bytes.</summary>
    public static int Write(string package, string target)
    {
        using var output = File.Create(target, 1 << 20);
        using var document = new MemoryStream();
        long count = 0;
        long bytes = 0;
        output.Write("["u8);
        foreach (string file in Directory.GetFiles(Path.Combine(package, "json"), "*.json").Order(StringComparer.Ordinal))
        {
            using var set = JsonDocument.Parse(File.ReadAllBytes(file));
            string prefix = set.RootElement.GetProperty("prefix").GetString()!;
            foreach (var icon in set.RootElement.GetProperty("icons").EnumerateObject())
            {
                document.SetLength(0);
                WriteDocument(document, set.RootElement, prefix, icon);
                output.Write(count == 0 ? ""u8 : ","u8);
                output.Write(Encoding.UTF8.GetBytes($"{{\"Id\":\"icons/{prefix}/{icon.Name}\",\"Type\":\"PUT\",\"Document\":"));
                document.WriteTo(output);
                output.Write("}"u8);
                count++;
                bytes += document.Length;
            }
        }

        output.Write("]"u8);
        Console.WriteLine($"{count} documents, {bytes} JSON bytes");
        return 0;
    }

    private static void WriteDocument(MemoryStream target, JsonElement set, string prefix, JsonProperty icon)
    {
        using var writer = new Utf8JsonWriter(target);
        writer.WriteStartObject();
        writer.WriteString("prefix", prefix);
        writer.WriteString("name", icon.Name);
        foreach (var member in icon.Value.EnumerateObject())
        {
            member.WriteTo(writer);
        }

        foreach (string inherited in (ReadOnlySpan<string>)["width", "height"])
        {
            if (!icon.Value.TryGetProperty(inherited, out _) && set.TryGetProperty(inherited, out var value))
            {
                writer.WritePropertyName(inherited);
                value.WriteTo(writer);
            }
        }

        writer.WriteStartObject("@metadata");
        writer.WriteString("@collection", "Icons");
        writer.WriteEndObject();
        writer.WriteEndObject();
    }
}
