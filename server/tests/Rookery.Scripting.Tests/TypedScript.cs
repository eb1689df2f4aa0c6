using System.Globalization;

namespace Rookery.Scripting.Tests;

/// <summary>
/// Generates scripts that call each method on a value that has it, so that a real engine runs most of them to the end.
/// The values are those on which engines differ: halves of surrogate pairs, signed zeros, numbers as keys.
/// </summary>
internal sealed class TypedScript(Random random)
{
    /// <summary>The document of the scripts, with numbers as JavaScript writes them.</summary>
    public const string Document = """
        {
          "n": 5, "f": 1.5, "neg": -7.5, "z": 0, "big": 1e+21,
          "s": "Hello World", "e": "", "num": " 12.50 ", "uni": "Straße İI😀ﬁ ΑΣ.ΟΔΟΣ!", "esc": "a\"\\\n\u2028b",
          "t": true, "no": null, "tags": ["a", "b", "c", "a"], "nums": [3, 1, 10, 2, -0.5],
          "mix": [1, "1", true, null, [2], {"a": 1}, ""], "nested": [[1, 2], [3, [4]]],
          "lines": [{"p": "x", "q": 2}, {"p": "y", "q": 3}],
          "o": {"a": 1, "b": "two", "c": [1], "d": {"e": null}}, "none": {}
        }
        """;

    private const int MaxLevels = 4;

    private static readonly string[] NumberLiterals =
    [
        "0",
        "1",
        "2",
        "3",
        "-1",
        "7",
        "0.5",
        "2.5",
        "-2.5",
        "1e21",
        "1e-7",
        "123456789012",
        "NaN",
        "0x1F",
        ".5",
        "5.",
        "1e3",
        "-0",
    ];

    private static readonly string[] TextLiterals =
    [
        "''",
        "'a'",
        "'b'",
        "' '",
        "','",
        "'l'",
        "'😀'",
        "'é😀x'",
        "'ß'",
        "'İ'",
        "'ΑΣ'",
        "'Σ'",
        "'ŉǰ'",
        "'12'",
        "' 7px'",
        "'0x1f'",
        "'-3.5e2'",
        "'Infinity'",
        "'0b11'",
        "'1_0'",
        "'\\u{1F600}'",
        "'\\x41\\t\\'\\0'",
        "'a\\\nb'",
        "'a\\\r\nb'",
        "'\\q'",
        "\"q'\"",
        "'$&-$`$$'",
        "'null'",
        "'1'",
        "'0'",
        "'-1'",
        "'length'",
        "'a,b,c'",
        "'\\u2028'",
        "'\u00a0\ufeffx\u2003'",
        "'ǅ'",
        "'ᾳ'",
        "'Å'",
    ];

    private static readonly string[] TextMembers = ["s", "e", "num", "uni", "esc"];

    private static readonly string[] NumberMembers = ["n", "f", "neg", "z", "big"];

    private static readonly string[] ArrayMembers = ["tags", "nums", "mix", "nested", "lines"];

    private static readonly string[] Binary = ["==", "!=", "===", "!==", "<", "<=", ">", ">="];

    private readonly List<string> _variables = [];
    private string _root = "u";
    private int _level;
    private int _names;
    private bool _hasFunction;

    /// <summary>Returns a random expression on <c>u</c>.</summary>
    public string Expression()
    {
        (_root, _level) = ("u", 0);
        _variables.Clear();
        return Any();
    }

    /// <summary>Returns random statements that change <c>this</c>.</summary>
    public string Statements()
    {
        _level = 0;
        _variables.Clear();
        string function = Function();
        _root = "this";
        _variables.Add("x");
        _variables.Add("y");
        _hasFunction = true;
        string statements = $"let x = {Any()}, y = {Array()}; {Block(5)}; {function}";
        _hasFunction = false;
        return statements;
    }

    /// <summary>Returns a function that uses only its parameters and an object of its own.</summary>
    private string Function()
    {
        const string Own =
            "{ n: 5, f: 1.5, neg: -7.5, z: 0, big: 1e21, s: 'Hello World', e: '', num: ' 12.50 ', uni: 'ß😀ΑΣ', "
            + "esc: '\\n', t: true, tags: ['a', 'b'], nums: [3, 1], mix: [1, '1', null], nested: [[1], [2, [3]]], "
            + "lines: [{ p: 'x' }], o: { a: 1 }, none: {} }";
        _root = "d";
        string body = Within(
            () => $"if ({Any()}) {{ return {Any()} }} let r = {Any()}; r {Pick(["=", "+=", "-="])} {Any()}; return r",
            "p",
            "q"
        );
        return $"function f(p, q) {{ const d = {Own}; {body} }}";
    }

