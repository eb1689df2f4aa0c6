using Rookery.Scripting.Compiling;
using Rookery.Scripting.Syntax;

namespace Rookery.Scripting.Tests;

/// <summary>Regular expressions have the results of a real engine, or are refused by name.</summary>
public class PatternTests
{
    private static readonly string[] Expressions =
    [
        """/b+/.test('abbc')""",
        """/^b/.test('ab')""",
        """'2026-11-30'.match(/(\d+)-(\d+)-(\d+)/)""",
        """'a1b22'.match(/\d+/g)""",
        """'abc'.match(/x/)""",
        """'abc'.match(/x/g)""",
        """'ab12cd'.match(/(?<letters>[a-z]+)(?<digits>\d+)/).groups.digits""",
        """'xaxb'.match(/x(a)?(b)?/).length + '' + 'xaxb'.match(/x(a)?(b)?/)[2]""",
        """'xaxb'.match(/b/).index""",
        """'é😀b'.match(/b/).index""",
        """'😀b'.search(/b/)""",
        """'abc'.search(/x/)""",
        """'a-b_c'.split(/[-_]/)""",
        """'a1b2c'.split(/(\d)/)""",
        """'abc'.split(/(?:)/)""",
        """''.split(/x/)""",
        """''.split(/x?/)""",
        """'a,b,c'.split(/,/, 2)""",
        """'a,b,c'.split(',', 2)""",
        """'aXbX'.replace(/x/i, '-')""",
        """'aXbX'.replace(/x/gi, '-')""",
        """'John Smith'.replace(/(\w+)\s(\w+)/, '$2, $1 [$&] $$ $` $\' $3 $10')""",
        """'a1'.replace(/(?<l>[a-z])/, '<$<l>$<none>>')""",
        """'abc'.replace(/b/, m => m.toUpperCase())""",
        """'a1b2'.replace(/([a-z])(\d)/g, (m, l, d, i) => d + l + i)""",
        """'a1b2'.replaceAll(/\d/g, function (m) { return '<' + m + '>' })""",
        """'aab'.replaceAll('a', (m, i) => m + i)""",
        """'a b'.replace(' ', () => '$&')""",
        """'aaa'.replace(/a*?/g, '-')""",
        """'abc'.replace(/(?:)/g, '-')""",
        """'abc'.replace(/x*/g, '-')""",
        """'aba'.replace(/^a|a$/g, '')""",
        """'l1\nl2'.match(/^l\d$/gm)""",
        """/a.c/.test('a\nc')""",
        """/a.c/s.test('a\nc')""",
        """/[^abc]/i.test('A')""",
        """/[^abc]/i.test('D')""",
        """/ÄÖ/i.test('äö')""",
        """/ſ/i.test('s')""",
        """/\bfoo\b/.test('a foo b')""",
        """/\Bo/.test('foo')""",
        """/^[\w.+-]+@[\w-]+\.[\w.]+$/.test('a.b+c@example.org')""",
        """/^(?:\+?\d{1,3}[- ]?)?\d{3}-\d{4}$/.test('+49 555-1234')""",
        """/a{2,3}/.exec('aaaa')[0]""",
        """/a{2,3}?/.exec('aaaa')[0]""",
        """/a{,3}/.test('a{,3}')""",
        """/x{1/.test('x{1')""",
        """/(a*)*/.exec('b')""",
        """/(a*)*/.exec('aab')""",
        """/(a*)+/.exec('b')""",
        """/(z)((a+)?(b+)?(c))*/.exec('zaacbbbcac')""",
        """/(?:(a)|b)*/.exec('ab')""",
        """/(|a)*/.exec('aa')""",
        """/(|a)+/.exec('aa')""",
        """/a|ab/.exec('abc')[0]""",
        """/((a)|(ab))((c)|(bc))/.exec('abc')""",
        """/\u0041\x42\t/.test('AB\t')""",
        """/[\]\-\\a-c]+/.exec('x]-\\b')[0]""",
        """/[]/.test('a')""",
        """/[^]/.test('\n')""",
        """/\//.test('a/b')""",
        """/[/]/.test('a/b')""",
        """new RegExp('a+', 'g').flags + new RegExp('a/b').test('a/b')""",
        """String(/a\/b/gi)""",
        """new RegExp(/ab/g, 'i').source""",
        """RegExp('b').exec('abc').index""",
        """'aBc'.match('B')[0]""",
        """[...'a1b2'.matchAll(/([a-z])(\d)/g)].map(m => m[2] + m.index)""",
        """[...'a1b2'.matchAll('[a-z]')].map(m => m[0] + m.index)""",
        """`${'a"b}'.replace(/["}]/g, '')}`""",
        """typeof /a/""",
        """JSON.stringify({ a: /x/ })""",
        """'a😀b'.match(/./gu).length""",
        """'x'.replace(/x/, '$0$1')""",
        """8 / 4 / 2""",
        """[4][0] / 2""",
        """'\u2028a'.match(/^a/m) !== null""",
        """'tEsT'.replace(/[A-Z]/g, c => '_' + c.toLowerCase())""",
        """'  x '.replace(/^\s+|\s+$/g, '')""",
        """'a.b.c'.replace(/\./g, '')""",
        """/(?:ab|cd)+?e/.exec('xababcde')[0]""",
        // Empty parts, which are left out. A repeated position is none, and stays in its group.
        """/(?:(?:){1000}){1000}a/.exec('ba').index""",
        """/(?:(a){0}b)*/.exec('bb')""",
        """/(?:(?:a{0}){3}|b){2}/.exec('bb')""",
        """/(?:a{0}){1000}(?:^)*(?:\b){2}x/.exec('x')[0]""",
        """/()(?:){3}|(?:)/.exec('')""",
        // Texts and flags of several expressions that begin at the same constant, or are parts of one.
        """'aaaa'.replace(/a/, '').replace(/a/g, '')""",
        """[true, false].map(all => 'aAa'.replace(all ? /a/gi : /a/, '-'))""",
        """[1, 3].map(n => 'abcabc'.replace(new RegExp('abc'.substring(0, n), 'g'), ''))""",
        // Letters with several lower cases, or with an upper case of two letters.
        """[/[ςx]/i, /[Σx]/i, /[σx]/i, /[^ς]/i].map(r => ['σ', 'ς', 'Σ', 's'].map(c => r.test(c)))""",
        """[/[µx]/i.test('μ'), /[μx]/i.test('µ'), /[^Μ]/i.test('µ'), /[\u0345]/i.test('\u1FBE')]""",
        """[/\u1F80/i.test('\u1F88'), /[\u1F80x]/i.test('\u1F88'), /ß/i.test('ẞ'), /[ǆ]/i.test('ǅ')]""",
        """[/[a-z]/i.test('K'), /[a-z]/i.test('ſ'), /[K]/i.test('k'), /[^k]/i.test('K'), /𐐀/i.test('𐐨')]""",
        """[/[\x00-@]/i, /[?-@[-`]/i, /[}-\x80]/i].map(r => 'a?@[`}~'.replace(r, '') + r.test('\x7f\x80'))""",
    ];

