using System.Text;
using Rookery.Documents.Parsing;
using Rookery.Documents.Stored;
using Rookery.Fixtures;
using Rookery.Scripting.Compiling;
using Rookery.Scripting.Running;
using Rookery.Scripting.Syntax;
using static Rookery.Fixtures.Utf8Text;

namespace Rookery.Scripting.Tests;

/// <summary>
/// Scripts that would run for ever or take all memory end with a reason. No exception leaves the interpreter.
/// </summary>
public class HostileScriptTests
{
    [Theory]
    [InlineData("function f(x) { return f(x) } this.a = f(1)", "deeper than 100 levels")]
    [InlineData(
        "function f(x) { return f(x - 1) + g(x) } function g(x) { return f(x) } f(1)",
        "deeper than 100 levels"
    )]
    [InlineData("function f(n) { return n == 0 ? 1 : f(n - 1) + f(n - 1) } this.a = f(60)", "more steps")]
    [InlineData("this.l = [1]; for (const x of this.l) { this.l.push(x) }", "more steps")]
    [InlineData(
        "this.s = 'xxxxxxxxxxxxxxxx'; for (const i of this.ten) for (const j of this.ten) { this.s += this.s }",
        "more"
    )]
    [InlineData(
        "let a = [1]; for (const i of this.ten) for (const j of this.ten) { a = [a, a] } this.a = a",
        "more steps"
    )]
    [InlineData(
        "let a = ['xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx']; for "
            + "(const i of this.ten) for (const j of [1, 2, 3]) { a = [a, a] } this.a = a",
        "more steps"
    )]
    [InlineData("let a = [1]; for (const i of this.ten) for (const j of this.ten) { a = a.concat(a) }", "more")]
    [InlineData("this.a = 'x'.repeat(1e9)", "cannot be repeated")]
    [InlineData("this.a = 'x'.padEnd(1e9)", "cannot be repeated")]
    [InlineData("this.a = 5..toFixed(-1)", "toFixed takes 0 to 100 digits")]
    [InlineData("this.a = (0 / 0).toFixed(101)", "toFixed takes 0 to 100 digits")]
    [InlineData("let a = []; a.push(a); this.s = '' + a", "nested deeper")]
    [InlineData("let a = {}; a.a = a; this.a = a", "nested deeper")]
    [InlineData("const s = 'a'.repeat(30000); this.i = s.indexOf(s.slice(0, 15000) + 'b')", "more steps")]
    [InlineData("this.a = 'a'.repeat(20000); this.a = this.a.replaceAll('a', this.a)", "more")]
    public void An_endless_script_is_ended_with_the_reason(string script, string reason)
    {
        string result = Scripts.Patch(script, """{"ten":[1,2,3,4,5,6,7,8,9,10]}""");
        Assert.StartsWith("failed: ", result, StringComparison.Ordinal);
        Assert.Contains(reason, result, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("(", ")", "1")]
    [InlineData("[", "]", "1")]
    [InlineData("{a:", "}", "1")]
    [InlineData("-", "", "1")]
    [InlineData("!", "", "1")]
    [InlineData("x => ", "", "1")]
    [InlineData("a ? ", " : 1", "1")]
    [InlineData("a.b(", ")", "1")]
    [InlineData("a || (", ")", "1")]
    [InlineData("`${", "}`", "1")]
    [InlineData("", " + 1", "1")]
    [InlineData("", ".a", "this")]
    [InlineData("", "[0]", "this")]
    [InlineData("a = ", "", "1")]
    public void Deep_nesting_is_refused(string before, string after, string inside)
    {
        const int Levels = 5000;
        var text = new StringBuilder("this.x = ");
        for (int level = 0; level < Levels; level++)
        {
            text.Append(before);
        }

        text.Append(inside);
        for (int level = 0; level < Levels; level++)
        {
            text.Append(after);
        }

        Assert.Throws<ScriptException>(() => JavaScript.CompilePatch(text.ToString()));
    }

    /// <summary>
    /// A value in a template is parsed as a text of its own, and its level continues that of the template.
    /// </summary>
    [Fact]
    public void Brackets_in_templates_in_brackets_count_as_nested()
    {
        string text = "this";
        for (int level = 0; level < 40; level++)
        {
            text = new string('(', 25) + "`${" + text + "}`" + new string(')', 25);
        }

        SmallStackThread.Run(() =>
            Assert.Equal(
                ScriptFault.TooLarge,
                Assert.Throws<ScriptException>(() => JavaScript.CompilePatch("this.x = " + text)).Fault
            )
        );
    }

    [Fact]
    public void Deeply_nested_blocks_and_long_scripts_are_refused()
    {
        Assert.Throws<ScriptException>(() => JavaScript.CompilePatch(new string('{', 5000) + new string('}', 5000)));
        Assert.Throws<ScriptException>(() =>
            JavaScript.CompilePatch(string.Concat(Enumerable.Repeat("if(1)", 5000)) + "this.a=1")
        );
        Assert.Throws<ScriptException>(() =>
            JavaScript.CompilePatch(string.Concat(Enumerable.Repeat("this.a=1;", 10_000)))
        );
        Assert.Throws<ScriptException>(() =>
            JavaScript.CompilePatch(string.Concat(Enumerable.Range(0, 2000).Select(static number => $"let a{number};")))
        );
    }

    [Fact]
    public void The_largest_document_is_changed_or_refused_within_the_bounds()
    {
        string half = new('x', 4 << 20);
        Assert.EndsWith(",\"n\":1}", Scripts.Patch("this.n = 1", $$"""{"a":"{{half}}"}"""), StringComparison.Ordinal);
        Assert.Contains(
            "larger than",
            Scripts.Patch("this.b = this.a; this.c = this.a", $$"""{"a":"{{half}}"}"""),
            StringComparison.Ordinal
        );
        string numbers = $$"""{"l":[{{string.Join(',', Enumerable.Repeat("1", 4_000_000))}}]}""";
        Assert.Contains("B of memory", Scripts.Patch("this.l.push(2)", numbers), StringComparison.Ordinal);
        Assert.EndsWith("],\"n\":1}", Scripts.Patch("this.n = 1", numbers), StringComparison.Ordinal);
    }

    /// <summary>
    /// A random combination of script fragments is rejected, or it ends with a result or a failure, which is the same
    /// in a second run.
    /// </summary>
    [Fact]
    public void Random_scripts_end_with_the_same_result_or_failure_each_time()
    {
        const int Seed = 6;
        var random = new Random(Seed);
        using var interpreter = new ScriptInterpreter();
        using var other = new ScriptInterpreter();
        byte[] document = StoredExample.Store(
            "users/1",
            """{"n":5,"s":"Ab\n\u00e9😀","e":"","l":[1,"x",null,{"q":2},[3,[4]]],"o":{"a":1,"b":{"c":"d"}},"z":null,"f":1.50,"t":true,"@metadata":{"k":"v"}}"""
        );
        int compiled = 0,
            succeeded = 0;
        for (int round = 0; round < 5_000; round++)
        {
            string script = new RandomScript(random).Statements(3);
            ScriptProgram program;
            try
            {
                program = JavaScript.CompilePatch(script);
            }
            catch (ScriptException refusal)
            {
                Assert.InRange(refusal.Position, 0, script.Length);
                continue;
            }

            compiled++;
            string result = Run(interpreter, program, document);
            Assert.Equal(result, Run(other, program, document));
            if (!result.StartsWith("failed", StringComparison.Ordinal))
            {
                succeeded++;
                using var parser = DocumentParser.Rent();
                Assert.True(
                    parser.TryParse(Bytes(result), out _, out var error),
                    $"seed {Seed}, round {round}: {script} → {result}: {error}"
                );
            }
        }

        // The test shows little unless enough scripts compile and succeed.
        Assert.InRange(compiled, 2_500, 5_000);
        Assert.InRange(succeeded, 750, 5_000);
    }

    [Fact]
    public void Random_texts_are_refused_or_compiled()
    {
        const int Seed = 7;
        var random = new Random(Seed);
        string[] pieces =
        [
            "this",
            "while (",
            "do ",
            "switch (",
            "case ",
            "default:",
            "throw ",
            " in ",
            "var ",
            "break",
            "continue",
            "for (",
            ".sort(",
            "??=",
            ",",
            ".",
            "a",
            "=",
            "==",
            "(",
            ")",
            "[",
            "]",
            "{",
            "}",
            "'",
            "\"",
            "`",
            "${",
            "\\",
            "=>",
            "?",
            ":",
            "?.",
            "??",
            ",",
            ";",
            "\n",
            "1",
            "0x",
            "1e",
            "...",
            "//",
            "/*",
            "*/",
            "if",
            "else",
            "for",
            "of",
            "let",
            "const",
            "function",
            "return",
            "delete",
            "typeof",
            "++",
            "-",
            "+",
            "😀",
            "\uD800",
            "é",
            "\0",
            "@",
            "#",
            " ",
        ];
        for (int round = 0; round < 5_000; round++)
        {
            string script = string.Concat(
                Enumerable.Range(0, random.Next(1, 15)).Select(_ => pieces[random.Next(pieces.Length)])
            );
            try
            {
                JavaScript.CompilePatch(script);
            }
            catch (ScriptException refusal)
            {
                Assert.InRange(refusal.Position, 0, script.Length);
                Assert.NotEmpty(refusal.Describe(script));
            }
        }
    }

    /// <summary>Returns the document after a patch, or why the patch failed.</summary>
    private static string Run(ScriptInterpreter interpreter, ScriptProgram program, byte[] document)
    {
        interpreter.Load(program);
        interpreter.Begin();
        interpreter.AddDocument(new DocumentView(document).ToScript());
        interpreter.AddJson("""{"v":7}"""u8);
        return interpreter.TryRun() && interpreter.TryWriteParameter(index: 0, out var json)
            ? Text(json)
            : "failed: " + interpreter.Failure;
    }
}
