using System.Text;
using System.Text.Json;
using System.Text.Json.Nodes;
using CsCheck;
using Rookery.Simulation;

namespace Rookery.Json.Tests;

/// <summary>The equality of JSON values, and its cost.</summary>
public class JsonEqualityTests
{
    [Theory]
    [InlineData("1", "1.0", true)]
    [InlineData("100", "1e2", true)]
    [InlineData("0.05", "5E-2", true)]
    [InlineData("12.50", "0.1250e+2", true)]
    [InlineData("-0.0", "0e99999999999999999999", true)]
    [InlineData("10e999999999999999998", "1e999999999999999999", true)]
    [InlineData("1e00000000000000000000007", "10000000", true)]
    [InlineData("10e99999999", "1e100000000", true)]
    [InlineData("1e99999999999999999999", "1.0e99999999999999999999", true)]
    [InlineData("1e99999999999999999999", "1e99999999999999999998", false)]
    [InlineData("1e99999999999999999999", "1e-99999999999999999999", false)]
    [InlineData("1", "-1", false)]
    [InlineData("12", "1.2", false)]
    [InlineData("12", "120", false)]
    [InlineData("1.23", "12.34e-1", false)]
    [InlineData("1", "true", false)]
    [InlineData("true", "false", false)]
    [InlineData("null", "null", true)]
    [InlineData("\"a\"", "\"\\u0061\"", true)]
    [InlineData("\"\\u00e9x\\/\"", "\"éx/\"", true)]
    [InlineData("\"ab\"", "\"\\u0061\"", false)]
    [InlineData("[]", "{}", false)]
    [InlineData("[1,[2,3]]", "[1.0,[2,3]]", true)]
    [InlineData("[1,2]", "[2,1]", false)]
    [InlineData("{\"a\":1}", "{\"a\":1,\"b\":2}", false)]
    [InlineData("{\"a\":1,\"c\":2}", "{\"a\":1,\"b\":2}", false)]
    [InlineData("{\"a\":1,\"b\":2,\"c\":3}", "{\"c\":3,\"\\u0061\":1}", false)]
    [InlineData("{\"a\":1,\"b\":{\"x\":1,\"y\":[]}}", "{\"\\u0062\":{\"y\":[],\"x\":1},\"a\":1e0}", true)]
    public void Values_are_equal_as_RFC_6902_defines_it(string a, string b, bool areEqual)
    {
        Assert.Equal(areEqual, AreEqual(a, b, out _));
        Assert.Equal(areEqual, AreEqual(b, a, out _));
        Assert.True(AreEqual(a, a, out _));
    }

    [Fact]
    public void Random_values_equal_their_shuffled_copies_only() =>
        Gen.Select(RandomJson.Value(depth: 4), RandomJson.Value(depth: 4), Gen.Int[0, int.MaxValue])
            .CheckEach(
                3000,
                static one =>
                {
                    var (a, b, seed) = one;
                    var random = new Random(seed);
                    var value = new JsonObject
                    {
                        ["a"] = JsonNode.Parse(a),
                        ["long"] = new JsonObject { ["z"] = new string('x', 80), ["v"] = JsonNode.Parse(a) },
                        ["b"] = JsonNode.Parse(b),
                    };
                    string text = value.ToJsonString();
                    var shuffled = (JsonObject)Shuffle(value, random)!;
                    Assert.True(AreEqual(text, shuffled.ToJsonString(), out _));
                    shuffled["long"]!["v"] = JsonNode.Parse(b);
                    Assert.Equal(
                        JsonElement.DeepEquals(JsonElement.Parse(text), JsonElement.Parse(shuffled.ToJsonString())),
                        AreEqual(text, shuffled.ToJsonString(), out _)
                    );
                }
            );

    /// <summary>Scanning a value once per level would cost a hundred times its length.</summary>
    [Theory]
    [InlineData("[", "]", "[", "]")]
    [InlineData("{\"a\":", "}", "{\"a\":", "}")]
    [InlineData("{\"a\":1,\"b\":", "}", "{\"a\":1,\"b\":", "}")]
    [InlineData("{\"a\":1,\"b\":", "}", "{\"b\":", ",\"a\":1}")]
    [InlineData("[{\"b\":", ",\"a\":1}]", "[{\"a\":1,\"b\":", "}]")]
    public void A_nested_value_costs_as_much_as_a_flat_one(
        string open,
        string close,
        string expectedOpen,
        string expectedClose
    )
    {
        int levels = open.StartsWith("[{", StringComparison.Ordinal) ? 60 : 120;
        string inner = "[" + string.Join(',', Enumerable.Repeat("{\"b\":[],\"a\":1}", 5000)) + "]";
        string reordered = "[" + string.Join(',', Enumerable.Repeat("{\"a\":1,\"b\":[]}", 5000)) + "]";
        string actual = Nest(open, inner, close, levels);
        string expected = Nest(expectedOpen, reordered, expectedClose, levels);
        Assert.True(AreEqual(actual, expected, out long cost));
        // Each byte may be read 25 times, which is far less often than once for each of the 60 or 120 levels.
        Assert.InRange(cost, actual.Length, 25 * (actual.Length + expected.Length));
    }

    [Fact]
    public void Values_of_different_kinds_cost_nothing()
    {
        Assert.False(
            AreEqual(
                "[" + new string(' ', 100_000).Replace(" ", "1,", StringComparison.Ordinal) + "1]",
                "1",
                out long cost
            )
        );
        Assert.Equal(0, cost);
    }

    private static string Nest(string open, string inner, string close, int levels) =>
        string.Concat(Enumerable.Repeat(open, levels)) + inner + string.Concat(Enumerable.Repeat(close, levels));

    private static JsonNode? Shuffle(JsonNode? node, Random random) =>
        node switch
        {
            JsonObject members => new JsonObject(
                members
                    .OrderBy(_ => random.Next())
                    .Select(member => KeyValuePair.Create(member.Key, Shuffle(member.Value, random)))
            ),
            JsonArray elements => new JsonArray([.. elements.Select(element => Shuffle(element, random))]),
            _ => node?.DeepClone(),
        };

    /// <summary>Compares two values. The cost is in bytes read.</summary>
    private static bool AreEqual(string a, string b, out long cost) =>
        JsonEquality.AreEqual(Encoding.UTF8.GetBytes(a), Encoding.UTF8.GetBytes(b), out cost);
}
