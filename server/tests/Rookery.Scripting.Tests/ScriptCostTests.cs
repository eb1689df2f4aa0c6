using System.Text;
using Rookery.Documents.Stored;
using Rookery.Fixtures;
using Rookery.Scripting.Compiling;
using Rookery.Scripting.Running;
using static Rookery.Fixtures.Utf8Text;

namespace Rookery.Scripting.Tests;

/// <summary>
/// Steps are counted for all bytes that a script touches, and all memory is counted, so that every member can apply
/// what one member can. A step stands for 16 bytes, or for a few letters, variables or moves.
/// </summary>
public class ScriptCostTests
{
    /// <summary>Limits that no script here reaches, so that its full cost is known.</summary>
    private static readonly ScriptLimits AmpleLimits = new() { Steps = 1 << 28, MaxSteps = 1 << 28 };

    [Fact]
    public void The_managed_memory_of_a_script_fits_the_smallest_node()
    {
        // A node of 96 MiB has a managed heap of 48 MiB. An earlier version took 24 MiB to sort this array, and more to
        // double its slots.
        string zeros = ArrayOfZeros(600_000);
        string sorted = Run("this.a.sort()", zeros, AmpleLimits, out _, out long allocated);
        Assert.Contains("B of memory", sorted, StringComparison.Ordinal);
        Assert.InRange(allocated, 0, 2 << 20);
        Assert.StartsWith(
            "{\"a\":[0,0,",
            Run("this.a.sort()", ArrayOfZeros(100_000), AmpleLimits, out _, out allocated),
            StringComparison.Ordinal
        );
        Assert.InRange(allocated, 0, 2 << 20);
        string grown = Run("for (const x of this.a) { this.a.push(x) }", zeros, AmpleLimits, out _, out allocated);
        Assert.Contains("B of memory", grown, StringComparison.Ordinal);
        Assert.InRange(allocated, 0, 2 << 20);
    }

    [Fact]
    public void A_sort_by_a_function_takes_steps_for_comparisons_and_moves()
    {
        // The first two elements are in order. Each further element moves to the front.
        string document = $$"""{"a":[0,1,{{string.Join(',', Enumerable.Range(0, 4_094).Select(static n => -n))}}]}""";
        string sorted = Run("this.a.sort((a, b) => a - b)", document, AmpleLimits, out long steps, out _);
        Assert.StartsWith("{\"a\":[-4093,-4092,", sorted, StringComparison.Ordinal);
        const long MovesOfHalf = 4_096L * 4_096 / 2 / 8;
        Assert.InRange(steps, MovesOfHalf + (4_096 * 10 * 9), MovesOfHalf + (4_096 * 13 * 16));
    }

    [Fact]
    public void A_set_in_any_case_takes_steps_for_each_case_of_a_letter()
    {
        string sets = string.Join('|', Enumerable.Range(0, 200).Select(static _ => "[qx]"));
        string document = $$"""{"a":"{{new string('σ', 1000)}}","b":"{{new string('中', 1000)}}"}""";
        Run($"this.r = /{sets}/i.test(this.b)", document, AmpleLimits, out long stepsOfOneCase, out _);
        Run($"this.r = /{sets}/i.test(this.a)", document, AmpleLimits, out long steps, out _);
        Assert.InRange(steps - stepsOfOneCase, 1000 * 200 * 3 / 4, 1000 * 200);
    }

    [Fact]
    public void A_loop_over_names_takes_few_steps_for_each()
    {
        string members = string.Join(',', Enumerable.Range(0, 5_000).Select(static n => $"\"k{n}\":1"));
        Run("let n = 0; for (const k in this) n++", $"{{{members}}}", AmpleLimits, out long steps, out _);
        Assert.InRange(steps, 5_000 * 5, 5_000 * 40);
        // Each deletion moves the members after it. The second script also searches for the next name each time.
        string document = $"{{{members}}}";
        Run(
            "Object.keys(this).forEach(k => { delete this[k] })",
            document,
            AmpleLimits,
            out long stepsOfDeletions,
            out _
        );
        Run("for (const k in this) delete this[k]", document, AmpleLimits, out steps, out _);
        Assert.InRange(steps, stepsOfDeletions / 2, stepsOfDeletions + (5_000 * 40));
        string text = $$"""{"s":"{{new string('x', 5_000)}}\n"}""";
        Run("let n = 0; for (const i in this.s) n++; this.n = n", text, AmpleLimits, out steps, out _);
        Assert.InRange(steps, 5_000 * 5, 5_000 * 60);
    }