    private string Any() =>
        Deeper(
            () => Pick(["null", "undefined", "true", $"{_root}.missing", $"{_root}.o", .. _variables, Member()]),
            () => Pick([Pick(NumberLiterals), Pick(TextLiterals)]),
            Number,
            Number,
            Text,
            Text,
            Text,
            Boolean,
            Array,
            Array,
            Object,
            () => $"({Any()} ? {Any()} : {Any()})",
            () => $"({Any()} {Pick(["&&", "||"])} {Any()})",
            () => $"({Any()} ?? {Any()})",
            () => $"({Any()} + {Any()})",
            () => $"({Any()}, {Any()})",
            () => _hasFunction ? $"f({Pick([Any(), $"{Any()}, {Any()}"])})" : Text(),
            () => $"({Array()})[{Pick([Number(), Text(), Any()])}]",
            () => $"({Object()})[{Pick(["'a'", "'b'", Text()])}]",
            () => $"({Object()}).{Pick(["a", "b", "q", "c"])}",
            () => $"({Array()}).{Pick(["find", "findIndex", "some", "every"])}({Lambda(Any)})",
            () => $"({Array()}).reduce({Lambda(Any, parameters: 2)}, {Any()})",
            () => $"({Text()})[{Pick([Number(), "'0'", "'1'", "'length'", "'01'", Text()])}]"
        );

    private string Number() =>
        Deeper(
            () => Pick([Pick(NumberLiterals), $"{_root}.{Pick(NumberMembers)}", $"{_root}.{Pick(TextMembers)}.length"]),
            () => $"({Pick([Number(), Any()])} {Pick(["-", "*", "/", "%"])} {Pick([Number(), Any()])})",
            () => $"({Number()} + {Number()})",
            () => $"({Text()}).length",
            () => $"({Array()}).length",
            () => $"({Text()}).{Pick(["indexOf", "lastIndexOf"])}({Text()})",
            () => $"({Array()}).{Pick(["indexOf", "lastIndexOf"])}({Any()})",
            () => $"Math.{Pick(["round", "floor", "ceil", "abs", "trunc", "sign"])}({Pick([Number(), Any()])})",
            () => $"Math.{Pick(["min", "max"])}({Pick(["", Number(), $"{Number()}, {Any()}"])})",
            () => $"parseInt({Pick([Text(), Any()])}{Pick(["", ", 2", ", 16", ", 36", $", {Number()}"])})",
            () => $"{Pick(["parseFloat", "Number", "Number.parseFloat"])}({Pick([Text(), Any()])})",
            () => $"(-{Any()})",
            () => $"(+{Any()})",
            () => $"(1 / {Number()})",
            () => $"({Any()} {Pick(["&", "|", "^", "<<", ">>", ">>>"])} {Any()})",
            () => $"(~{Any()})"
        );

    private string Text() =>
        Deeper(
            () => Pick([Pick(TextLiterals), $"{_root}.{Pick(TextMembers)}"]),
            () => $"({Text()}).{Pick(["toLowerCase()", "toUpperCase()", "toString()", "charAt()"])}",
            () => $"({Text()}).{Pick(["trim()", "trimStart()", "trimEnd()"])}",
            () => $"({Text()}).{Pick(["slice", "substring", "substr"])}({Index()}{Pick(["", $", {Index()}"])})",
            () => $"({Text()}).charAt({Index()})",
            () => $"({Text()}).{Pick(["replace", "replaceAll"])}({Pick([Text(), Any()])}, {Pick([Text(), Any()])})",
            () => $"({Text()}).concat({Any()}, {Any()})",
            () => $"({Text()}).repeat({Pick(["0", "1", "2", "3", "2.9"])})",
            () =>
                $"({Text()}).{Pick(["padStart", "padEnd"])}({Pick(["0", "3", "9", Index()])}"
                + $"{Pick(["", $", {Text()}"])})",
            () => $"({Number()}).toFixed({Pick(["", "0", "1", "2", "10"])})",
            () => $"({Number()}).toString()",
            () => $"({Array()}).join({Pick(["", Text(), Any()])})",
            () => $"({Array()}).toString()",
            () => $"String({Any()})",
            () => $"(typeof {Any()})",
            () => $"`{Pick(["", "a", "$", "\\`", "\\\n", "\r\n", "{}"])}${{{Any()}}}{Pick(["", "b", "}", "😀"])}`",
            () => $"`${{{Any()}}}${{{Any()}}}`",
            () => $"({Text()} + {Any()})",
            () => $"({Any()} + {Text()})"
        );

