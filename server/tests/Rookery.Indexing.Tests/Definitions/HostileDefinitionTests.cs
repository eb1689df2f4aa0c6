using System.Buffers;
using System.Globalization;
using System.Text;
using Rookery.Indexing.Definitions;
using Rookery.Indexing.Reducing;
using Rookery.Platform;
using Rookery.Scripting.Running;
using Rookery.Scripting.Syntax;

namespace Rookery.Indexing.Tests.Definitions;

/// <summary>Compiling any text gives a program or an error, and no program exceeds its limits.</summary>
public sealed class HostileDefinitionTests
{
    private const string Document =
        """{"name":"Ann Lee","age":41,"none":null,"tags":["a","B"],"lines":[{"p":"x","q":2},{"p":"y","q":null}],"o":{"a":{"b":1}},"@metadata":{"@collection":"Users"}}""";

    // Random texts consist of these words and signs of both languages, and of some that neither language has.
    private static readonly string[] Pieces =
    [
        "from",
        "in",
        "docs",
        "Users",
        "results",
        "where",
        "let",
        "select",
        "group",
        "by",
        "into",
        "new",
        "{",
        "}",
        "(",
        ")",
        "[",
        "]",
        ".",
        ",",
        ";",
        "=>",
        "=",
        "==",
        "!=",
        "<",
        ">",
        "<=",
        ">>",
        "?",
        ":",
        "??",
        "?.",
        "+",
        "-",
        "*",
        "/",
        "%",
        "!",
        "&&",
        "||",
        "u",
        "g",
        "x",
        "name",
        "lines",
        "Key",
        "Select",
        "SelectMany",
        "Where",
        "GroupBy",
        "Sum",
        "Count",
        "First",
        "ToLower",
        "LoadDocument",
        "string",
        "int",
        "Func",
        "\"a\"",
        "'b'",
        "@\"c\"",
        "1",
        "1.5m",
        "null",
        "true",
        "map",
        "groupBy",
        "aggregate",
        "function",
        "return",
        "const",
        "for",
        "of",
        "if",
        "else",
        "`${u}`",
        "...",
        "//",
        "/*",
        "*/",
        "\n",
        "$",
        "#",
        "é",
        "\0",
        "\ud800",
    ];

    [Theory]
    [InlineData("docs.Users.Select(u => new { a = ", "(", "1", ")", " })")]
    [InlineData("docs.Users.Select(u => new { a = ", "!", "u", "", " })")]
    [InlineData("docs.Users.Select(u => new { a = ", "(int)", "u", "", " })")]
    [InlineData("docs.Users.Select(u => new { a = ", "new { a = ", "1", " }", " })")]
    [InlineData("docs.Users.Select(u => new { a = ", "new[] { ", "1", " }", " })")]
    [InlineData("docs.Users.Select(u => new { a = u", ".Select(x => x", "", ")", " })")]
    [InlineData("docs.Users.Select(u => new { a = u", ".a", "", "", " })")]
    [InlineData("docs.Users.Select(u => new { a = u", "[0]", "", "", " })")]
    [InlineData("docs.Users.Select(u => new { a = 1", " + 1", "", "", " })")]
    [InlineData("docs.Users.Select(u => new { a = ", "u ? 1 : ", "1", "", " })")]
    [InlineData("docs.Users.Select(u => new { a = u", ".a<b", "", "", " })")]
    [InlineData("docs.Users.Select(u => new { a = ", "(a<a", "1", "", " })")]
    [InlineData("docs.Users.Select(u => new { a = ", "from x in ", "u", " select x", " })")]
    [InlineData("docs.Users", ".Where(u => true)", "", "", ".Select(u => new { u.a })")]
    [InlineData("from u in docs.Users ", "from x in u.x ", "", "", "select new { u.a }")]
    [InlineData("from u in docs.Users ", "let x = u.x ", "", "", "select new { u.a }")]
    [InlineData("docs.Users.Select(", "(Func<a, b>)(", "u => new { u.a }", ")", ")")]
    [InlineData("map('Users', u => ", "[", "{ a: 1 }", "]", ")")]
    [InlineData("map('Users', u => (", "u.a ? { a: 1 } : ", "null", "", "))")]
    public void Deep_and_long_texts_end_in_a_program_or_a_refusal(
        string prefix,
        string open,
        string inside,
        string close,
        string suffix
    )
    {
        foreach (int levels in (int[])[50, 400, 4000])
        {
            string text = new StringBuilder(prefix)
                .Insert(prefix.Length, open, levels)
                .Append(inside)
                .Insert(prefix.Length + (open.Length * levels) + inside.Length, close, levels)
                .Append(suffix)
                .ToString();
            Compile(text);
        }
    }