    [Fact]
    public async Task Regular_expressions_find_what_a_real_engine_finds()
    {
        EngineScript[] scripts = [.. Expressions.Select(static text => new EngineScript("expression", text, "{}"))];
        var expected = await JavaScriptEngine.RunAsync(scripts);
        Assert.Equal(
            scripts.Zip(expected, static (script, result) => $"{script.Text} = {result ?? "failed"}"),
            scripts.Select(static script => $"{script.Text} = {Evaluate(script.Text)}")
        );
    }

    /// <summary>Random regular expressions over few letters, so that captures, loops and anchors interact.</summary>
    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    public async Task Random_regular_expressions_find_what_a_real_engine_finds(int seed)
    {
        var random = new Random(seed);
        EngineScript[] scripts = [.. Enumerable.Range(0, 3000).Select(_ => Next(random))];
        var expected = await JavaScriptEngine.RunAsync(scripts);
        int compared = 0;
        var different = new List<string>();
        for (int index = 0; index < scripts.Length; index++)
        {
            string actual = Evaluate(scripts[index].Text);
            if (
                actual.StartsWith("refused", StringComparison.Ordinal)
                && !actual.Contains("Syntax", StringComparison.Ordinal)
            )
            {
                continue;
            }

            compared++;
            string wanted = expected[index] ?? "refused Syntax";
            if (!string.Equals(wanted, actual, StringComparison.Ordinal))
            {
                different.Add($"{scripts[index].Text}\n  engine {wanted}\n  ours   {actual}");
            }
        }

        Assert.True(different.Count == 0, string.Join('\n', different.Take(20)));
        Assert.True(compared > scripts.Length / 2, $"only {compared} were compared");
    }