    [Fact]
    public void Parameters_count_as_memory_and_exceeding_it_fails_only_the_script()
    {
        using var interpreter = new ScriptInterpreter();
        interpreter.Load(JavaScript.CompilePatch("this.n = 1"));
        interpreter.Begin();
        interpreter.AddDocument(new DocumentView(StoredExample.Store("users/1", """{"n":0}""")).ToScript());
        interpreter.AddJson(Bytes($$"""{"v":"{{new string('x', 13 << 20)}}"}"""));
        Assert.False(interpreter.TryRun());
        Assert.Contains("B of memory", interpreter.Failure, StringComparison.Ordinal);
    }

    [Fact]
    public void Digits_of_a_stored_number_cost_steps()
    {
        string document = $$"""{"n":0.{{new string('0', 16_000)}},"l":[{{Repeat("1", count: 100)}}]}""";
        Run("let s = 0; for (const x of this.l) { if (this.n) { s++ } }", document, AmpleLimits, out long steps, out _);
        Assert.InRange(steps, 100 * 16_000 / 16, long.MaxValue);
    }

    [Fact]
    public void Bytes_of_a_name_cost_steps()
    {
        string names = string.Join(
            ',',
            Enumerable.Range(100, 50).Select(static number => $"\"{new string('x', 4000)}{number}\":1")
        );
        string document = $$"""{{{names}},"l":[{{Repeat("1", count: 100)}}],"k":"{{new string('x', 4000)}}149"}""";
        Run(
            "let s = 0; const k = this.k; for (const x of this.l) { s += this[k] }",
            document,
            AmpleLimits,
            out long steps,
            out _
        );
        Assert.InRange(steps, 100 * 50 * 4000 / 16, long.MaxValue);

        string escaped = string.Concat(Enumerable.Repeat("\\u0041", 200_000));
        Run(
            "const k = 'A'.repeat(200000); this.b = this[k]; this.c = this[k + 'B']",
            $$"""{"{{escaped}}":1}""",
            AmpleLimits,
            out _,
            out _
        );
        Assert.EndsWith(
            ",\"b\":1}",
            Run(
                "const k = 'A'.repeat(200000); this.b = this[k]; this.c = this[k + 'B']",
                $$"""{"{{escaped}}":1}""",
                AmpleLimits,
                out steps,
                out long allocated
            ),
            StringComparison.Ordinal
        );
        Assert.InRange(allocated, 0, 100_000);
        Assert.InRange(steps, 2 * 1_200_000 / 16, long.MaxValue);
    }

    [Fact]
    public void Members_omitted_from_the_result_cost_steps()
    {
        string members = string.Join(';', Enumerable.Range(0, 100).Select(static number => $"o.m{number} = undefined"));
        Run(
            $"const o = {{}}; {members}; this.a = this.a.map(x => o)",
            ArrayOfZeros(1000),
            AmpleLimits,
            out long steps,
            out _
        );
        Assert.InRange(steps, 100 * 1000, long.MaxValue);
    }

    [Fact]
    public void A_name_twice_in_JSON_costs_few_steps_for_each_name()
    {
        const string Script = "const o = JSON.parse(this.t); this.t = [o.k0, o.k4999, Object.keys(o).length]";
        string members = string.Join(',', Enumerable.Range(0, 5_000).Select(static n => $"\\\"k{n}\\\":{n}"));
        string document = $$"""{"t":"{{{members}},\"k0\":[-1]}"}""";
        string patched = Run(Script, document, AmpleLimits, out long steps, out _);
        Assert.Equal("""{"t":[[-1],4999,5000]}""", patched);
        Assert.InRange(steps, 5_000 * 3, 5_000 * 40);
    }

