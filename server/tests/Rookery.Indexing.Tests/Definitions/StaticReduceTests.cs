using System.Text;
using Rookery.Fixtures;
using Rookery.Indexing.Definitions;

namespace Rookery.Indexing.Tests.Definitions;

/// <summary>Results of a reduce: keys, sums, order, and errors of single documents and groups.</summary>
public sealed class StaticReduceTests
{
    [Fact]
    public void Rows_that_cannot_be_reduced_are_listed_as_errors()
    {
        using var node = IndexedNode.New();
        node.Define(
            """{"Maps":["docs.Users.Select(u => new { u.name, u.n })"],"Reduce":"results.GroupBy(r => r.name).Select(g => new { name = g.Key, n = g.First().n.ToLower() })"}""",
            "a"
        );
        node.Put("users/1", "\"name\":\"a\",\"n\":\"X\"");
        node.Put("users/2", "\"name\":\"b\",\"n\":5");
        node.SettleAll();
        Assert.Equal(["""{"name":"a","n":"x"}"""], node.ReadRows("a"));
        Assert.Contains(
            "ToLower",
            Assert.Single(node.Host.ReadErrors(node.Database(), "a")).Message,
            StringComparison.Ordinal
        );
    }

    [Theory]
    [InlineData("1", "1.0", true)]
    [InlineData("1", "\"1\"", false)]
    [InlineData("\"a\"", "\"A\"", false)]
    [InlineData("{\"a\":1,\"b\":null}", "{\"a\":1e0}", true)]
    [InlineData("{\"a\":\"x\",\"b\":\"y\"}", "{\"a\":\"xy\",\"b\":\"\"}", false)]
    [InlineData("{\"a\":1}", "{\"b\":1}", false)]
    [InlineData("{}", "null", false)]
    public void Keys_of_groups_are_equal_when_their_values_are(string one, string other, bool areEqual) =>
        Assert.Equal(
            areEqual,
            ReduceKey
                .Of(Encoding.UTF8.GetBytes(one))
                .ToArray()
                .AsSpan()
                .SequenceEqual(ReduceKey.Of(Encoding.UTF8.GetBytes(other)))
        );

    /// <summary>Members index documents in different orders, with the same results.</summary>
    [Theory]
    [InlineData(
        "results.GroupBy(r => new { r.k, r.j }).Select(g => new { g.Key.k, g.Key.j, n = g.Sum(x => x.n) })",
        """ "j":1 """,
        """ "k":null,"j":1.0 """,
        """{"k":null,"j":1,"n":2}"""
    )]
    [InlineData(
        "from r in results group r by new { r.k, r.j } into g let key = g.Key select new { key.k, key.j, n = "
            + "g.Sum(x => x.n) }",
        """ "j":"a" """,
        """ "k":null,"j":"\u0061" """,
        """{"k":null,"j":"a","n":2}"""
    )]
    [InlineData(
        "groupBy(r => ({ k: r.k, j: r.j })).aggregate(g => ({ k: g.key.k, j: g.key.j, n: g.values.reduce((n, "
            + "v) => n + v.n, 0) }))",
        """ "j":-0 """,
        """ "k":null,"j":0 """,
        """{"k":null,"j":0,"n":2}"""
    )]
    [InlineData(
        "groupBy(r => { const key = { k: r.k, j: r.j }; return key; }).aggregate(g => ({ k: g.key.k ?? null, "
            + "j: g.key.j, n: g.values.reduce((n, v) => n + v.n, 0) }))",
        """ "j":1 """,
        """ "k":null,"j":1 """,
        """{"k":null,"j":1,"n":2}"""
    )]
    [InlineData(
        "from r in results group r by new { p = new { r.k, r.j } } into g select new { g.Key.p.k, g.Key.p.j, n "
            + "= g.Sum(x => x.n) }",
        """ "j":1 """,
        """ "k":null,"j":1 """,
        """{"k":null,"j":1,"n":2}"""
    )]
    [InlineData(
        "from r in results group r by r.k into g select new { k = g.Key, j = 1, n = g.Sum(x => x.n) }",
        """ "j":1 """,
        """ "k":null,"j":1 """,
        """{"k":null,"j":1,"n":2}"""
    )]
    [InlineData(
        "from r in results group r by r.k into g select new { k = g.Key, j = 1, n = g.Sum(x => x.n) }",
        """ "k":1.0 """,
        """ "k":10e-1 """,
        """{"k":1,"j":1,"n":2}"""
    )]
    [InlineData(
        "from r in results group r by r.k into g select new { k = g.Key, j = 1, n = g.Sum(x => x.n) }",
        """ "k":[1,"a"] """,
        """ "k":[1.0,"\u0061"] """,
        """{"k":[1,"a"],"j":1,"n":2}"""
    )]
    [InlineData(
        "groupBy(r => r.k).aggregate(g => ({ k: g.key, j: 1, n: g.values.reduce((n, v) => n + v.n, 0) }))",
        """ "k":{"b":1,"a":"x"} """,
        """ "k":{"\u0061":"x","c":null,"b":1e0} """,
        """{"k":{"a":"x","b":1},"j":1,"n":2}"""
    )]
    [InlineData(
        "from r in results group r by r.k into g select new { k = g.Key, j = 1, n = g.Sum(x => x.n) }",
        """ "k":{"a":{"b":null},"c":[{"d":null}]} """,
        """ "k":{"c":[{}],"a":{}} """,
        """{"k":{"a":{},"c":[{}]},"j":1,"n":2}"""
    )]
    [InlineData(
        "groupBy(r => ({ k: { p: r.k } })).aggregate(g => ({ k: g.key.k.p, j: 1, "
            + "n: g.values.reduce((n, v) => n + v.n, 0) }))",
        """ "k":{"a":{"b":null}} """,
        """ "k":{"a":{}} """,
        """{"k":{"a":{}},"j":1,"n":2}"""
    )]
    public void The_row_of_a_group_is_the_same_whichever_of_its_documents_came_first(
        string reduce,
        string one,
        string other,
        string row
    )
    {
        foreach (
            string[] order in (string[][])
                [
                    [one, other],
                    [other, one],
                ]
        )
        {
            using var node = IndexedNode.New();
            node.Define(
                $$"""{"Maps":["from u in docs.Users select new { u.k, u.j, n = 1 }"],"Reduce":"{{reduce}}"}""",
                "a"
            );
            node.Put("users/1", order[0]);
            node.Put("users/2", order[1]);
            node.SettleAll();
            Assert.Equal([row], node.ReadRows("a"));
        }
    }

