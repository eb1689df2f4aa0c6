using Rookery.Indexing.Definitions;

namespace Rookery.Indexing.Tests.Definitions;

/// <summary>
/// A reduce whose result depends on pages of rows is rejected when it is defined, with the member that shows it; common
/// reduces are accepted.
/// </summary>
public sealed class ReduceTrialTests
{
    private const string Fault = "'c' of the reduce depends on how often its rows are reduced";

    [Theory]
    [InlineData("let v = g.Select(x => x.c)", "v.Count()")]
    [InlineData("let v = g.Select(x => x.c)", "v.Average()")]
    [InlineData("let v = g.ToList()", "v.Count()")]
    [InlineData("let v = g.ToList()", "v.Count")]
    [InlineData("let v = g.Where(x => x.c < 9)", "v.Sum(x => x.c)")]
    [InlineData("", "(from x in g select x.c).Count()")]
    [InlineData("", "g.SelectMany(x => new[] { x.c }).Count()")]
    [InlineData("", "g.DefaultIfEmpty().Count()")]
    [InlineData("", "(int)g.Sum(x => x.c)")]
    [InlineData("", "g.Sum(x => 1)")]
    [InlineData("", "g.Sum(x => x.c + 1)")]
    [InlineData("", "g.Sum(x => x.c * x.c)")]
    [InlineData("", "g.Where(x => x.c < 3).Sum(x => x.c)")]
    [InlineData("", "g.Where(x => x.c < 1000).Sum(x => x.c)")]
    [InlineData("", "g.Max(x => x.c) - g.Min(x => x.c)")]
    [InlineData("", "g.Aggregate(0, (n, x) => n + 1)")]
    [InlineData("", "g.Select(x => x.c)")]
    [InlineData("", "string.Join(\"; \", g.Select(x => x.o + x.c))")]
    [InlineData("", "g")]
    [InlineData("", "Math.Round(g.Sum(x => x.c), 1)")]
    public void A_reduce_of_csharp_whose_member_depends_on_pages_is_refused(string let, string member) =>
        Assert.Contains(Fault, FaultOf(CSharp($"c = {member}", let)), StringComparison.Ordinal);

    [Theory]
    [InlineData("g.values.length")]
    [InlineData("g.values.map(v => v.c)")]
    [InlineData("g.values.filter(v => v.c > 1).length")]
    [InlineData("g.values.reduce((n, v) => n + 1, 0)")]
    [InlineData("g.values.reduce((n, v) => n + v.c, 0) / g.values.length")]
    [InlineData("g.values.reduce((n, v) => n + v.c, 5)")]
    [InlineData("g.values")]
    [InlineData("g.key + g.values.length")]
    [InlineData("g.values.some(v => v.c > 4)")]
    public void A_reduce_of_JavaScript_whose_member_depends_on_pages_is_refused(string member) =>
        Assert.Contains(
            Fault,
            FaultOf($"groupBy(r => r.o).aggregate(g => ({{ o: g.key, c: {member} }}))"),
            StringComparison.Ordinal
        );