    private string Boolean() =>
        Deeper(
            () => Pick(["true", "false", $"{_root}.t"]),
            () => $"({Any()} {Pick(Binary)} {Any()})",
            () => $"({Text()} {Pick(Binary)} {Text()})",
            () => $"({Number()} {Pick(Binary)} {Pick([Number(), Text()])})",
            () => $"(!{Any()})",
            () => $"({Any()} in {Pick([Object(), Array(), Any()])})",
            () => $"({Text()}).{Pick(["startsWith", "endsWith", "includes"])}({Pick([Text(), Any()])})",
            () => $"({Array()}).includes({Any()})",
            () => $"{Pick(["Array.isArray", "isNaN", "isFinite", "Number.isInteger", "Boolean"])}({Any()})"
        );

    private string Array() =>
        Deeper(
            () => Pick(["[]", $"{_root}.{Pick(ArrayMembers)}"]),
            () => $"[{Any()}, {Any()}]",
            () => $"[{Any()}, ...{Array()}]",
            () => $"({Array()}).{Pick(["map", "filter", "flatMap"])}({Lambda(Any)})",
            () => $"({Array()}).map({Lambda(Any, parameters: 2)})",
            () =>
                $"({Array()}).map({Lambda(() => $"{{ if ({Boolean()}) {{ return {Any()} }} return {Any()} }}", parameters: 1)})",
            () => $"({Text()}).split({Pick(["''", "','", "' '", Text()])})",
            () => $"({Array()}).slice({Pick(["", Index(), $"{Index()}, {Index()}"])})",
            () => $"({Array()}).concat({Any()}, {Any()})",
            () => $"({Array()}).flat()",
            () => $"({Array()}).slice().{Pick(["reverse()", "sort()", $"splice({Index()})"])}",
            () => $"({Array()}).slice().sort({Lambda(Any, parameters: 2)})",
            () => $"({Array()}).slice().sort({Lambda(Number, parameters: 2)})",
            () =>
                $"[{string.Join(", ", Enumerable.Range(0, random.Next(8, 60)).Select(_ => Number()))}]"
                + $".sort({Pick(["(a, b) => a - b", "(a, b) => b - a", "(a, b) => a > b", "(a, b) => a % 3 - b % 3", "(a, b) => b > 1 ? -1 : a"])})",
            () => $"({Array()}).slice().splice({Index()}, {Index()}, {Any()})",
            () => $"Object.{Pick(["keys", "values", "entries"])}({Pick([PlainObject(), Array(), Text(), Number()])})"
        );

    /// <summary>Returns an object without numeric names, which engines order first.</summary>
    private string PlainObject() =>
        Pick(["({})", $"{_root}.o", $"{_root}.lines[0]", $"({{ a: {Any()}, 'b c': {Any()} }})"]);

    private string Object() =>
        Deeper(
            () => Pick(["({})", $"{_root}.o", $"{_root}.lines[0]", $"{_root}.none"]),
            () => $"({{ a: {Any()}, 'b c': {Any()} }})",
            () => $"({{ a: {Any()}, ...{Pick([Object(), Any()])}, b: {Any()}, q: {Any()} }})",
            () => $"({{ [{Any()}]: {Any()}, c: {Any()} }})",
            () => $"({{ a: {Any()}, a: {Any()} }})"
        );

    private string Member() => $"{_root}.{Pick(ArrayMembers)}";

    private string Index() =>
        Pick(["0", "1", "2", "3", "5", "-1", "-3", "99", "1.7", "'2'", "null", "undefined", "NaN", Number()]);

    private string Block(int maxStatements)
    {
        int knownVariables = _variables.Count;
        string statements = string.Join(
            "; ",
            Enumerable.Range(0, random.Next(1, maxStatements + 1)).Select(_ => Statement())
        );
        _variables.RemoveRange(knownVariables, _variables.Count - knownVariables);
        return statements;
    }