    [Theory]
    [InlineData("x.n")]
    [InlineData("(decimal)x.n")]
    public void A_sum_of_many_pages_is_the_same_whatever_the_order(string summand)
    {
        foreach (int first in (int[])[0, 1])
        {
            using var node = IndexedNode.New();
            node.Define(
                $$"""{"Maps":["from u in docs.Users select new { u.n, m = u.n }"],"Reduce":"from r in results group r by 1 into g select new { n = g.Sum(x => {{summand}}), m = g.Max(x => x.m) }"}""",
                "a"
            );
            foreach (int i in Enumerable.Range(0, 300).OrderBy(i => first == 0 ? i : -i))
            {
                node.Put($"users/{i}", $"\"n\":{(i % 3 == 0 ? "0.1" : i % 3 == 1 ? "9007199254740993" : "3e-1")}");
            }

            node.SettleAll();
            Assert.Equal(["""{"n":900719925474099340.0,"m":9007199254740993}"""], node.ReadRows("a"));
        }
    }

    [Theory]
    [InlineData("Sum")]
    [InlineData("Max")]
    [InlineData("Distinct")]
    public void A_double_added_to_a_decimal_fails_only_its_own_document(string method)
    {
        using var node = IndexedNode.New();
        node.Define(
            $$"""{"Maps":["from u in docs.Users select new { n = u.n.Select(x => x > 1 ? x : (decimal)x).{{method}}() }"]}""",
            "a"
        );
        node.Put("users/1", "\"n\":[0.5,1e300]");
        node.Put("users/2", "\"n\":[0.5]");
        node.SettleAll();
        Assert.Equal("users/1", Assert.Single(node.Host.ReadErrors(node.Database(), "a")).DocumentId);
        Assert.False(node.Status("a").IsStale);
    }

    [Fact]
    public void A_division_by_zero_or_by_null_is_an_error_of_the_document()
    {
        using var node = IndexedNode.New();
        node.Define(
            """{"Maps":["from u in docs.Users let x = 0 select new { q = u.none / x, n = 5 / u.age, r = 7 % u.age }"],"Fields":{"__all_fields":{"Storage":"Yes"}}}""",
            "a"
        );
        node.Put("users/1", "\"age\":2");
        node.Put("users/2", "\"age\":0");
        node.Put("users/3", "\"name\":\"a\"");
        node.Put("users/4", "\"age\":null");
        node.Put("users/5", "\"age\":0.0");
        node.SettleAll();
        Assert.Equal(["""{"q":null,"n":2,"r":1}"""], node.ReadRows("a"));
        Assert.Equal(
            ["users/2", "users/3", "users/4", "users/5"],
            node.Host.ReadErrors(node.Database(), "a").Select(static error => error.DocumentId)
        );
        Assert.All(
            node.Host.ReadErrors(node.Database(), "a").Take(3),
            static error => Assert.Contains("divides by", error.Message, StringComparison.Ordinal)
        );
        Assert.Contains("Infinity", node.Host.ReadErrors(node.Database(), "a")[3].Message, StringComparison.Ordinal);
    }