    /// <summary>
    /// The fault shows only on rows whose least, greatest or first value is the literal of the condition.
    /// </summary>
    [Theory]
    [InlineData("c = g.Where(x => x.t != \"zz7\").Sum(x => x.c), t = g.Min(x => x.t)")]
    [InlineData("c = g.Where(x => x.t != \"zz7\").Sum(x => x.c), t = g.Max(x => x.t)")]
    [InlineData("c = g.Where(x => x.t != \"zz7\").Sum(x => x.c), t = g.First().t")]
    [InlineData("c = g.Where(x => x.t != \"zz\" + \"7\").Sum(x => x.c), t = g.Min(x => x.t)")]
    [InlineData("c = g.Sum(x => x.t == \"zz3\" ? 5 : x.c), t = g.Min(x => x.t)")]
    [InlineData("c = g.Sum(x => x.t.StartsWith(\"zz1\") ? 0 : x.c), t = g.Min(x => x.t)")]
    [InlineData("c = g.Sum(x => x.t.EndsWith(\"zz1\") ? 0 : x.c), t = g.Max(x => x.t)")]
    [InlineData("c = g.Sum(x => x.t.Contains(\"zz1\") ? x.c : 0), t = g.Max(x => x.t)")]
    [InlineData("c = g.Sum(x => x.t.ToLower() == \"open\" ? 0 : x.c), t = g.Max(x => x.t)")]
    [InlineData("c = g.Sum(x => x.t.Substring(0, 3) == \"zz1\" ? 0 : x.c), t = g.Min(x => x.t)")]
    [InlineData("c = g.Sum(x => x.t.Split('/')[1] == \"zz1\" ? 0 : x.c), t = g.Min(x => x.t)")]
    [InlineData("c = g.Sum(x => x.t.Length > 200 ? 0 : x.c), t = g.Min(x => x.t)")]
    [InlineData("c = g.Sum(x => x.t.Length < 200 ? 0 : x.c), t = g.Max(x => x.t)")]
    [InlineData("c = g.Sum(x => x.d == \"2024-01-07T00:00:00\" ? 0 : x.c), d = g.Min(x => x.d)")]
    [InlineData("c = g.Sum(x => x.d < new DateTime(2024, 1, 7) ? 0 : x.c), d = g.Min(x => x.d)")]
    [InlineData("c = g.Sum(x => x.d.Year == 2019 ? 0 : x.c), d = g.Min(x => x.d)")]
    [InlineData("c = g.Sum(x => x.d.Month == 5 ? 0 : x.c), d = g.Max(x => x.d)")]
    [InlineData("c = g.Sum(x => x.b == true ? 0 : x.c), p = 1, q = 2, b = g.Any(x => x.b)")]
    [InlineData("c = g.Sum(x => x.d == null ? 0 : x.c), d = g.First().d")]
    [InlineData("c = g.Sum(x => x.n == 1500000 ? 0 : x.c), n = g.Max(x => x.n)")]
    [InlineData("c = g.Sum(x => x.n == -77 ? 0 : x.c), n = g.Min(x => x.n)")]
    [InlineData("c = g.Sum(x => x.a.Contains(\"k\") ? 0 : x.c), a = g.SelectMany(x => x.a).Distinct()")]
    [InlineData("c = g.Sum(x => x.a.Count() < 7 ? x.c : 0), a = g.SelectMany(x => x.a).Distinct()")]
    [InlineData("c = g.Sum(x => x.t.State == \"zz7\" ? 0 : x.c), t = g.First().t")]
    [InlineData("c = g.Sum(x => x.a.Any(l => l.State == \"zz7\") ? 0 : x.c), a = g.SelectMany(x => x.a)")]
    [InlineData(
        "c = g.Any(x => x.t == \"zz7\" && x.n != null) ? \"yes\" : \"no\", t = g.Max(x => x.t), n = g.Sum(x => x.n)"
    )]
    [InlineData("c = g.Sum(x => x.s == \"zz7\" && x.t == \"kk2\" ? 0 : x.c), s = g.Min(x => x.s), t = g.Min(x => x.t)")]
    public void A_reduce_of_csharp_whose_condition_meets_its_literal_is_refused(string members) =>
        Assert.Contains(Fault, FaultOf(CSharp(members)), StringComparison.Ordinal);

    [Theory]
    [InlineData("v.t !== 'open'", "g.values.reduce((m, v) => m > v.t ? m : v.t, '')")]
    [InlineData("v.t !== `open`", "g.values.reduce((m, v) => m > v.t ? m : v.t, '')")]
    [InlineData("v.t.startsWith('op')", "g.values[0].t")]
    [InlineData("v.t.length < 20", "g.values.reduce((m, v) => m > v.t ? m : v.t, '')")]
    [InlineData("v.t !== null", "g.values[0].t")]
    [InlineData("v.t.state !== 'open'", "g.values[0].t")]
    public void A_reduce_of_JavaScript_whose_condition_meets_its_literal_is_refused(string condition, string member) =>
        Assert.Contains(
            Fault,
            FaultOf(
                $"groupBy(r => r.o).aggregate(g => ({{ o: g.key, t: {member}, "
                    + $"c: g.values.filter(v => {condition}).reduce((n, v) => n + v.c, 0) }}))"
            ),
            StringComparison.Ordinal
        );

