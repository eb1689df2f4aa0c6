using Rookery.Indexing.Reducing;

namespace Rookery.Indexing.Tests.Definitions;

/// <summary>Reduces make one row of each group.</summary>
public sealed class ReduceTextTests
{
    private const string Totals =
        "{\"name\":\"a\",\"count\":4,\"total\":4.5}\n{\"name\":\"B\",\"count\":1,\"total\":9}\n{\"name\":null,"
        + "\"count\":1,\"total\":0}";

    [Theory]
    [InlineData(
        "groupBy(x => x.name).aggregate(g => ({ name: g.key, count: g.values.reduce((c, v) => c + v.count, 0), "
            + "total: g.values.reduce((t, v) => t + v.total, 0) }))",
        Totals
    )]
    [InlineData(
        "groupBy(function (x) { return x.name; }).aggregate(function (g) { let n = 0, t = 0; for (const v of "
            + "g.values) { n += v.count; t += v.total; } return { name: g.key, count: n, total: t }; })",
        Totals
    )]
    [InlineData(
        "results.GroupBy(r => r.name).Select(g => new { name = g.Key, count = g.Sum(x => x.count), total = "
            + "g.Sum(x => x.total) })",
        Totals
    )]
    [InlineData(
        "from result in results group result by result.name into g select new { name = g.Key, count = g.Sum(x "
            + "=> x.count), total = g.Sum(x => (decimal)x.total) }",
        Totals
    )]
    [InlineData(
        "from r in results\n  group r by new { r.name } into g\n  let n = g.Sum(x => x.count)\n  select new { "
            + "g.Key.name, count = n, total = g.Select(x => x.total).Sum() }",
        Totals
    )]
    [InlineData(
        "results.GroupBy(r => r.name.ToLower()).Select(g => new { name = g.Key, max = g.Max(x => x.total), min "
            + "= g.Min(x => x.total), first = g.First().total })",
        "{\"name\":\"a\",\"max\":3,\"min\":1.5,\"first\":1.5}\n{\"name\":\"b\",\"max\":9,\"min\":9,"
            + "\"first\":9}\n{\"name\":null,\"max\":0,\"min\":0,\"first\":0}"
    )]
    public void Rows_of_a_group_are_reduced_to_one(string text, string reduced) =>
        Assert.Equal(
            reduced,
            DefinitionExample.Reduce(
                text,
                """{"name":"a","count":1,"total":1.5}""",
                """{"name":"B","count":1,"total":9}""",
                """{"name":"a","count":3,"total":3}""",
                """{"name":null,"count":1,"total":0}"""
            )
        );

    /// <summary>
    /// Numbers are added as <c>group by</c> and RavenDB add them: as decimals, even if the text has no cast.
    /// </summary>
    [Theory]
    [InlineData("g.Sum(x => x.v)", "0.1 0.1 0.1", "0.3")]
    [InlineData("g.Sum(x => (decimal)x.v)", "0.1 0.1 0.1", "0.3")]
    [InlineData("g.Select(x => x.v).Sum()", "0.1 0.2", "0.3")]
    [InlineData("Enumerable.Sum(g, x => x.v)", "1.5 1.5", "3.0")]
    [InlineData("g.Sum(x => (double)x.v)", "0.1 0.1 0.1", "0.3")]
    [InlineData("g.Sum(x => x.v)", "9007199254740993 9007199254740993 1", "18014398509481987")]
    [InlineData("g.Sum(x => (long)x.v)", "9007199254740993 9007199254740993 1.9", "18014398509481987")]
    [InlineData("g.Sum(x => x.v)", "9223372036854775807 9223372036854775807", "18446744073709551614")]
    [InlineData("g.Sum(x => x.v)", "9007199254740993 0.5", "9007199254740993.5")]
    [InlineData("g.Sum(x => x.v)", "1 null 2.25", "3.25")]
    [InlineData("g.Sum(x => (decimal)x.v) / 4", "10 0.1", "2.525")]
    [InlineData("g.Sum(x => x.v)", "1e300 1e300", "2e+300")]
    [InlineData("g.Sum(x => x.v)", "1e300 0.1 -1e300", "0.1")]
    [InlineData("g.Sum(x => x.v)", "1e308 1e308", "2e+308")]
    [InlineData("g.Max(x => x.v)", "9007199254740993 9007199254740992", "9007199254740993")]
    [InlineData("g.Min(x => x.v)", "1 1.0 1e0", "1")]
    [InlineData("g.Min(x => x.v)", "1e0 1.0 1", "1")]
    [InlineData("g.Max(x => (decimal)x.v)", "0.1 0.3 0.2", "0.3")]
    [InlineData("g.Sum(x => x.list.Average())", "[0.1,0.2]", "0.15")]
    public void Numbers_are_added_and_compared_exactly(string aggregate, string values, string result) =>
        Assert.Equal(
            $"{{\"k\":1,\"v\":{result}}}",
            DefinitionExample.Reduce(
                $"from r in results group r by r.k into g select new {{ k = g.Key, v = {aggregate} }}",
                [.. values.Split(' ').Select(static value => $$"""{"k":1,"v":{{value}},"list":{{value}}}""")]
            )
        );