    /// <summary>
    /// In a page of rows without a paid order, 0/0 is computed, although the whole group has an average.
    /// </summary>
    [Theory]
    [InlineData(
        "map('Orders', o => ({ c: o.c, n: o.paid ? 1 : 0, t: o.paid ? o.t : 0, avg: o.t / o.none }))",
        "groupBy(r => r.c).aggregate(g => { var n = g.values.reduce((a, v) => a + v.n, 0); var t = "
            + "g.values.reduce((a, v) => a + v.t, 0); return { c: g.key, n: n, t: t, avg: t / n }; })",
        """{"c":"Ulm","n":4,"t":20,"avg":5}"""
    )]
    [InlineData(
        "from o in docs.Orders select new { o.c, n = o.paid ? 1.0 : 0.0, t = o.paid ? (double)o.t : 0.0, avg = 0.0 }",
        "from r in results group r by r.c into g let n = g.Sum(x => x.n) let t = g.Sum(x => x.t) select new "
            + "{ c = g.Key, n = n, t = t, avg = t / n }",
        """{"c":"Ulm","n":4.0,"t":20.0,"avg":5.0}"""
    )]
    public void NaN_in_a_member_that_the_reduce_does_not_read_is_null(string map, string reduce, string expected)
    {
        using var node = IndexedNode.New();
        node.Define($$"""{"Maps":["{{map}}"],"Reduce":"{{reduce}}"}""", "averages");
        for (int i = 0; i < 52; i++)
        {
            node.Put($"orders/{i:00}", $"\"c\":\"Ulm\",\"t\":5,\"paid\":{(i < 48 ? "false" : "true")}", "Orders");
        }

        node.SettleAll();
        Assert.Equal([expected], node.ReadRows("averages"));
        Assert.Empty(node.Host.ReadErrors(node.Database(), "averages"));
    }

    /// <summary>All members would end with it, and again at each start.</summary>
    [Fact]
    public void A_reduced_row_with_too_many_words_is_an_error_of_the_index()
    {
        const string Definition = """
            {"Maps":["from n in docs.Notes select new { n.k, n.text }"],
             "Reduce":"from r in results group r by r.k into g select new { k = g.Key, text = g.First().text }",
             "Fields":{"text":{"Indexing":"Search","Analyzer":"NGramAnalyzer"}}}
            """;
        var node = IndexedNode.New();
        node.Define(Definition, "notes");
        var random = new Random(20_261_129);
        string text = string.Concat(Enumerable.Range(0, 30_000).Select(_ => (char)('a' + random.Next(26))));
        node.Put("notes/1", $"\"k\":1,\"text\":\"{text}\"", "Notes");
        node.Put("notes/2", "\"k\":2,\"text\":\"short\"", "Notes");
        node.SettleAll();
        Assert.Equal(["""{"k":2,"text":"short"}"""], node.ReadRows("notes"));
        var error = Assert.Single(node.Host.ReadErrors(node.Database(), "notes"));
        Assert.Contains("A reduced row was not indexed", error.Message, StringComparison.Ordinal);
        node = node.Restart(powerLossSeed: 1);
        node.SettleAll();
        Assert.Equal(["""{"k":2,"text":"short"}"""], node.ReadRows("notes"));
        node.Dispose();
    }

    /// <summary>A map writes NaN as null, as JSON requires, and a reduce would add that as 0.</summary>
    [Fact]
    public void In_a_map_reduce_index_NaN_is_an_error_of_the_document()
    {
        using var node = IndexedNode.New();
        const string Map = "map('Users', u => ({ city: u.city, n: u.n * 2 }))";
        const string Reduce =
            "groupBy(r => r.city).aggregate(g => ({ city: g.key, n: g.values.reduce((n, v) => n + v.n, 0) }))";
        const string Quotient =
            "groupBy(r => r.city).aggregate(g => ({ city: g.key, n: g.values.reduce((n, v) => n + v.n, 1) / 0 }))";
        node.Define($$"""{"Maps":["{{Map}}"],"Reduce":"{{Reduce}}"}""", "sums");
        string commented = Reduce.Replace("v.n", "v./* n */n", StringComparison.Ordinal);
        node.Define($$"""{"Maps":["{{Map}}"],"Reduce":"{{commented}}"}""", "commented");
        node.Define("{\"Maps\":[\"" + Map + "\"],\"Fields\":{\"__all_fields\":{\"Storage\":\"Yes\"}}}", "rows");
        node.Define($$"""{"Maps":["{{Map}}"],"Reduce":"{{Quotient}}"}""", "quotients");
        node.Put("users/1", "\"city\":\"Ulm\",\"n\":2");
        node.Put("users/2", "\"city\":\"Ulm\"");
        node.SettleAll();
        Assert.Equal(["""{"city":"Ulm","n":4}"""], node.ReadRows("sums"));
        Assert.Equal(["""{"city":"Ulm","n":4}"""], node.ReadRows("commented"));
        var error = Assert.Single(node.Host.ReadErrors(node.Database(), "sums"));
        Assert.Equal("users/2", error.DocumentId);
        Assert.Contains("a number is NaN, which JSON does not have", error.Message, StringComparison.Ordinal);
        Assert.Contains("""{"city":"Ulm","n":null}""", node.ReadRows("rows"));
        Assert.Empty(node.ReadRows("quotients"));
        Assert.Contains(
            node.Host.ReadErrors(node.Database(), "quotients"),
            static one => one.Message.Contains("a number is Infinity", StringComparison.Ordinal)
        );
    }
}
