using Rookery.Scripting.Compiling;

namespace Rookery.Scripting.Tests;

/// <summary>Functions that programs of the first version do not have, against a real engine.</summary>
public class LaterFunctionTests
{
    private static readonly string[] Expressions =
    [
        """JSON.stringify({ a: [1, 'x', null, undefined, true], b: undefined })""",
        """JSON.stringify(undefined)""",
        """JSON.stringify('a"b')""",
        """JSON.parse('{ "a": [1, "\\u0041"] }').a[1] === 'A'""",
        """JSON.parse(' 5 ') + 1""",
        """JSON.parse('{"a":1,"b":2,"a":{"c":3}}')""",
        """JSON.parse('[{"x":[{"a":1,"\\u0061":[2],"b":{"d":1,"d":2}}]},"t"]')""",
        """JSON.parse('{"a":1,"a":2}').a + JSON.parse('{"a":{"b":1},"a":null,"c":"x"}').c""",
        """Object.assign({ a: 1 }, { b: 2 }, null, { a: 3 })""",
        """Object.fromEntries([['a', 1], ['b']])""",
        """Object.fromEntries(Object.entries({ a: 1 }).map(e => [e[0] + 'x', e[1] + 1]))""",
        """[{ a: 1 }.hasOwnProperty('a'), Object.hasOwn({ a: 1 }, 'b')]""",
        """'aé😀'.charCodeAt(2) + ',' + 'aé😀'.charCodeAt(3) + ',' + 'aé😀'.codePointAt(2) + ',' + 'a'.charCodeAt(5)""",
        """'a'.codePointAt(9)""",
        """String.fromCharCode(65, 0xD83D, 0xDE00, 0x20AC)""",
        """String.fromCharCode(65, [66], '\u0036\u0037')""",
        """['abc'.at(-1), 'abc'.at(5), [1, 2].at(-2), [1].at(1)]""",
        """[1, 2, 3, 4].fill(0, 1, -1)""",
        """Array.from('a😀')""",
        """Array.from([1, 2])""",
        """Array.of(7, 'x')""",
        """[2 ** 10, 2 ** 3 ** 2, (-2) ** 2, 2 ** -1, 9 ** 0.5, Math.pow(2, 0.5), Math.sqrt(2)]""",
        """[1 ** Infinity, NaN ** 0]""",
        """[Number.isSafeInteger(5), Number.isSafeInteger(2 ** 53), Number.isNaN('x'), Number.isFinite('5')]""",
        """[Math.PI, Math.E, Number.MAX_SAFE_INTEGER, Number.EPSILON, Math.SQRT2, Math.LN2, Math.LOG10E]""",
        """[1, 2, 1].indexOf(1, 1) + ',' + [1, 2].includes(1, 1) + ',' + [1, 2, 3].indexOf(3, -1)""",
        """'abcabc'.indexOf('a', 1) + ',' + 'abc'.includes('a', 1) + ',' + 'abc'.startsWith('b', 1) + 'é1'.indexOf('1', 1)""",
        """' a '.trimLeft() + '|' + ' a '.trimRight()""",
        """'a,b'.split(undefined, 1)""",
        """'a,b,c'.split(',', 0)""",
    ];

    [Fact]
    public async Task Functions_have_the_results_of_a_real_engine()
    {
        EngineScript[] scripts = [.. Expressions.Select(static text => new EngineScript("expression", text, "{}"))];
        var expected = await JavaScriptEngine.RunAsync(scripts);
        Assert.Equal(
            scripts.Zip(expected, static (script, result) => $"{script.Text} = {result ?? "failed"}"),
            scripts.Select(static script => $"{script.Text} = {Scripts.Evaluate(script.Text, "{}")}")
        );
    }

    /// <summary>Members of the released version must not get a program that they cannot run.</summary>
    [Theory]
    [InlineData("this.a = this.a.split(',')", true)]
    [InlineData("this.a = this.a.split(',', 2)", false)]
    [InlineData("this.a = this.a.indexOf('b')", true)]
    [InlineData("this.a = this.a.indexOf('b', 1)", false)]
    [InlineData("this.a = this.a.replace('a', 'b')", true)]
    [InlineData("this.a = this.a.replace(/a/, 'b')", false)]
    [InlineData("this.a = this.a.replace('a', m => m)", false)]
    [InlineData("this.a = new Date(5)", false)]
    [InlineData("this.a = Date.now()", false)]
    [InlineData("this.a = 2 ** 3", false)]
    [InlineData("this.a = JSON.stringify(this)", false)]
    public void Only_programs_without_newer_functions_are_of_the_first_version(string script, bool isOfFirst) =>
        Assert.Equal(isOfFirst, JavaScript.CompilePatch(script).IsOfFirstVersion);

    [Theory]
    [InlineData("JSON.parse('{')", "no JSON")]
    [InlineData("JSON.parse('{\"a\":1}x')", "no JSON")]
    [InlineData("JSON.parse('{\"a\":\"' + '😀'.substring(0, 1) + '\"}')", "half of a character is no JSON")]
    [InlineData("Object.assign(5, {})", "no object")]
    [InlineData("String.fromCharCode(0xD83D)", "half of a surrogate pair")]
    public void A_wrong_value_fails(string expression, string reason) =>
        Assert.Contains(reason, Scripts.Evaluate(expression, "{}"), StringComparison.Ordinal);

    /// <summary>The copy of the text makes the heap grow, which moves the text.</summary>
    [Theory]
    [InlineData(100 << 10)]
    [InlineData(1 << 20)]
    [InlineData(4 << 20)]
    public void A_text_that_does_not_fit_the_room_of_the_heap_is_parsed(int length)
    {
        string args = $$"""{"t":"[{{new string(' ', length)}}7]"}""";
        Assert.Equal("""{"n":7}""", Scripts.Patch("this.n = JSON.parse(args.t)[0]", "{}", args));
    }
}
