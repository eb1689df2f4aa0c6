using Rookery.Scripting.Compiling;
using Rookery.Scripting.Running;
using Rookery.Scripting.Syntax;

namespace Rookery.Scripting.Tests;

/// <summary>Dates of JavaScript have the values of a real engine in the time zone UTC.</summary>
public class MomentTests
{
    private static readonly string[] Expressions =
    [
        """new Date('2026-11-30').getTime()""",
        """new Date('2026-11-30T05:26:17.1234567Z').getTime()""",
        """new Date('2026-11-30T05:26:17+02:00').toISOString()""",
        """new Date('2026-11-30T05:26').toISOString()""",
        """new Date('2026').toISOString() + new Date('2026-05').toISOString()""",
        """new Date('+012026-11-30T00:00:00Z').toISOString()""",
        """new Date('-000001-11-30T00:00:00Z').toISOString()""",
        """new Date('2026-13-01').getTime()""",
        """new Date('2026-01-01T25:00:00Z').getTime()""",
        """new Date('2026-01-01T24:00:00Z').getTime()""",
        """new Date(0).toString()""",
        """new Date(-1).toISOString()""",
        """new Date(8.64e15).toISOString()""",
        """new Date(8.64e15 + 1).getTime()""",
        """new Date(-8.64e15).toISOString()""",
        """new Date(2026, 10).toISOString()""",
        """new Date(2026, 10, 30, 5, 26, 17, 5).toISOString()""",
        """new Date(99, 0, 1).getFullYear()""",
        """new Date(2026, 25, -3).toISOString()""",
        """new Date(2026, NaN).getTime()""",
        """new Date(null).getTime()""",
        """new Date(undefined).getTime()""",
        """new Date('').getTime()""",
        """new Date(new Date(5)).getTime()""",
        """Date.UTC(2026, 1, 29)""",
        """Date.parse('2026-11-30T00:00:00Z')""",
        """[new Date('2024-02-29T23:59:58.007Z')].map(d => [d.getFullYear(), d.getMonth(), d.getDate(), d.getDay(), d.getHours(), d.getMinutes(), d.getSeconds(), d.getMilliseconds(), d.getUTCDay(), d.getTimezoneOffset()])""",
        """new Date('2024-03-01') - new Date('2024-02-01')""",
        """new Date(5) + 1""",
        """'' + new Date(NaN)""",
        """new Date(5) < new Date(6)""",
        """new Date(5) == new Date(5)""",
        """new Date(5) === new Date(5)""",
        """new Date(5) == 5""",
        """+new Date(5)""",
        """typeof new Date(5)""",
        """new Date(5) ? 1 : 2""",
        """new Date('2026-11-30T05:26:17Z').toUTCString()""",
        """new Date('2026-11-30T05:26:17Z').toDateString() + new Date('2026-11-30T05:26:17Z').toTimeString()""",
        """`${new Date('0026-11-30T05:26:17Z')}`""",
        """JSON.stringify({ a: new Date(5), b: [new Date(NaN)] })""",
        """new Date(NaN).toJSON()""",
        """isNaN(new Date(NaN))""",
        """new Date('1969-12-31T23:59:59.999Z').getDay()""",
        """[1, 5].map(n => new Date(n * 86400000).getUTCDate())""",
    ];

    private static readonly string[] Statements =
    [
        "const d = new Date('2026-01-31'); d.setMonth(1); this.a = d.toISOString()",
        "const d = new Date('2026-01-31'); d.setDate(d.getDate() + 30); this.a = d.getTime()",
        "const d = new Date(0); this.a = d.setFullYear(2024, 1, 29); this.b = d.setUTCHours(1, 2, 3, 4); this.c = d.getTime()",
        "const d = new Date(NaN); d.setMonth(1); this.a = d.getTime(); d.setFullYear(2020); this.b = d.getTime()",
        "const d = new Date(0), e = d; e.setTime(7); this.a = d.getTime(); this.b = d === e",
        "const d = new Date(0); d.setMinutes(61, 61); this.a = d.toISOString(); d.setSeconds(-1); this.b = d.toISOString(); d.setMilliseconds(1500); this.c = d.toISOString()",
    ];

    [Fact]
    public async Task Dates_have_the_values_of_a_real_engine()
    {
        EngineScript[] scripts =
        [
            .. Expressions.Select(static text => new EngineScript("expression", text, "{}")),
            .. Statements.Select(static text => new EngineScript("statements", text, "{}")),
        ];
        var expected = await JavaScriptEngine.RunAsync(scripts);
        Assert.Equal(
            scripts.Zip(expected, static (script, result) => $"{script.Text} = {result ?? "failed"}"),
            scripts.Select(static script =>
                $"{script.Text} = {(script.Kind is "expression" ? Scripts.Evaluate(script.Text, "{}") : Scripts.Patch(script.Text, "{}"))}"
            )
        );
    }

    [Fact]
    public void A_stored_date_has_the_form_of_RavenDB() =>
        Assert.Equal(
            """{"at":"2026-11-30T05:26:17.1230000Z","none":null}""",
            Scripts.Patch("this.at = new Date('2026-11-30T05:26:17.123Z'); this.none = new Date(NaN)", "{}")
        );

    [Fact]
    public void A_patch_has_the_time_of_its_command()
    {
        using var interpreter = new ScriptInterpreter();
        interpreter.Load(
            JavaScript.CompilePatch("this.a = Date.now(); this.b = new Date(); this.c = new Date().getTime()")
        );
        interpreter.Begin();
        interpreter.NowTicks = new DateTime(2026, 11, 30, 5, 26, 17, DateTimeKind.Utc).Ticks + 12_345;
        interpreter.AddNewDocument();
        interpreter.AddJson("{}"u8);
        Assert.True(interpreter.TryRun(), interpreter.Failure);
        Assert.True(interpreter.TryWriteParameter(0, out var json));
        Assert.Equal(
            """{"a":1796016377001,"b":"2026-11-30T05:26:17.0010000Z","c":1796016377001}""",
            System.Text.Encoding.UTF8.GetString(json)
        );
    }

    [Theory]
    [InlineData("Date.now()", "'Date.now' outside of patches")]
    [InlineData("new Date()", "'new Date()' outside of patches")]
    [InlineData("new Set()", "'new Set'")]
    [InlineData("new Date(5).toLocaleDateString()", "'toLocaleDateString'")]
    [InlineData("Date.none(5)", "'Date.none'")]
    [InlineData("Math.random()", "'Math.random'")]
    [InlineData("Math.sin(1)", "'Math.sin'")]
    public void What_differs_between_members_or_times_is_refused_by_name(string expression, string named)
    {
        var refusal = Assert.Throws<ScriptException>(() => JavaScript.CompileProjection(expression, ["u", "args"]));
        Assert.Equal(ScriptFault.NotSupported, refusal.Fault);
        Assert.Contains(named, refusal.Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("new Date('30.11.2026')", "reads a date from '30.11.2026'")]
    [InlineData("u.d.getFullYear()", "no date")]
    [InlineData("new Date(NaN).toISOString()", "invalid date")]
    public void A_date_that_cannot_be_read_fails(string expression, string reason) =>
        Assert.Contains(reason, Scripts.Evaluate(expression, """{"d":"2026-11-30"}"""), StringComparison.Ordinal);
}
