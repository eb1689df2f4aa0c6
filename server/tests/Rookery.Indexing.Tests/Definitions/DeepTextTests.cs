using Rookery.Fixtures;
using Rookery.Indexing.Definitions;
using Rookery.Scripting.Syntax;

namespace Rookery.Indexing.Tests.Definitions;

/// <summary>
/// Texts whose syntax trees would be as deep as a text is long, and texts that define each variable by the one before,
/// overflow no stack.
/// </summary>
public sealed class DeepTextTests
{
    [Theory]
    [InlineData("map('X', d => ", "d||", 21_000, "d)")]
    [InlineData("map('X', d => ({ a: d", ".a", 32_000, " }))")]
    [InlineData("map('X', d => ({ a: d", "[0]", 21_000, " }))")]
    [InlineData("map('X', d => d", ".filter(x => x)", 4_000, ")")]
    [InlineData("map('X', d => { let a = {n: 1}; return a", "&&a", 21_000, " })")]
    [InlineData("map('X', d => { return (f => { return f", "+f", 30_000, " }) })")]
    [InlineData("docs.X.Select(d => d", "-d", 32_000, ")")]
    [InlineData("from d in docs.X let x = d", "-d", 32_000, " select new { x }")]
    [InlineData("from d in docs.X let x = d", "*d", 32_000, " select new { x }")]
    [InlineData("from d in docs.X let x = d", "??d", 20_000, " select new { x }")]
    [InlineData("from d in docs.X let x = d", "==d", 20_000, " select new { x }")]
    [InlineData("from d in docs.X let x = d", " is null", 8_000, " select new { x }")]
    [InlineData("from d in docs.X select new { x = d", ".a", 32_000, " }")]
    [InlineData("from d in docs.X select new { x = d", "?.Trim()", 7_000, " }")]
    [InlineData("from d in docs.X ", "where d ", 8_000, "select new { x = 1 }")]
    [InlineData("from d in docs.X ", "let y=d ", 8_000, "select new { x = 1 }")]
    [InlineData("from d in docs.X ", "from y in d ", 5_000, "select new { x = 1 }")]
    [InlineData("docs.X", ".Select(d => d)", 4_000, "")]
    [InlineData("docs.X.Select(d => new { x = d", ".Distinct()", 5_000, ".Count })")]
    [InlineData("docs.X.Select(d => new { x = d", ".Where(e => e)", 4_000, ".Count })")]
    [InlineData("docs.X.Select(d => new { x = d", ".OrderBy(e => e)", 4_000, ".Count })")]
    public void A_map_that_chains_too_many_operations_is_refused(string start, string link, int links, string end) =>
        Refuse(() => IndexScript.CompileMap(start + string.Concat(Enumerable.Repeat(link, links)) + end));

    [Theory]
    [InlineData("from r in results group r by r.a into g let x = g", " ?? g", 12_000, " select new { x.Key }")]
    [InlineData("from r in results group r by r.a into g select new { a = g", ".Distinct()", 5_000, ".Count }")]
    [InlineData("from r in results group r by r.a into g select new { a = g", ".Select(x => x)", 4_000, ".Count() }")]
    [InlineData("from r in results group r by r", "-r", 32_000, " into g select new { a = g.Key }")]
    [InlineData("from r in results group r by r.a into g ", "let y=g ", 8_000, "select new { a = g.Key }")]
    [InlineData("results.GroupBy(r => r", "-r", 32_000, ").Select(g => new { a = g.Key })")]
    [InlineData("groupBy(r => r", "||r", 21_000, ").aggregate(g => ({ a: g.key }))")]
    [InlineData("groupBy(r => r.a).aggregate(g => ({ a: g", "||g", 21_000, " }))")]
    public void A_reduce_that_chains_too_many_operations_is_refused(string start, string link, int links, string end) =>
        Refuse(() => IndexScript.CompileReduce(start + string.Concat(Enumerable.Repeat(link, links)) + end));

    [Fact]
    public void Variables_that_are_each_defined_by_the_one_before_are_refused_beyond_a_thousand()
    {
        const int Variables = 3_000;
        string chain = string.Concat(Enumerable.Range(1, Variables).Select(static i => $"let v{i}=v{i - 1};"));
        Refuse(() => IndexScript.CompileMap($"map('X', d => {{ let v0 = {{ a: 1 }}; {chain} return v{Variables} }})"));
        Refuse(() =>
            IndexScript.CompileReduce(
                "groupBy(r => r.a).aggregate(g => { " + $"let v0 = {{ a: g.key }}; {chain} return v{Variables} }})"
            )
        );
    }

    /// <summary>Each variable alone is short enough, and their values together are one chain.</summary>
    [Theory]
    [InlineData(".x")]
    [InlineData("||1")]
    [InlineData("??0")]
    public void Variables_that_continue_one_chain_run_in_the_interpreter(string link)
    {
        const int Variables = 80;
        string links = string.Concat(Enumerable.Repeat(link, 230));
        string chain = string.Concat(Enumerable.Range(1, Variables).Select(i => $"const v{i}=v{i - 1}{links};"));
        SmallStackThread.Run(() =>
        {
            var map = IndexScript.CompileMap(
                $"map('X', d => {{ const v0 = d.a; {chain} return {{ a: v{Variables} }} }})"
            );
            Assert.Null(map.Plain);
        });
    }

    [Fact]
    public void Values_of_interpolated_texts_count_as_nested_in_their_text()
    {
        string text = "d.a";
        for (int level = 0; level < 8; level++)
        {
            text = new string('(', 20) + "$\"{" + text + "}\"" + new string(')', 20);
        }

        Refuse(() => IndexScript.CompileMap("from d in docs.X select new { x = " + text + " }"));
    }

    [Fact]
    public void Chains_within_the_limit_compile()
    {
        string links = string.Concat(Enumerable.Repeat(".Where(e => e > 0)", 80));
        SmallStackThread.Run(() =>
        {
            IndexScript.CompileMap($"docs.X.Select(d => new {{ x = d.a{links}.Count() }})");
            IndexScript.CompileMap($"map('X', d => ({{ x: d.a{string.Concat(Enumerable.Repeat("||d.b", 240))} }}))");
        });
    }

    private static void Refuse(Action compile) =>
        Assert.Equal(ScriptFault.TooLarge, Assert.Throws<ScriptException>(() => SmallStackThread.Run(compile)).Fault);
}