    [Theory]
    [InlineData("g.Sum(x => x.c.Average())")]
    [InlineData("g.Where(x => x.c == \"left\").Select(x => 2).Sum()")]
    [InlineData("g.Any(x => x.c > 4)")]
    [InlineData("g.SelectMany(x => x.c).Sum()")]
    public void A_reduce_that_fails_on_its_own_rows_is_refused(string member) =>
        Assert.StartsWith(
            "The reduce fails on its own results. ",
            FaultOf(CSharp($"c = {member}")),
            StringComparison.Ordinal
        );

    [Theory]
    [InlineData("c = g.Sum(x => x.c)")]
    [InlineData("c = g.Sum(x => (double)x.c)")]
    [InlineData("c = g.Max(x => x.c), d = g.Min(x => x.d)")]
    [InlineData("c = g.First().c, d = g.Sum(x => x.d)")]
    [InlineData("c = g.Select(x => x.c).FirstOrDefault(), d = g.Last().d")]
    [InlineData("c = g.FirstOrDefault(x => x.c != null).c")]
    [InlineData("sum = g.Sum(x => x.sum), n = g.Sum(x => x.n), c = g.Sum(x => x.sum) / g.Sum(x => x.n)")]
    [InlineData(
        "sum = g.Sum(x => x.sum), n = g.Sum(x => x.n), c = g.Sum(x => x.n) == 0 ? 0 : g.Sum(x => x.sum) "
            + "/ g.Sum(x => x.n)"
    )]
    [InlineData("c = g.SelectMany(x => x.c).Distinct()")]
    [InlineData("c = g.SelectMany(x => x.c).Distinct().ToArray(), d = g.SelectMany(x => x.c).Distinct().Count()")]
    [InlineData("c = g.SelectMany(x => x.c)")]
    [InlineData("c = g.SelectMany(x => x.c).OrderByDescending(l => l.Price).Take(3)")]
    [InlineData("date = g.Max(x => x.date), c = g.OrderBy(x => x.date).Last().c")]
    [InlineData("date = g.Max(x => x.date), c = g.OrderByDescending(x => x.date).First().c")]
    [InlineData("date = g.Max(x => x.date), c = g.Max(x => x.date).Year")]
    [InlineData("c = g.Where(x => x.o == \"left\").Sum(x => x.c)")]
    [InlineData("c = g.Where(x => x.c != null).Select(x => x.c).FirstOrDefault()")]
    [InlineData("c = g.Key == null ? 0 : g.Sum(x => x.c)")]
    [InlineData("c = g.First().c.ToUpper(), n = g.Sum(x => x.n)")]
    [InlineData("c = g.Where(x => x.c > 1).Sum(x => x.c), n = g.Sum(x => (int)x.n)")]
    [InlineData("c = g.Any(x => x.c)")]
    [InlineData("c = g.Sum(x => x.c ?? 0)")]
    [InlineData("c = g.Aggregate(0, (n, x) => n + x.c)")]
    [InlineData("c = (g ?? null).Sum(x => x.c)")]
    [InlineData("t = g.Any(x => x.t == \"failed\") ? \"failed\" : \"ok\", c = g.Sum(x => x.c)")]
    [InlineData("t = g.Max(x => x.t), c = g.Max(x => x.t).StartsWith(\"zz7\") ? \"yes\" : \"no\"")]
    [InlineData("c = g.Sum(x => x.c), n = g.Sum(x => x.c) > 100 ? \"many\" : \"few\"")]
    [InlineData("d = g.Max(x => x.d), c = g.Max(x => x.d) < new DateTime(2024, 1, 7)")]
    [InlineData("c = g.Select(x => x.c).FirstOrDefault(n => n != null && n != \"\")")]
    [InlineData("t = g.Min(x => x.t), c = g.Where(x => x.o != \"left\").Sum(x => x.c)")]
    public void A_common_CSharp_reduce_is_accepted(string members) => Assert.Null(FaultOf(CSharp(members)));