    [Theory]
    [InlineData("o.t.Trim()")]
    [InlineData("o.t.Trim(o.t.Substring(0, 50000).Split('x'))")]
    [InlineData("o.t.Insert(0, \"a\")")]
    [InlineData("o.t.Remove(0, 1)")]
    [InlineData("o.t.Replace(\"y\", \"a\")")]
    [InlineData("o.t.IndexOf(\"y\", 0)")]
    [InlineData("string.IsNullOrWhiteSpace(o.t)")]
    [InlineData("string.Format(o.t)")]
    [InlineData("o.t.Equals(\"a\", StringComparison.OrdinalIgnoreCase)")]
    public void Strings_created_by_the_NET_runtime_count_towards_the_memory_limit(string expression) =>
        Assert.Contains(
            "needs more than 256 KiB of memory",
            DefinitionExample.Map(
                $"from o in docs.Users select new {{ v = {expression} }}",
                $$$"""{"t":"{{{new string('x', 100_000)}}}","@metadata":{"@collection":"Users"}}""",
                limits: new ScriptLimits { MemoryBytes = 256 * 1024 }
            ),
            StringComparison.Ordinal
        );

    [Theory]
    [InlineData("o.v.OrderBy(x => x)", "2024-05-06T{0:00}:{1:00}:{2:00}+02:00")]
    [InlineData("o.v.Distinct()", "2024-05-06T{0:00}:{1:00}:{2:00}+02:00")]
    [InlineData("o.v.Max()", "2024-05-06T{0:00}:{1:00}:{2:00}+02:00")]
    [InlineData("o.v.OrderBy(x => x)", "{0:00}{1:00}{2:00}\\\"")]
    [InlineData("o.v.Distinct()", "{0:00}{1:00}{2:00}\\\"")]
    public void Comparing_many_values_takes_no_memory_for_each_comparison(string expression, string format)
    {
        var times = Enumerable
            .Range(0, 1000)
            .Select(n => $"\"{string.Format(CultureInfo.InvariantCulture, format, n / 60, n % 60, n % 7)}\"");
        string row = DefinitionExample.Map(
            $"from o in docs.Users select new {{ v = {expression} }}",
            $$$"""{"v":[{{{string.Join(',', times)}}}],"@metadata":{"@collection":"Users"}}""",
            limits: new ScriptLimits { MemoryBytes = 256 * 1024, Steps = 4_000_000 }
        );
        Assert.StartsWith("{\"v\":", row, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("o.v?.Select(x => x + 1)?.Where(x => x > 0)?.Count()")]
    [InlineData("o.v.Select(x => x + 1).Where(x => x > 0)?.Skip(1)?.Take(9)?.Skip(2)?.Any()")]
    [InlineData("o.v.Take(1).Select(w => o.v.Select(x => x + 1).Where(x => x > 0).First()?.ToString()?.Trim())")]
    public void A_value_before_a_conditional_member_is_computed_once(string expression)
    {
        string row = DefinitionExample.Map(
            $"from o in docs.Users select new {{ v = {expression} }}",
            $$$"""{"v":[{{{string.Join(',', Enumerable.Range(0, 1000))}}}],"@metadata":{"@collection":"Users"}}""",
            limits: new ScriptLimits { Steps = 60_000, StepsPerByte = 0 }
        );
        Assert.StartsWith("{\"v\":", row, StringComparison.Ordinal);
    }

    [Fact]
    public void Many_conditional_members_of_a_text_share_the_variables_of_its_function()
    {
        string members = Repeat("aNUMBER = o.b.c?.Trim()?.ToUpper()", times: 1100);
        Assert.StartsWith(
            "{\"a0\":\"X\",\"a1\":\"X\",",
            DefinitionExample.Map(
                $"from o in docs.Users select new {{ {members} }}",
                """{"b":{"c":" x "},"@metadata":{"@collection":"Users"}}""",
                limits: new ScriptLimits { Steps = 1_000_000 }
            ),
            StringComparison.Ordinal
        );
    }

    [Theory]
    [InlineData("1.5", "{\"v\":")]
    [InlineData("1e-300", "steps")]
    public void The_remainder_of_numbers_of_very_different_size_costs_steps(string divisor, string expected)
    {
        string values = string.Join(',', Enumerable.Repeat("1e300", 1000));
        string row = DefinitionExample.Map(
            $"from o in docs.Users select new {{ v = o.v.Sum(x => (double)x % {divisor}) }}",
            $$$"""{"v":[{{{values}}}],"@metadata":{"@collection":"Users"}}""",
            limits: new ScriptLimits { Steps = 60_000 }
        );
        Assert.Contains(expected, row, StringComparison.Ordinal);
    }

    /// <summary>Chains are parsed in loops, so only the length of the text bounds them.</summary>
    [Theory]
    [InlineData("+1", 30_000)]
    [InlineData(".a", 30_000)]
    [InlineData("[0]", 20_000)]
    [InlineData("??u", 20_000)]
    [InlineData(".Trim()", 8_000)]
    [InlineData(".Distinct()", 5_000)]
    public void A_chain_as_long_as_a_text_can_be_is_refused(string link, int links) =>
        Assert.Throws<ScriptException>(() =>
            IndexScript.CompileMap(
                "docs.Users.Select(u => new { a = u" + string.Concat(Enumerable.Repeat(link, links)) + " })"
            )
        );

    [Theory]
    [InlineData("1,", 30_000)]
    [InlineData("a,", 30_000)]
    [InlineData("if(1)1;", 8_000)]
    public void A_chain_of_statements_as_long_as_a_text_can_be_compiles(string link, int links)
    {
        string chain = string.Concat(Enumerable.Repeat(link, links));
        IndexScript.CompileMap($"map('Users', u => {{ let a = 1; {chain} 1; return {{ a }} }})");
    }

    [Fact]
    public void A_text_that_is_too_long_is_refused() =>
        Assert.Throws<ScriptException>(() =>
            IndexScript.CompileMap("docs.Users.Select(u => new { a = \"" + new string('x', 70_000) + "\" })")
        );

    [Fact]
    public void Any_sequence_of_fragments_compiles_or_is_refused()
    {
        var random = new Random(6);
        int programs = 0;
        for (int i = 0; i < 12_000; i++)
        {
            string text =
                (
                    random.Next(4) switch
                    {
                        0 => "from u in docs.Users select new { a = ",
                        1 => "docs.Users.Select(u => new { a = ",
                        2 => "map('Users', u => ({ a: ",
                        _ => "",
                    }
                )
                + string.Join(
                    random.Next(3) == 0 ? "" : " ",
                    Enumerable.Range(0, random.Next(1, 6)).Select(_ => Pieces[random.Next(Pieces.Length)])
                )
                + (
                    random.Next(4) switch
                    {
                        0 => " }",
                        1 => " })",
                        2 => " }))",
                        _ => "",
                    }
                );
            programs += Compile(text) ? 1 : 0;
        }

        Assert.True(programs > 20, $"seed 6: {programs} texts compiled, too few to say anything");
    }

    [Fact]
    public void Any_mutated_text_compiles_or_is_refused()
    {
        var random = new Random(7);
        string[] texts = [.. MapTextTests.JavaScript.Concat(MapTextTests.Linq).Select(static row => (string)row[0])];
        for (int i = 0; i < 6000; i++)
        {
            var text = new StringBuilder(texts[random.Next(texts.Length)]);
            for (int changes = random.Next(1, 4); changes > 0; changes--)
            {
                int position = random.Next(text.Length);
                switch (random.Next(3))
                {
                    case 0:
                        text.Remove(position, Math.Min(random.Next(1, 6), text.Length - position)).Append(' ');
                        break;
                    case 1:
                        text.Insert(position, Pieces[random.Next(Pieces.Length)]);
                        break;
                    default:
                        text.Insert(
                            position,
                            text.ToString(position, Math.Min(random.Next(1, 20), text.Length - position))
                        );
                        break;
                }
            }

            Compile(text.ToString());
        }
    }

    [Theory]
    [InlineData("from a in docs.Users from b in a.l from c in a.l from d in a.l from e in a.l select new { e }")]
    [InlineData(
        "docs.Users.Select(u => new { a = u.l.Select(a => u.l.Select(b => u.l.Select(c => u.l.Select(d => d)))) })"
    )]
    [InlineData("docs.Users.Select(u => new { a = u.l.Aggregate(\"x\", (s, x) => s + s) })")]
    [InlineData("docs.Users.Select(u => new { a = u.l.Select(x => u.l.Distinct()).Distinct() })")]
    [InlineData("map('Users', u => { let s = 'x'; for (const a of u.l) { s = s + s; } return { s }; })")]
    [InlineData("map('Users', u => { let s = 0; while (true) { s++; } return { s }; })")]
    [InlineData("map('Users', u => u.l.flatMap(a => u.l.flatMap(b => u.l.map(c => ({ c })))))")]
    public void An_endless_map_is_ended_with_the_reason(string text)
    {
        string result = DefinitionExample.Map(
            text,
            $$$"""{"l":[{{{string.Join(',', Enumerable.Range(0, 100))}}}],"@metadata":{"@collection":"Users"}}"""
        );
        Assert.True(
            result.StartsWith("The map failed: ", StringComparison.Ordinal)
                || result.StartsWith("A document gives at most", StringComparison.Ordinal),
            result[..Math.Min(result.Length, 200)]
        );
    }

    [Theory]
    [InlineData("map('Users', d => ({ MEMBERS }))", "aNUMBER: d.t")]
    [InlineData("map('Users', d => ({ MEMBERS }))", "aNUMBER: d.none || d.t")]
    [InlineData("from d in docs.Users select new { MEMBERS }", "aNUMBER = d.t")]
    [InlineData("docs.Users.Select(d => new { MEMBERS })", "aNUMBER = d.o.t")]
    public void A_row_that_repeats_a_large_value_fails_with_the_reason(string text, string member)
    {
        const int Members = 20;
        var map = IndexScript.CompileMap(text.Replace("MEMBERS", Repeat(member, Members), StringComparison.Ordinal));
        Assert.NotNull(map.Plain);
        string large = new('x', 2 << 20);
        string document = $$$"""{"t":"{{{large}}}","o":{"t":"{{{large}}}"},"@metadata":{"@collection":"Users"}}""";
        string refused = DefinitionExample.MapAll(map, document);
        Assert.Equal("The map failed: the result would be larger than 8.0 MiB.", refused);

        // A row exactly as large as the limit is written.
        document = document.Replace(large, "a text", StringComparison.Ordinal);
        string row = DefinitionExample.MapAll(map, document);
        foreach (int bytes in (int[])[row.Length - 1, row.Length])
        {
            string yielded = DefinitionExample.Map(
                [map],
                document,
                "users/1",
                new ScriptLimits { OutputBytes = bytes }
            );
            string tooLarge = $"The map failed: the result would be larger than {Amount.Bytes(bytes)}.";
            Assert.Equal(bytes == row.Length ? row : tooLarge, yielded);
        }
    }

    [Fact]
    public void A_key_that_repeats_a_large_value_fails_with_the_reason()
    {
        var reduce = IndexScript.CompileReduce(
            $"groupBy(r => ({{ {Repeat("aNUMBER: r.t", times: 20)} }})).aggregate(g => ({{ a0: g.key.a0, n: "
                + $"g.values.reduce((n, v) => n + v.n, 0) }}))"
        );
        Assert.NotNull(reduce.Plain);
        using var runner = new ReduceRunner(reduce);
        byte[] row = Encoding.UTF8.GetBytes($$"""{"t":"{{new string('x', 1 << 20)}}","n":1}""");
        var refused = Assert.Throws<ReduceException>(() => _ = runner.KeyOf(row).Length);
        Assert.Equal("The reduce failed: the result would be larger than 8.0 MiB.", refused.Message);

        // A key that is too large is left to the interpreter before the buffer grows to hold it.
        var buffer = new GrowableBytes();
        Assert.False(
            reduce.Plain.TryReadKey(Encoding.UTF8.GetBytes($$"""{"t":"{{new string('x', 100_000)}}"}"""), buffer, out _)
        );
        Assert.InRange(buffer.Capacity, 0, 128 << 10);
    }

    [Fact]
    public void A_reduced_row_that_repeats_a_large_key_is_left_to_the_interpreter()
    {
        var reduce = IndexScript.CompileReduce(
            $"groupBy(r => r.t).aggregate(g => ({{ {Repeat("aNUMBER: g.key", times: 400)}, n: g.values.reduce((n, "
                + $"v) => n + v.n, 0) }}))"
        );
        Assert.NotNull(reduce.Plain);
        string key = $"\"{new string('x', 30_000)}\"";
        var page = new ReducePage();
        page.Add(1, Encoding.UTF8.GetBytes($$"""{"t":{{key}},"n":1}"""));
        var output = new ArrayBufferWriter<byte>();
        Assert.False(
            reduce.Plain.TryReduce(new ReduceRows(page, first: 0, count: 1), Encoding.UTF8.GetBytes(key), output)
        );
        Assert.Equal(0, output.WrittenCount);
        using var runner = new ReduceRunner(reduce);
        Assert.StartsWith(
            "The reduce failed: ",
            Assert
                .Throws<ReduceException>(() => runner.Reduce(new ReduceRows(page, first: 0, count: 1), output))
                .Message,
            StringComparison.Ordinal
        );
        page.Release();
    }

    [Fact]
    public void A_long_constant_is_not_copied_for_each_use()
    {
        string text =
            $"map('Users', d => {{ const a = '{new string('x', 30_000)}'; return {{ "
            + $"{Repeat("aNUMBER: a", times: 500)} }}; }})";
        var map = IndexScript.CompileMap(text);
        Assert.Null(map.Plain);
        Assert.StartsWith("The map failed: ", DefinitionExample.MapAll(map, Document), StringComparison.Ordinal);
    }

    /// <summary>Repeats a member of an object, each with its own number.</summary>
    private static string Repeat(string member, int times) =>
        string.Join(
            ", ",
            Enumerable.Range(0, times).Select(number => member.Replace("NUMBER", $"{number}", StringComparison.Ordinal))
        );

    /// <summary>Compiles a text and runs it if it compiles; returns whether it does.</summary>
    private static bool Compile(string text)
    {
        try
        {
            DefinitionExample.Map(text, Document, limits: new ScriptLimits { Steps = 20_000, MaxSteps = 20_000 });
            return true;
        }
        catch (ScriptException refusal)
        {
            Assert.InRange(refusal.Position, 0, text.Length);
            Assert.NotEmpty(refusal.Describe(text));
            return false;
        }
    }
}