    private string Statement()
    {
        _level++;
        string statement = (_level > MaxLevels ? 0 : random.Next(18)) switch
        {
            0 or 1 => $"this.{Pick(["a", "n", "s", "tags", "r"])} = {Any()}",
            2 => $"this.{Pick(["n", "s", "f"])} {Pick(["+=", "-=", "*=", "/=", "%="])} {Any()}",
            3 => $"this.{Pick(["n", "s", "missing", "t"])}{Pick(["++", "--"])}",
            4 => $"if ({Any()}) {{ {Block(2)} }} else {{ {Block(2)} }}",
            5 => Loop(),
            6 => $"delete this.{Pick(["n", "s", "o.a", "lines[0].q", "missing"])}",
            7 => $"this.r = this.tags.{Change()}",
            8 => $"y.{Change()}; this.y = y",
            9 => $"{{ let x = {Any()}; {Block(2)} }}",
            10 => $"x {Pick(["=", "+=", "-="])} {Any()}; this.x = x",
            11 => Declaration(),
            13 => StepLoop(),
            14 => $"switch ({Any()}) {{ case {Any()}: {Block(2)}; case {Any()}: {{ {Block(2)} }} break; "
                + $"default: {{ {Block(2)} }} }}",
            15 => $"this.{Pick(["n", "s", "o.a", "missing"])} {Pick(["&=", "|=", "^=", "<<=", ">>=", ">>>="])} {Any()}",
            16 => $"{Pick(["this.n", "this.missing", "this['s']", "x", "y[0]", "y[9]"])} "
                + $"{Pick(["??=", "||=", "&&="])} {Any()}; this.x = x; this.y = y",
            12 => $"y[{Pick(["0", "'0'", "1", "'1'", "y.length", "'length'"])}] = {Any()}; this.y = y",
            _ => $"this.none[{Any()}] = {Any()}",
        };
        _level--;
        return statement;
    }

    /// <summary>Returns a loop over a copy: over an array that the loop extends, a real engine would not end.</summary>
    private string Loop()
    {
        string name = Name(out string element);
        string end = Pick(["", "break", "continue", $"if ({Boolean()}) {{ continue }}; this.k = {Any()}"]);
        return $"for (const {name} of ({Array()}).slice()) {{ {Within(() => Block(2), element)}; {end} }}";
    }

    /// <summary>Returns a loop that ends after few steps, whatever its body does.</summary>
    private string StepLoop()
    {
        string counter = Name(out string number);
        string body = $"{Within(() => Block(2), number)}; {Pick(["", "break", $"if ({Boolean()}) {{ continue }}"])}";
        return random.Next(4) switch
        {
            0 => $"for (let {counter} = 0; {counter} < 3; {counter}++) {{ {body} }}",
            1 => $"{{ let {counter} = 0; while ({counter}++ < 3) {{ {body} }} }}",
            2 => $"{{ let {counter} = 3; do {{ {body} }} while (--{counter} > 0 && {Any()}) }}",
            _ =>
                $"for (const {counter} in {Pick([Object(), $"({Array()}).slice()", Text(), "this.none"])}) {{ {body} }}",
        };
    }

    private string Change() =>
        Pick([
            $"push({Any()}, {Any()})",
            "pop()",
            "shift()",
            $"unshift({Any()})",
            $"splice({Index()}, {Index()}, {Any()})",
            "reverse()",
            "sort()",
        ]);

    private string Declaration()
    {
        string statement = $"{Pick(["let", "const"])} {Name(out string declared)} = {Any()}";
        _variables.Add(declared);
        return $"{statement}; this.d = {declared}";
    }

    private string Lambda(Func<string> body, int parameters = 1)
    {
        string[] parameterNames = [.. Enumerable.Range(0, parameters).Select(_ => Name(out string _))];
        return $"({string.Join(", ", parameterNames)}) => {Within(body, parameterNames)}";
    }

    private string Within(Func<string> body, params string[] parameters)
    {
        _variables.AddRange(parameters);
        string text = body();
        _variables.RemoveRange(_variables.Count - parameters.Length, parameters.Length);
        return text.StartsWith("{ a", StringComparison.Ordinal) ? $"({text})" : text;
    }

    private string Name(out string name) => name = string.Create(CultureInfo.InvariantCulture, $"v{_names++}");

    private string Deeper(Func<string> leaf, params Func<string>[] choices)
    {
        _level++;
        string text = _level > MaxLevels || random.Next(6) == 0 ? leaf() : choices[random.Next(choices.Length)]();
        _level--;
        return text;
    }

    private string Pick(string[] choices) => choices[random.Next(choices.Length)];
}
