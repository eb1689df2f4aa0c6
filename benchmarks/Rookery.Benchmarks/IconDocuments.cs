using System.Text.Json;

namespace Rookery.Benchmarks;

/// <summary>Creates documents from the icons of npm's @iconify/json, one for each icon.</summary>
internal static class IconDocuments
{
    /// <summary>Writes every <paramref name="every"/>th document to <paramref name="target"/>.</summary>
    public static int Write(string package, string target, int every)
    {
        using var documents = new DocumentFiles(target);
        long number = 0;
        foreach (
            string file in Directory.GetFiles(Path.Combine(package, "json"), "*.json").Order(StringComparer.Ordinal)
        )
        {
            using var set = JsonDocument.Parse(File.ReadAllBytes(file));
            string prefix = set.RootElement.GetProperty("prefix").GetString()!;
            foreach (var icon in set.RootElement.GetProperty("icons").EnumerateObject())
            {
                if (number++ % every == 0)
                {
                    documents.Add(
                        $"icons/{prefix}/{icon.Name}",
                        "Icons",
                        writer => WriteMembers(writer, set.RootElement, prefix, icon)
                    );
                }
            }
        }

        return 0;
    }

    private static void WriteMembers(Utf8JsonWriter writer, JsonElement set, string prefix, JsonProperty icon)
    {
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
    }
}