    [Theory]
    [InlineData(
        "results.GroupBy(x => new { x.Company, x.Year }).Select(g => new { g.Key.Company, g.Key.Year, "
            + "Total = g.Sum(x => x.Total), Count = g.Sum(x => x.Count), Average = g.Sum(x => x.Total) / "
            + "g.Sum(x => x.Count) })"
    )]
    [InlineData(
        "from r in results group r by r.Name.ToLower() into g select new { Name = g.Key, Count = "
            + "g.Sum(x => x.Count) }"
    )]
    [InlineData(
        "from r in results group r by new { r.At.Year, r.At.Month } into g select new { At = "
            + "g.First().At, Count = g.Sum(x => x.Count) }"
    )]
    [InlineData("groupBy(x => x.k).aggregate(g => ({ k: g.key, n: g.values.reduce((s, v) => s + v.n, 0) }))")]
    [InlineData(
        "groupBy(x => x.k).aggregate(g => ({ k: g.key, n: g.values.reduce((s, v) => s + (v.n || 0), 0), "
            + "max: g.values.reduce((m, v) => Math.max(m, v.max), 0) }))"
    )]
    [InlineData(
        "groupBy(x => ({ k: x.k, j: x.j })).aggregate(g => ({ k: g.key.k, j: g.key.j, name: "
            + "g.values[0].name, n: g.values.reduce((s, v) => v.n + s, 0) }))"
    )]
    [InlineData(
        "groupBy(x => x.k).aggregate(g => { let n = 0; for (const v of g.values) { n += v.n; } return { "
            + "k: g.key, n }; })"
    )]
    [InlineData(
        "groupBy(x => x.k).aggregate(function (g) { var n = 0; for (var i = 0; i < g.values.length; i++) { "
            + "n += g.values[i].n; } return { k: g.key, n: n }; })"
    )]
    [InlineData(
        "groupBy(x => x.k).aggregate(g => { const n = g.values.reduce((s, v) => s + v.n, 0), t = "
            + "g.values.reduce((s, v) => s + v.t, 0); return { k: g.key, n, t, average: t / n }; })"
    )]
    [InlineData(
        "groupBy(x => x.k).aggregate(g => ({ k: g.key, last: g.values.reduce((l, v) => v.last > l ? "
            + "v.last : l, '') }))"
    )]
    public void A_common_reduce_of_either_language_is_accepted(string reduce) => Assert.Null(FaultOf(reduce));

    [Theory]
    [InlineData("// last\n")]
    [InlineData("/* from results */ ")]
    [InlineData("\uFEFF")]
    [InlineData(" \n// from\n/* results */\t")]
    public void A_reduce_after_a_comment_is_tried_in_its_own_language(string before)
    {
        string reduce =
            before
            + "groupBy(x => x.k).aggregate(g => ({ k: g.key, d: g.values.reduce((l, v) => "
            + "v.d > l ? v.d : l, ''), none: `n${'one'}`, c: g.values.length }))";
        Assert.Contains(Fault, FaultOf(reduce), StringComparison.Ordinal);
        Assert.Null(FaultOf(reduce.Replace(", c: g.values.length", "", StringComparison.Ordinal)));
    }

