using System.Globalization;
using System.Text;

namespace Rookery.Benchmarks;

/// <summary>Creates small documents in two forms: RavenDB's bulk_insert array and PostgreSQL's COPY text.</summary>
internal static class SmallDocuments
{
    private static readonly string[] FirstNames =
    [
        "Ada",
        "Grace",
        "Edsger",
        "Barbara",
        "Donald",
        "Leslie",
        "Tony",
        "Radia",
    ];
    private static readonly string[] Cities = ["Aarhus", "Bergen", "Cork", "Delft", "Espoo", "Fano", "Ghent", "Hamar"];

    /// <summary>Writes bulk.json and copy.tsv; a document is about 150 bytes without its metadata.</summary>
    public static int Write(int count, string directory)
    {
        Directory.CreateDirectory(directory);
        using var bulk = new StreamWriter(
            Path.Combine(directory, "bulk.json"),
            append: false,
            new UTF8Encoding(false),
            1 << 20
        );
        using var copy = new StreamWriter(
            Path.Combine(directory, "copy.tsv"),
            append: false,
            new UTF8Encoding(false),
            1 << 20
        );
        var random = new Random(1);
        bulk.Write('[');
        for (int number = 0; number < count; number++)
        {
            string document = Document(number, random);
            bulk.Write(
                string.Create(
                    CultureInfo.InvariantCulture,
                    $"{(number == 0 ? "" : ",")}{{\"Id\":\"d/{number}\",\"Type\":\"PUT\",\"Document\":{document}}}"
                )
            );
            copy.Write(string.Create(CultureInfo.InvariantCulture, $"d/{number}\t{document}\n"));
        }

        bulk.Write(']');
        return 0;
    }

    private static string Document(int number, Random random) =>
        string.Create(
            CultureInfo.InvariantCulture,
            $"{{\"name\":\"{FirstNames[random.Next(8)]} {number}\",\"age\":{random.Next(90)}"
                + $",\"city\":\"{Cities[random.Next(8)]}\",\"joined\":\"2026-{random.Next(1, 13):00}"
                + $"-{random.Next(1, 29):00}T10:00:00\",\"score\":{random.NextDouble():0.000000}"
                + $",\"token\":\"{random.NextInt64():x16}\",\"@metadata\":{{\"@collection\":\"Users\"}}}}"
        );
}