    [Theory]
    [InlineData("/(?=a)/", "lookahead")]
    [InlineData("/(?<!a)b/", "lookbehind")]
    [InlineData("/(a)\\1/", "a reference back to a group, '\\1'")]
    [InlineData("/(?<n>a)\\k<n>/", "a reference back to a group, '\\k'")]
    [InlineData("/\\p{L}/u", "a property of Unicode")]
    [InlineData("/(a*)?/", "optional and may be empty")]
    [InlineData("/(?:a*?)*/", "optional and may be empty")]
    [InlineData("/[\\d-x]/", "a range of a set")]
    [InlineData("/a/v", "the flag 'v'")]
    [InlineData("/(?i:a)/", "flags in a group")]
    public void Syntax_that_needs_more_than_linear_time_is_refused_by_name(string pattern, string named)
    {
        var refusal = Assert.Throws<ScriptException>(() => JavaScript.CompilePatch($"this.a = {pattern}.test('a')"));
        Assert.Equal(ScriptFault.NotSupported, refusal.Fault);
        Assert.Contains(named, refusal.Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("/(/")]
    [InlineData("/a)/")]
    [InlineData("/[b-a]/")]
    [InlineData("/a**/")]
    [InlineData("/a/gg")]
    [InlineData("/a/z")]
    [InlineData("/a{3,2}/")]
    [InlineData("/a")]
    [InlineData("/[a/")]
    public void Malformed_regular_expressions_are_syntax_errors(string pattern)
    {
        var refusal = Assert.Throws<ScriptException>(() => JavaScript.CompilePatch($"this.a = {pattern}"));
        Assert.Equal(ScriptFault.Syntax, refusal.Fault);
    }

    [Theory]
    [InlineData("'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!'.match(/^(a+)+$/)")]
    [InlineData("'x'.repeat(2000).match(/(x+x+)+y/)")]
    public void A_search_takes_steps_in_proportion_to_the_text(string expression) =>
        Assert.Equal("null", Evaluate(expression));

    [Theory]
    [InlineData("'x'.repeat(1000000).match(/(x|y){0,150}z/)", "steps")]
    [InlineData("new RegExp(u.p)", "has a '(' that is not closed")]
    [InlineData("new RegExp('\\\\1')", "which this server does not run")]
    [InlineData("'a'.matchAll(/a/)", "without the flag 'g'")]
    [InlineData("'a'.startsWith(/a/)", "which takes a text")]
    [InlineData("u.p.test('a')", "no regular expression")]
    public void A_search_that_cannot_be_done_fails(string expression, string reason) =>
        Assert.Contains(reason, Scripts.Evaluate(expression, """{"p":"("}"""), StringComparison.Ordinal);

    /// <summary>
    /// Formerly, a repetition of nothing was repeated without a bound, on the thread of the request that sent it or
    /// that applied it.
    /// </summary>
    [Theory]
    [InlineData("(?:(?:(?:(?:(?:){1000}){1000}){1000}){1000}){1000}", "true")]
    [InlineData("(?:(?:(?:(?:(?:a{0}){1000}){1000}){1000}){1000}){1000}", "true")]
    [InlineData("(?:(?:(?:(?:(?:(?:){1000}|b){1000}){1000}){1000}){1000}){1000}", "steps when its counts")]
    public async Task Repetitions_of_nothing_take_no_work(string pattern, string result)
    {
        var guard = TimeSpan.FromSeconds(30); // longest wait for what must happen
        string atRun = await Task.Run(() => Scripts.Evaluate($"new RegExp('{pattern}').test('')", "{}"))
            .WaitAsync(guard);
        Assert.Contains(result, atRun, StringComparison.Ordinal);
        string literal = await Task.Run(() => Evaluate($"/{pattern}/.test('')")).WaitAsync(guard);
        Assert.Equal(result is "true" ? "true" : "refused Syntax", literal);
    }

    [Fact]
    public void Parts_that_add_no_instructions_are_limited_when_they_are_repeated()
    {
        string nested =
            string.Concat(Enumerable.Repeat("(?:", 40)) + "a" + string.Concat(Enumerable.Repeat("){1}", 40));
        Assert.Equal("true", Scripts.Evaluate($"new RegExp('(?:{nested}){{100}}').test('a'.repeat(100))", "{}"));
        Assert.Contains(
            "more than 8000 parts",
            Scripts.Evaluate($"new RegExp('(?:{nested}){{1000}}').test('a')", "{}"),
            StringComparison.Ordinal
        );
    }

    [Fact]
    public void A_replacement_takes_steps_for_each_search_for_the_end_of_a_name()
    {
        string replacement = string.Concat(Enumerable.Repeat("$<", 50_000));
        string result = Scripts.Patch("this.a = 'a'.replace(/(?<n>a)/, this.a)", $$"""{"a":"{{replacement}}"}""");
        Assert.Contains("more steps", result, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("const r = /a/g; this.n = 0; while (r.exec('aXa') !== null) this.n += r.lastIndex", """{"n":4}""")]
    [InlineData(
        "const r = /a/y; this.a = r.test('ab'); this.b = r.test('ab'); this.c = r.lastIndex",
        """{"a":true,"b":false,"c":0}"""
    )]
    [InlineData("const r = /a/g; r.lastIndex = 1; this.a = r.exec('aa').index", """{"a":1}""")]
    [InlineData(
        "const r = /a/g; r.lastIndex = 1; this.a = 'aXa'.matchAll(r).map(m => m.index); this.l = r.lastIndex",
        """{"a":[2],"l":1}"""
    )]
    [InlineData(
        "const r = /a/gy; r.lastIndex = 1; this.n = 'aaXa'.matchAll(r).length; this.l = r.lastIndex",
        """{"n":1,"l":1}"""
    )]
    [InlineData(
        "const r = /a/g; r.lastIndex = 4; this.n = 'aaa'.matchAll(r).length; this.l = r.lastIndex",
        """{"n":0,"l":4}"""
    )]
    public void A_regular_expression_keeps_its_place(string script, string document) =>
        Assert.Equal(document, Scripts.Patch(script, "{}"));

    private static string Evaluate(string expression)
    {
        try
        {
            return Scripts.Evaluate(expression, """{"p":1}""");
        }
        catch (ScriptException refusal)
        {
            return $"refused {refusal.Fault}";
        }
    }

    private static EngineScript Next(Random random)
    {
        string flags = string.Concat("gimsy".Where(_ => random.Next(4) == 0));
        string pattern = Pattern(random, level: 0);
        string text = string.Concat(Enumerable.Range(0, random.Next(9)).Select(_ => "aabbcA1 \\n"[random.Next(8)]));
        string call = random.Next(4) switch
        {
            0 => $"'{text}'.replace(/{pattern}/{flags}, '<$&$1>')",
            1 => $"'{text}'.split(/{pattern}/{flags})",
            2 => $"'{text}'.match(/{pattern}/{flags})",
            _ => $"/{pattern}/{flags}.exec('{text}')",
        };
        return new EngineScript("expression", call, "{}");
    }

    private static string Pattern(Random random, int level)
    {
        int parts = 1 + random.Next(3);
        string all = string.Concat(
            Enumerable
                .Range(0, parts)
                .Select(_ =>
                {
                    string atom = random.Next(level > 2 ? 6 : 9) switch
                    {
                        0 => "a",
                        1 => "b",
                        2 => ".",
                        3 => "[ab]",
                        4 => "[^a]",
                        5 => random.Next(3) switch
                        {
                            0 => "\\b",
                            1 => "^",
                            _ => "$",
                        },
                        6 => $"({Pattern(random, level + 1)})",
                        7 => $"(?:{Pattern(random, level + 1)})",
                        _ => $"({Pattern(random, level + 1)}|{Pattern(random, level + 1)})",
                    };
                    bool isPosition = atom is "\\b" or "^" or "$";
                    return isPosition
                        ? atom
                        : atom
                            + random.Next(9) switch
                            {
                                0 => "*",
                                1 => "+",
                                2 => "?",
                                3 => "*?",
                                4 => "{1,2}",
                                5 => "{2}",
                                6 => "+?",
                                _ => "",
                            };
                })
        );
        return random.Next(6) == 0 ? $"{all}|{Pattern(random, 3)}" : all;
    }
}