    [Theory]
    [InlineData("c = g.Select(x => x.c).FirstOrDefault(n => n != null) ?? \"Unknown\"")]
    [InlineData("c = Math.Max(0, g.Sum(x => x.c))")]
    [InlineData("c = Math.Min(9, g.Sum(x => x.c))")]
    [InlineData("c = g.Sum(x => x.c) < 0 ? 0 : g.Sum(x => x.c)")]
    public void A_reduce_that_replaces_a_value_of_a_partial_result_is_refused(string members) =>
        Assert.Contains(Fault, FaultOf(CSharp(members)), StringComparison.Ordinal);

    [Fact]
    public void A_reduce_that_replaces_an_empty_text_of_a_partial_result_is_refused() =>
        Assert.Contains(
            Fault,
            FaultOf(
                "groupBy(r => r.o).aggregate(g => ({ o: g.key, "
                    + "c: g.values.reduce((n, v) => n || v.c, null) || 'none' }))"
            ),
            StringComparison.Ordinal
        );

    [Theory]
    [InlineData("group r by new { r.a, r.b } into g select new { a = g.Key.b, b = g.Key.a, n = g.Sum(x => x.n) }")]
    [InlineData(
        "group r by new { p = r.a, q = r.b } into g select new { a = g.Key.q, b = g.Key.p, " + "n = g.Sum(x => x.n) }"
    )]
    [InlineData("group r by new { r.a, r.b } into g select new { a = g.Key, b = g.Key.b, n = g.Sum(x => x.n) }")]
    [InlineData("group r by r.a.City into g select new { a = g.Key, n = g.Sum(x => x.n) }")]
    [InlineData("group r by r.a.City into g select new { a = g.Key, n = g.Sum(x => x.n), m = g.Max(x => x.m) }")]
    [InlineData("group r by r.a.City.Name into g select new { a = g.Key, n = g.Sum(x => x.n) }")]
    [InlineData("group r by r.a[0] into g select new { a = g.Key, n = g.Sum(x => x.n) }")]
    [InlineData("group r by r.a.Length into g select new { a = g.Key, n = g.Sum(x => x.n) }")]
    [InlineData("group r by r.a.Substring(1) into g select new { a = g.Key, n = g.Sum(x => x.n) }")]
    [InlineData("group r by new { r.a.City, r.b } into g select new { a = g.Key.City, g.Key.b, n = g.Sum(x => x.n) }")]
    [InlineData("group r by r.a into g select new { a = 1, n = g.Sum(x => x.n) }")]
    [InlineData("group r by r.a % 3 into g select new { a = g.Key + 1, n = g.Sum(x => x.n) }")]
    public void A_reduce_whose_row_has_another_key_is_refused(string reduce) =>
        Assert.NotNull(FaultOf("from r in results " + reduce));

    [Theory]
    [InlineData("group r by new { r.a, r.b } into g select new { g.Key.a, g.Key.b, n = g.Sum(x => x.n) }")]
    [InlineData(
        "group r by new { p = r.a, q = r.b } into g select new { a = g.Key.p, b = g.Key.q, " + "n = g.Sum(x => x.n) }"
    )]
    [InlineData("group r by r.a into g select new { a = g.Key, n = g.Sum(x => x.n) }")]
    [InlineData("group r by 1 into g select new { n = g.Sum(x => x.n) }")]
    public void A_reduce_that_adds_up_under_its_own_key_needs_no_trial(string reduce) =>
        Assert.True(IndexScript.CompileReduce("from r in results " + reduce).Plain!.CanReduceAgain);

    [Fact]
    public void The_error_for_a_cast_of_a_sum_names_the_accepted_form()
    {
        string? fault = FaultOf(CSharp("c = (int)g.Sum(x => x.c)"));
        Assert.Contains("'g.Sum(x => (int)x.Count)'", fault, StringComparison.Ordinal);
        Assert.Null(FaultOf(CSharp("c = g.Sum(x => (int)x.c)")));
    }

    private static string CSharp(string members, string let = "") =>
        $"from r in results group r by r.o into g {let} select new {{ o = g.Key, {members} }}";

    private static string? FaultOf(string reduce) => ReduceTrial.FindFault(IndexScript.CompileReduce(reduce), reduce);
}