    /// <summary>Clients write <c>let</c> as an object that holds the group.</summary>
    [Theory]
    [InlineData(
        "results.GroupBy(r => r.name).Select(g => new { g = g, n = g.Sum(x => x.count) }).Select(t => new { "
            + "name = t.g.Key, count = t.n, total = t.g.Sum(x => x.total) })"
    )]
    [InlineData(
        "results.GroupBy(r => r.name).Select(g => new { g, n = g.Sum(x => x.count) }).Select(t => new { t, m = "
            + "t.g.Sum(x => x.total) }).ToList().Select(u => new { name = u.t.g.Key, count = u.t.n, total = u.m })"
    )]
    [InlineData(
        "results.GroupBy(r => r.name).Select(g => new { a = new { b = g } }).Select(t => new { name = "
            + "t.a.b.Key, count = t.a.b.Sum(x => x.count), total = (from x in t.a.b select x.total).Sum() })"
    )]
    [InlineData(
        "from r in results group r by r.name into g let h = g let key = h.Key select new { name = key, count = "
            + "h.Sum(x => x.count), total = Enumerable.Sum(h, x => x.total) }"
    )]
    [InlineData(
        "from r in results group r by r.name into g let t = new { g = g, n = g.Sum(x => x.count) } select new "
            + "{ name = t.g.Key, count = t.n, total = t.g.Sum(x => x.total) }"
    )]
    [InlineData(
        "from r in results group r by new { r.name } into g let k = g.Key select new { k.name, count = "
            + "g.Select(g => g.count).Sum(), total = ((IEnumerable<dynamic>)g).Sum(x => x.total) }"
    )]
    [InlineData(
        "results.GroupBy(r => r.name).Select(g => g).Select(h => new { name = h.Key, count = h.Sum(x => "
            + "x.count), total = h.ToArray().Sum(x => x.total) })"
    )]
    [InlineData(
        "groupBy(r => r.name).aggregate(g => { const h = g; const o = { h }; return { name: o.h.key, count: "
            + "h.values.reduce((n, v) => n + v.count, 0), total: o.h.values.reduce((n, v) => n + v.total, 0) }; })"
    )]
    public void An_assigned_group_has_its_key_and_its_rows(string text) =>
        Rows_of_a_group_are_reduced_to_one(text, Totals);

    [Theory]
    [InlineData("Enumerable.Sum(g, x => x.count)", "Enumerable.Sum(Enumerable.Select(g, x => x.total))")]
    [InlineData(
        "System.Linq.Enumerable.Sum<dynamic>(g, (Func<dynamic, int>)(x => x.count))",
        "DynamicEnumerable.Sum(g, x => x.total)"
    )]
    [InlineData(
        "Enumerable.Aggregate(g, 0, (n, x) => n + x.count)",
        "Enumerable.ToArray(Enumerable.Where(g, x => x.total != null)).Sum(x => x.total)"
    )]
    public void Methods_of_sequences_are_called_on_their_type_too(string count, string total) =>
        Rows_of_a_group_are_reduced_to_one(
            $"results.GroupBy(r => r.name).Select(g => new {{ name = g.Key, count = {count}, total = {total} }})",
            Totals
        );

    [Fact]
    public void Functions_may_be_declared_before_the_reduce() =>
        Assert.Equal(
            """{"name":"A","count":3}""",
            DefinitionExample.Reduce(
                "function up(t) { return t.toUpperCase() } function sum(rows) { return rows.reduce((n, v) => n + v.count, "
                    + "0) } groupBy(x => up(x.name)).aggregate(g => ({ name: g.key, count: sum(g.values) }))",
                """{"name":"a","count":2}""",
                """{"name":"A","count":1}"""
            )
        );

    [Fact]
    public void Members_set_directly_on_the_row_are_kept_and_those_that_a_callback_sets_make_the_reduce_fail()
    {
        const string Row = """{"name":"a","count":2}""";
        Assert.Equal(
            Row,
            DefinitionExample.Reduce(
                "groupBy(x => x.name).aggregate(g => { const r = { name: g.key }; r.count = g.values.reduce((c, v) => c + "
                    + "v.count, 0); return r; })",
                Row
            )
        );
        Assert.StartsWith(
            "The reduce adds the member 'count' to its row",
            Assert
                .Throws<ReduceException>(() =>
                    DefinitionExample.Reduce(
                        "groupBy(x => x.name).aggregate(g => { const r = { name: g.key }; [r].forEach(q => { q.count = 1 "
                            + "}); return r; })",
                        Row
                    )
                )
                .Message,
            StringComparison.Ordinal
        );
    }

    [Fact]
    public void A_reduce_still_runs_after_a_large_group()
    {
        string large = $$"""{"name":"a","count":1,"text":"{{new string('x', 100_000)}}"}""";
        Assert.Equal(
            "{\"name\":\"a\",\"count\":2}\n{\"name\":\"b\",\"count\":1}",
            DefinitionExample.Reduce(
                "groupBy(x => x.name).aggregate(g => ({ name: g.key, count: g.values.reduce((c, v) => c + "
                    + "v.count, 0) }))",
                large,
                large,
                """{"name":"b","count":1}"""
            )
        );
    }
}
