using System.Globalization;

namespace Rookery.Scripting.Tests;

/// <summary>Random scripts that declare few names in many places, and read, assign and call them.</summary>
internal sealed class ScopeScript(Random random)
{
    // The first two may be assigned. The others are names of the engine.
    private static readonly string[] Names = ["a", "f", "isNaN", "Math", "undefined", "NaN"];
    private int _members;

    /// <summary>Returns the statements of a script in strict mode.</summary>
    public string Statements()
    {
        _members = 0;
        string function = random.Next(2) == 0 ? "" : $"function {Names[random.Next(2)]}(c) {{ return c + 1 }}; ";
        return "'use strict'; " + function + Statements(depth: 0, isFunction: false);
    }

    private string Statements(int depth, bool isFunction) =>
        string.Join(
            "; ",
            Enumerable.Range(0, random.Next(1, depth == 0 ? 5 : 3)).Select(_ => Statement(depth, isFunction))
        );

    private string Statement(int depth, bool isFunction)
    {
        int kind = random.Next(depth < 3 ? 15 : 7);
        return kind switch
        {
            12 => $"for ({Declaration()} {Name()} in {List()}) {{ {Statements(depth + 1, isFunction)} }}",
            13 => CountedLoop(depth, isFunction),
            14 => SwitchStatement(depth, isFunction),
            0 => $"let {Name()} = {Value(depth)}",
            1 => $"const {Name()} = {Value(depth)}",
            2 => $"var {Name()} = {Value(depth)}",
            3 => random.Next(2) == 0 ? $"let {Name()}" : $"var {Name()}",
            4 => $"{Assigned()} {(random.Next(2) == 0 ? "=" : "+=")} {Value(depth)}",
            5 or 6 => isFunction ? $"if (r) return {Value(depth)}" : MemberAssignment(Value(depth)),
            7 => $"{{ {Statements(depth + 1, isFunction)} }}",
            8 => random.Next(2) == 0
                ? $"if ({Value(depth)}) {{ {Statements(depth + 1, isFunction)} }}"
                : $"if ({Value(depth)}) {(random.Next(3) == 0 ? "let" : "var")} {Name()} = {Value(depth)}",
            9 => $"for ({Declaration()} {Name()} of {List()}) {{ {Statements(depth + 1, isFunction)} }}",
            10 when depth == 0 =>
                $"function {Name()}({Parameter()}) {{ const r = 1; {Statements(depth + 1, isFunction: true)} }}",
            _ => isFunction
                ? $"{Assigned()} = {Value(depth)}"
                : MemberAssignment(
                    $"[1, 2].map({Name()} => {{ {Statements(depth + 1, isFunction: false)}; return {Value(depth)} }})"
                ),
        };
    }

    /// <summary>Returns a loop of at most two iterations, whose counter has a name of its own.</summary>
    private string CountedLoop(int depth, bool isFunction)
    {
        string body = Statements(depth + 1, isFunction);
        string counter = $"i{depth}";
        string jump = random.Next(4) switch
        {
            0 => "; break",
            1 => "; continue",
            _ => "",
        };
        return random.Next(3) switch
        {
            0 => $"for ({Declaration()} {counter} = 0, {Name()} = {Value(depth)}; {counter} < 2; {counter}++) "
                + $"{{ {body}{jump} }}",
            1 => $"{{ let {counter} = 0; while ({counter}++ < 2) {{ {body}{jump} }} }}",
            _ => $"{{ let {counter} = 0; do {{ {body}{jump} }} while (++{counter} < 2) }}",
        };
    }

    private string SwitchStatement(int depth, bool isFunction)
    {
        string[] clauses =
        [
            $"case {Value(depth)}: {Statements(depth + 1, isFunction)}",
            $"case {random.Next(3)}: {{ {Statements(depth + 1, isFunction)} }} break",
            $"default: {{ {Statements(depth + 1, isFunction)} }}",
        ];
        random.Shuffle(clauses);
        return $"switch ({Value(depth)}) {{ {string.Join("; ", clauses.Take(random.Next(4)))} }}";
    }

    // Assigns to another member of the document each time, so that the document shows all values.
    private string MemberAssignment(string value) =>
        string.Create(CultureInfo.InvariantCulture, $"this.m{_members++} = {value}");

    private string List() => random.Next(4) == 0 ? $"[{Name()}]" : "[1, 2]";

    private string Parameter() => random.Next(2) == 0 ? "" : Name();

    private string Logic() =>
        random.Next(3) switch
        {
            0 => "??",
            1 => "||",
            _ => "&&",
        };

    private string Declaration() =>
        random.Next(3) switch
        {
            0 => "let",
            1 => "const",
            _ => "var",
        };

    private string Value(int depth) =>
        random.Next(11) switch
        {
            0 or 1 => Name(),
            2 => $"typeof {Name()}",
            3 => $"{Name()}({random.Next(9)})",
            4 => random.Next(2) == 0 ? $"[3, 4].map({Name()} => {Name()})" : $"[3, 4].map({Name()})",
            5 => $"({Name()} + {random.Next(9)})",
            6 => $"Math.max({Name()}, 1)",
            7 => $"{Name()} {Logic()} {Name()} {Logic()} {random.Next(9)}",
            8 => $"({Name()} {Logic()} {random.Next(2)}) {Logic()} {Name()}",
            9 => $"`${{{Name()}}}`",
            _ => random.Next(9).ToString(CultureInfo.InvariantCulture),
        };

    // An assignment to a function of the engine would change it for the scripts after this one.
    private string Assigned() => Names[random.Next(2)];

    private string Name() => Names[random.Next(random.Next(6) == 0 ? Names.Length : 2)];
}
