namespace Rookery.Indexing.Tests.Definitions;

/// <summary>Texts of reduces make one row of each group.</summary>
public sealed class ReduceTextTests
{
    private const string Totals = "{\"name\":\"a\",\"count\":4,\"total\":4.5}\n{\"name\":\"B\",\"count\":1,\"total\":9}\n{\"name\":null,\"count\":1,\"total\":0}";

    [Theory]
    [InlineData("groupBy(x => x.name).aggregate(g => ({ name: g.key, count: g.values.reduce((c, v) => c + v.count, 0), total: g.values.reduce((t, v) => t + v.total, 0) }))", Totals)]
    [InlineData("groupBy(function (x) { return x.name; }).aggregate(function (g) { let n = 0, t = 0; for (const v of g.values) { n += v.count; t += v.total; } return { name: g.key, count: n, total: t }; })", Totals)]
    [InlineData("results.GroupBy(r => r.name).Select(g => new { name = g.Key, count = g.Sum(x => x.count), total = g.Sum(x => x.total) })", Totals)]
    [InlineData("from result in results group result by result.name into g select new { name = g.Key, count = g.Sum(x => x.count), total = g.Sum(x => (decimal)x.total) }", Totals)]
    [InlineData("from r in results\n  group r by new { r.name } into g\n  let n = g.Sum(x => x.count)\n  select new { g.Key.name, count = n, total = g.Select(x => x.total).Sum() }", Totals)]
    [InlineData("results.GroupBy(r => r.name.ToLower()).Select(g => new { name = g.Key, max = g.Max(x => x.total), min = g.Min(x => x.total), avg = g.Average(x => x.total), n = g.Count(), first = g.First().total })",
        "{\"name\":\"a\",\"max\":3,\"min\":1.5,\"avg\":2.25,\"n\":2,\"first\":1.5}\n{\"name\":\"b\",\"max\":9,\"min\":9,\"avg\":9,\"n\":1,\"first\":9}\n{\"name\":null,\"max\":0,\"min\":0,\"avg\":0,\"n\":1,\"first\":0}")]
    public void Rows_of_a_group_become_one(string text, string reduced) => Assert.Equal(
        reduced,
        DefinitionExample.Reduce(text, """{"name":"a","count":1,"total":1.5}""", """{"name":"B","count":1,"total":9}""", """{"name":"a","count":3,"total":3}""", """{"name":null,"count":1,"total":0}"""));

    [Fact]
    public void A_large_group_does_not_take_the_reduce_along()
    {
        string large = $$"""{"name":"a","count":1,"text":"{{new string('x', 100_000)}}"}""";
        Assert.Equal(
            "{\"name\":\"a\",\"count\":2}\n{\"name\":\"b\",\"count\":1}",
            DefinitionExample.Reduce("groupBy(x => x.name).aggregate(g => ({ name: g.key, count: g.values.reduce((c, v) => c + v.count, 0) }))", large, large, """{"name":"b","count":1}"""));
    }
}
