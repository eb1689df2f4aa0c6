using System.Globalization;
using System.Text;
using System.Text.Json;
using Rookery.Fixtures;

namespace Rookery.Indexing.Tests.Definitions;

/// <summary>Documents that change at random, and the expected content of indexes.</summary>
internal sealed class ShopModel(Random random)
{
    private static readonly string[] Cities = ["Ulm", "Bonn", "Jena"];

    public SortedDictionary<string, (string Name, string Company)> Users { get; } = new(StringComparer.Ordinal);

    public SortedDictionary<string, string> Companies { get; } = new(StringComparer.Ordinal);

    public SortedDictionary<string, List<(string Product, int Quantity)>> Orders { get; } = new(StringComparer.Ordinal);

    /// <summary>Returns the row of an index with the members that have a value.</summary>
    public static string Row(params (string Name, object? Value)[] members) =>
        $"{{{string.Join(',', members.Where(static member => member.Value is not null).Select(static member => string.Create(CultureInfo.InvariantCulture, $"\"{member.Name}\":{(member.Value is string ? $"\"{member.Value}\"" : member.Value)}")))}"
        + $"}}";

    public string? CityOf(string company) => Companies.GetValueOrDefault(company);

    /// <summary>Reads the documents of a node.</summary>
    public static ShopModel Read(IndexedNode node)
    {
        var shop = new ShopModel(new Random(0));
        using var reader = node.Database().OpenReader();
        using var documents = reader.SeekByIdPrefix(prefix: []);
        while (documents.MoveNext())
        {
            string id = Encoding.UTF8.GetString(documents.View.Id);
            using var json = JsonDocument.Parse($"{{{Encoding.UTF8.GetString(documents.View.Body)}}}");
            if (json.RootElement.TryGetProperty("lines", out var lines))
            {
                shop.Orders.Add(
                    id,
                    [
                        .. lines
                            .EnumerateArray()
                            .Select(static line =>
                                (line.GetProperty("p").GetString()!, line.GetProperty("q").GetInt32())
                            ),
                    ]
                );
            }
            else if (json.RootElement.TryGetProperty("city", out var city))
            {
                shop.Companies.Add(id, city.GetString()!);
            }
            else
            {
                shop.Users.Add(
                    id,
                    (
                        json.RootElement.GetProperty("name").GetString()!,
                        json.RootElement.GetProperty("company").GetString()!
                    )
                );
            }
        }

        return shop;
    }

    public void Change(IndexedNode node)
    {
        int kind = random.Next(3);
        string id = $"{(kind == 0 ? "users" : kind == 1 ? "companies" : "orders")}/{random.Next(kind == 1 ? 5 : 25)}";
        if (random.Next(5) == 0)
        {
            if (Users.Remove(id) | Companies.Remove(id) | Orders.Remove(id))
            {
                node.Delete(id);
            }
        }
        else if (kind == 0)
        {
            Users[id] = ($"n{random.Next(9)}", $"companies/{random.Next(7)}");
            node.Put(id, $"\"name\":\"{Users[id].Name}\",\"company\":\"{Users[id].Company}\"");
        }
        else if (kind == 1)
        {
            Companies[id] = Cities[random.Next(Cities.Length)];
            node.Put(id, $"\"city\":\"{Companies[id]}\"", "Companies");
        }
        else
        {
            Orders[id] = [.. Enumerable.Range(0, random.Next(4)).Select(_ => ($"p{random.Next(6)}", random.Next(10)))];
            node.Put(
                id,
                $"\"lines\":[{string.Join(',', Orders[id].Select(static line => $$"""{"p":"{{line.Product}}","q":{{line.Quantity}}}"""))}"
                    + $"]",
                "Orders"
            );
        }
    }
}
