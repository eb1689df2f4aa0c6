namespace Rookery.Indexing.Tests.Definitions;

/// <summary>The input of C# expressions, as an object for the compiler.</summary>
internal sealed class CSharpOrder
{
    /// <summary>The same values as a document.</summary>
    public const string Document = """
        {"N":7,"M":-3,"Zero":0,"Big":9007199254740993,"None":null,"D":2.5,"W":6.0,"Small":1E-07,"Third":0.3333333333333333,"Price":0.1,"Rate":19.99,"S":"Ann Lee","Blank":"\t  x ","Empty":"","Nothing":null,
        "Number":"42","Path":"/a/b/","Street":"Straße Ǆ İı","Flag":true,"Off":false,"At":"2024-02-29T23:45:07.1234567","Shipped":"2024-03-02T01:00:00","Utc":"2024-12-31T22:30:00Z",
        "Zoned":"2024-05-06T10:00:00+02:00","Day":"2024-05-06","Took":"1.02:03:04.5000000","Tags":["b","a","b"],"Numbers":[3,1,2],"Reals":[1.5,2.5,4.0],"NoTags":[],
        "Lines":[{"Product":"x","Quantity":2,"Price":1.5},{"Product":"y","Quantity":3,"Price":2.0},{"Product":"z","Quantity":0,"Price":9.25}],"Attr":{"color":"red","size":"XL"},
        "@metadata":{"@collection":"Orders"}}
        """;

    public int N { get; init; } = 7;

    public int M { get; init; } = -3;

    public int Zero { get; init; }

    public long Big { get; init; } = 9007199254740993;

    public int? None { get; init; }

    public double D { get; init; } = 2.5;

    public double W { get; init; } = 6.0;

    public double Small { get; init; } = 1E-07;

    public double Third { get; init; } = 0.3333333333333333;

    public decimal Price { get; init; } = 0.1m;

    public decimal Rate { get; init; } = 19.99m;

    public string S { get; init; } = "Ann Lee";

    public string Blank { get; init; } = "\t  x ";

    public string Empty { get; init; } = "";

    public string? Nothing { get; init; }

    public string Number { get; init; } = "42";

    public string Path { get; init; } = "/a/b/";

    public string Street { get; init; } = "Straße Ǆ İı";

    public bool Flag { get; init; } = true;

    public bool Off { get; init; }

    public DateTime At { get; init; } = new DateTime(2024, 2, 29, 23, 45, 7).AddTicks(1234567);

    public DateTime Shipped { get; init; } = new(2024, 3, 2, 1, 0, 0);

    public DateTime Utc { get; init; } = new(2024, 12, 31, 22, 30, 0, DateTimeKind.Utc);

    public DateTimeOffset Zoned { get; init; } = new(2024, 5, 6, 10, 0, 0, TimeSpan.FromHours(2));

    public DateOnly Day { get; init; } = new(2024, 5, 6);

    public TimeSpan Took { get; init; } = new(1, 2, 3, 4, 500);

    public string[] Tags { get; init; } = ["b", "a", "b"];

    public int[] Numbers { get; init; } = [3, 1, 2];

    public double[] Reals { get; init; } = [1.5, 2.5, 4.0];

    public string[] NoTags { get; init; } = [];

    public IReadOnlyList<Line> Lines { get; init; } = [new("x", 2, 1.5), new("y", 3, 2.0), new("z", 0, 9.25)];

    public Dictionary<string, string> Attr { get; init; } =
        new(StringComparer.Ordinal) { ["color"] = "red", ["size"] = "XL" };

    internal sealed record Line(string Product, int Quantity, double Price);
}
