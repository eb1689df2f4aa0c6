namespace Rookery.Scripting.Tests;

/// <summary>
/// Generates scripts that mostly compile, with all constructs, on values of all types. In its patterns, $ stands for a
/// random expression, and ; at the start of a block for a random statement.
/// </summary>
internal sealed class RandomScript(Random random)
{
    private static readonly string[] Methods =
    [
        "toLowerCase()",
        "toUpperCase()",
        "trim()",
        "substr($)",
        "substring($, $)",
        "slice($, $)",
        "slice()",
        "startsWith($)",
        "endsWith($)",
        "includes($)",
        "indexOf($)",
        "lastIndexOf($)",
        "replace($, $)",
        "replaceAll($, $)",
        "split($)",
        "concat($, $)",
        "charAt($)",
        "repeat($)",
        "padStart($, $)",
        "padEnd($)",
        "toString()",
        "toFixed($)",
        "join($)",
        "push($, $)",
        "pop()",
        "shift()",
        "unshift($)",
        "splice($, $)",
        "splice($, $, $)",
        "reverse()",
        "flat()",
        "sort()",
        "sort((x, y) => $)",
        "map(x => $)",
        "filter((x, i) => $)",
        "some(x => $)",
        "every(x => $)",
        "find(x => $)",
        "findIndex(x => $)",
        "reduce((r, x) => $, $)",
        "reduce((r, x) => $)",
        "flatMap(x => $)",
        "forEach(x => { ; })",
        "map(x => { ; return $ })",
        "length",
    ];

    private static readonly string[] Functions =
    [
        "Math.round($)",
        "Math.floor($)",
        "Math.min($, $)",
        "Math.max()",
        "Math.sign($)",
        "Number($)",
        "String($)",
        "Boolean($)",
        "parseInt($, $)",
        "parseFloat($)",
        "isNaN($)",
        "Array.isArray($)",
        "Object.keys($)",
        "Object.values($)",
        "Object.entries($)",
        "id(this)",
        "getMetadata(this)",
        "getMetadata($)",
        "f($)",
        "f($, $)",
    ];

    private static readonly string[] Values =
    [
        "this.n",
        "this.s",
        "this.e",
        "this.l",
        "this.o",
        "this.z",
        "this.f",
        "this.t",
        "this.none",
        "this.l[3]",
        "this.l[4]",
        "this.o.b",
        "args.v",
        "$v",
        "this",
        "0",
        "1",
        "-1",
        "2.5",
        "1e9",
        "NaN",
        "null",
        "undefined",
        "true",
        "''",
        "'a'",
        "'é😀'",
        "[]",
        "{}",
        "[1, 'b']",
        "this['@metadata']",
    ];

    private static readonly string[] Operators =
    [
        "+",
        "-",
        "*",
        "/",
        "%",
        "==",
        "!=",
        "===",
        "!==",
        "<",
        "<=",
        ">",
        ">=",
        "&&",
        "||",
        "??",
        "in",
        "&",
        "|",
        "^",
        "<<",
        ">>",
        ">>>",
    ];

    private int _level;

    /// <summary>Returns random statements; some declare what others use.</summary>
    public string Statements(int count) =>
        "function f(p, q) { let r = p; return r } let x = this.n, r = 's'; var i = 0, k; "
        + string.Join("; ", Enumerable.Range(0, random.Next(1, count + 1)).Select(_ => Statement()));

    private string Statement()
    {
        _level++;
        string statement = (_level > 3 ? 0 : random.Next(13)) switch
        {
            0 => $"{Target()} = {Expression()}",
            1 => $"{Target()} {Pick(["+=", "-=", "*=", "%="])} {Expression()}",
            2 => $"{Target()}{Pick(["++", "--"])}",
            3 => $"if ({Expression()}) {{ {Statement()} }} else {{ {Statement()} }}",
            4 => $"for (const y of {Expression()}) {{ {Statement()}; {Pick(["", "break", "continue"])} }}",
            5 => $"delete {Pick(["this.a", "this.o.a", "this.l[3].q", "this[x]", "this.none.a"])}",
            6 => $"{Pick(["this.l", "this.o", "this.s"])}.{Method()}",
            7 => $"{{ let x = {Expression()}; {Statement()} }}",
            8 => $"for (var i = 0; {Expression()}; i++) {{ {Statement()}; {Pick(["", "break", "continue"])} }}",
            9 => $"do {{ {Statement()} }} while ({Expression()})",
            10 => $"switch ({Expression()}) {{ case {Expression()}: {Statement()}; default: {Statement()} }}",
            11 => $"for (var k in {Expression()}) {{ {Statement()} }}",
            _ => Expression() is var value && value.StartsWith('{') ? $"({value})" : value,
        };
        _level--;
        return statement;
    }

    private string Target() =>
        Pick([
            "this.n",
            "this.a",
            "this.l[0]",
            "this.l[5]",
            "this.o.b.c",
            "this[r]",
            "x",
            "r",
            "this.l[3].q",
            "this.none.a",
        ]);

    private string Expression()
    {
        _level++;
        string expression = (_level > 4 ? 0 : random.Next(10)) switch
        {
            0 or 1 or 2 => Pick([.. Values, "x", "i", "r"]),
            3 => $"({Expression()} {Pick(Operators)} {Expression()})",
            4 => $"({Pick(["!", "-", "+", "typeof "])}{Expression()})",
            5 => $"({Expression()} ? {Expression()} : {Expression()})",
            6 => $"({Expression()}).{Method()}",
            7 => Fill(Pick(Functions)),
            8 => Pick(["[$, ...$]", "({ a: $, ...$, [$]: $ })", "`${$}-${$}`", "($)[$]"]) is var pattern
                ? Fill(pattern)
                : "",
            _ => $"({Expression()}).{Pick(["a", "b", "length", "q"])}",
        };
        _level--;
        return expression;
    }

    private string Method() => Fill(Pick(Methods));

    private string Fill(string pattern)
    {
        var parts = pattern.Replace("${", "\u0001{", StringComparison.Ordinal).Split('$');
        string filled = parts[0] + string.Concat(parts.Skip(1).Select(part => Expression() + part));
        return filled
            .Replace("{ ;", "{ " + (_level < 4 ? Statement() : "") + ";", StringComparison.Ordinal)
            .Replace('\u0001', '$');
    }

    private string Pick(string[] choices) => choices[random.Next(choices.Length)];
}