    [Fact]
    public void A_part_of_JSON_without_a_name_twice_takes_no_memory_for_its_values()
    {
        string document = $$"""{"t":"{\"a\":1,\"a\":[{\"b\":1,\"b\":2}],\"l\":[{{Repeat("0", count: 600_000)}}]}"}""";
        string patched = Run("this.t = JSON.parse(this.t).a", document, AmpleLimits, out _, out _);
        Assert.Equal("""{"t":[{"b":2}]}""", patched);
    }

    [Fact]
    public void Written_bytes_cost_steps()
    {
        string document = $$"""{"o":{"t":"{{new string('x', 32_000)}}"},"l":[{{Repeat("1", count: 100)}}]}""";
        Run("this.l = this.l.map(x => this.o)", document, AmpleLimits, out long steps, out _);
        Assert.InRange(steps, 100 * 32_000 / 16, long.MaxValue);
    }

    [Fact]
    public void Variables_of_a_function_cost_steps()
    {
        string variables = string.Concat(Enumerable.Range(0, 800).Select(static number => $"let a{number};"));
        string script = $"function f() {{ return 1; {variables} }} for (const x of this.a) {{ f() }}";
        Run(script, ArrayOfZeros(1000), AmpleLimits, out long steps, out _);
        Assert.InRange(steps, 1000 * 800 / 8, long.MaxValue); // a step for eight variables
    }

    [Fact]
    public void Long_divisions_long_digits_and_letters_cost_steps()
    {
        Run("for (const x of this.a) { 1e300 % 1e-300 }", ArrayOfZeros(1000), AmpleLimits, out long far, out _);
        Run("for (const x of this.a) { 2 % 1 }", ArrayOfZeros(1000), AmpleLimits, out long near, out _);
        // The exponents of 1e300 and 1e-300 differ by about 1,990 bits, of which 16 take a step.
        Assert.InRange(far - near, 1000 * 1900 / 16, long.MaxValue);
        Run("for (const x of this.a) { x.toFixed(0) }", ArrayOfZeros(1000), AmpleLimits, out long digits, out _);
        Assert.InRange(digits, 64_000, long.MaxValue);
        Run(
            "this.t = this.t.toUpperCase()",
            $$"""{"t":"{{new string('é', 40_000)}}"}""",
            AmpleLimits,
            out long letters,
            out _
        );
        Assert.InRange(letters, 80_000 / 4, long.MaxValue); // a step for four of the bytes
    }

    [Fact]
    public void Escapes_count_with_their_length_in_the_result()
    {
        var limits = new ScriptLimits { OutputBytes = 100_000 };
        string failure = Run("this.t = '\\x01'.repeat(50000)", "{}", limits, out _, out _);
        Assert.Contains("larger than 97.7 KiB", failure, StringComparison.Ordinal);
        Assert.EndsWith(
            "\\u0001\"}",
            Run("this.t = '\\x01'.repeat(16000)", "{}", limits, out _, out _),
            StringComparison.Ordinal
        );
    }

    private static string ArrayOfZeros(int count) => $$"""{"a":[{{Repeat("0", count)}}]}""";

    private static string Repeat(string element, int count) =>
        new StringBuilder().AppendJoin(',', Enumerable.Repeat(element, count)).ToString();

    /// <summary>
    /// Returns the document after a patch, or why the patch failed, with the steps and managed memory of the run.
    /// </summary>
    private static string Run(
        string script,
        string document,
        ScriptLimits limits,
        out long steps,
        out long allocatedBytes
    )
    {
        byte[] stored = StoredExample.Store("users/1", document);
        using var interpreter = new ScriptInterpreter(limits);
        interpreter.Load(JavaScript.CompilePatch(script));
        long before = GC.GetAllocatedBytesForCurrentThread();
        interpreter.Begin();
        interpreter.AddDocument(new DocumentView(stored).ToScript());
        interpreter.AddJson("{}"u8);
        bool succeeded = TryRunAndWrite(interpreter, out var json);
        allocatedBytes = GC.GetAllocatedBytesForCurrentThread() - before;
        steps = interpreter.Steps;
        return succeeded ? Text(json) : "failed: " + interpreter.Failure;
    }

    private static bool TryRunAndWrite(ScriptInterpreter interpreter, out ReadOnlySpan<byte> json)
    {
        json = default;
        return interpreter.TryRun() && interpreter.TryWriteParameter(index: 0, out json);
    }
}
