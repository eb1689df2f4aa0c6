using System.Globalization;
using System.Text;
using Rookery.Json;
using Rookery.Scripting.Compiling;
using Rookery.Scripting.Syntax;

namespace Rookery.Indexing.Definitions;

/// <summary>
/// Recognises functions that can run without the interpreter: maps that return an object of plain values, and reduces
/// that only add numbers. Other functions get no plain form.
/// </summary>
internal sealed class PlainScript
{
    // Maximum lookups of variables. The limit ends the lookup of a variable that is defined by itself.
    private const int MaxLookups = 1024;

    // Maximum nested operators and member accesses. A variable continues the chain of its value, so chains may be
    // longer than those that the interpreter compiles. The maximum bounds the recursion here and in each run.
    private const int MaxDepth = SyntaxDepth.MaxOperations;

    // Maximum reads of whole values, counted at each use: a nested member is searched for in the whole outer object,
    // and an operator reads its whole left value. Such a value may be most of a large document, and a plain function
    // counts no steps.
    private const int MaxWholeReads = 64;

    // Maximum characters in constants, counted at each use, because a variable may be used a thousand times.
    private const int MaxConstantCharacters = Lexer.MaxCharacters;

    private readonly string _parameter;
    private readonly Dictionary<string, Expression> _variables = new(StringComparer.Ordinal);
    private readonly HashSet<string> _used = new(StringComparer.Ordinal);
    private readonly List<string> _names = [];
    private bool _isCSharp;
    private int _lookups;
    private int _constantCharacters;
    private int _wholeReads;
    private int _depth;

    private PlainScript(string parameter) => _parameter = parameter;

    /// <summary>Returns the plain form of a map; null if it needs the interpreter.</summary>
    public static PlainRow? ToRow(ScriptSource source)
    {
        var script = new PlainScript(source.Parameter);
        return script.FindReturned(source.Statements) is { } value && script.ToRow(value) is { } row && script.IsPlain
            ? row
            : null;
    }

    /// <summary>Returns the plain form of a reduce; null if it needs the interpreter.</summary>
    public static PlainReduce? ToReduce(ScriptSource key, ScriptSource row)
    {
        var keys = new PlainScript(key.Parameter);
        if (keys.FindReturned(key.Statements) is not { } grouped)
        {
            return null;
        }

        var composite = keys.ToRow(grouped);
        var single = composite is null ? keys.ToValue(grouped) : null;
        if ((composite is null && single is null) || !keys.IsPlain)
        {
            return null;
        }

        var script = new PlainScript(row.Parameter);
        var members = script.FindReturned(row.Statements) is { } value ? script.ToSums(value) : null;
        if (members is null || !script.IsPlain)
        {
            return null;
        }

        var (keyNames, summed) = (new NamedMembers(keys._names), new NamedMembers(script._names));
        return new PlainReduce(keyNames, single, composite, summed, members, script._isCSharp)
        {
            CanReduceAgain = members.TrueForAll(member =>
                keys._names.Contains(member.Name)
                    ? member.Sum < 0 && keys.IsKeptAs(member.Name, member.KeyMember, grouped)
                    : member.Sum >= 0 && string.Equals(member.Name, script._names[member.Sum], StringComparison.Ordinal)
            ),
        };
    }

    /// <summary>
    /// Whether the function is plain: the value uses every variable, few names, and few whole values. An unused
    /// variable may load a document, and only used variables are known to be plain.
    /// </summary>
    private bool IsPlain =>
        _used.Count == _variables.Count && _names.Count <= PlainRow.MaxNames && _wholeReads <= MaxWholeReads;

    /// <summary>
    /// Returns whether the reduced row keeps a part of the key under the name of the member that it was read from. Then
    /// the reduced row has the key of its group.
    /// </summary>
    private bool IsKeptAs(string name, string keyMember, Expression key)
    {
        var part =
            keyMember.Length == 0
                ? key
                : MembersOf(key)
                    ?.FirstOrDefault(member => string.Equals(member.Name, keyMember, StringComparison.Ordinal))
                    ?.Value;
        return part is not null
            && ToValue(part) is PlainValue.Member { Below.Length: 0, IsId: false } kept
            && string.Equals(_names[kept.Root], name, StringComparison.Ordinal);
    }

    private Expression? FindReturned(IReadOnlyList<Statement> statements) =>
        TryRead(statements, out var returned) ? returned : null;

    /// <summary>Records the variables of statements and finds the returned value.</summary>
    /// <returns>False when there are statements other than constant variables and a return.</returns>
    private bool TryRead(IReadOnlyList<Statement> statements, out Expression? returned)
    {
        returned = null;
        foreach (var statement in statements)
        {
            // A block with its own scope is plain only as the last statement: its variables are not visible after it.
            bool isPlain = statement switch
            {
                VariableStatement { IsConstant: true, Value: { } value } variable => !IsParameter(variable.Name)
                    && _variables.TryAdd(variable.Name, value),
                ReturnStatement { Value: { } value } => (returned = Resolve(value)) is not null,
                BlockStatement block when !block.OpensScope || statement == statements[^1] => TryRead(
                    block.Statements,
                    out returned
                ),
                _ => false,
            };
            if (!isPlain || returned is not null)
            {
                return isPlain;
            }
        }

        return true;
    }

    private PlainRow? ToRow(Expression expression)
    {
        if (MembersOf(expression) is not { } literal)
        {
            return null;
        }

        var members = new List<(string, PlainValue)>();
        foreach (var member in literal)
        {
            if (ToValue(BoostedValues.ValueOf(member.Value)) is not { } value)
            {
                return null;
            }

            members.Add((member.Name!, value));
        }

        return _names.Count <= PlainRow.MaxNames ? new PlainRow(new NamedMembers(_names), members) : null;
    }

    private List<(string Name, string KeyMember, int Sum)>? ToSums(Expression expression)
    {
        var members = new List<(string, string, int)>();
        foreach (var member in MembersOf(expression) ?? [])
        {
            var value = Resolve(member.Value);
            if (KeyMemberOf(value) is { } keyMember)
            {
                members.Add((member.Name!, keyMember, -1));
            }
            else if (SummedBy(value) is { } summed)
            {
                // Only a sum of C# is translated to a function; JavaScript calls reduce().
                _isCSharp |= value is InvokeExpression;
                members.Add((member.Name!, "", NumberOf(summed)));
            }
            else
            {
                return null;
            }
        }

        return members.Count > 0 ? members : null;
    }

    /// <summary>
    /// Returns the members of an object literal; null when a member has no name, a duplicate name, or a name that JSON
    /// escapes.
    /// </summary>
    private static IReadOnlyList<ObjectMember>? MembersOf(Expression expression) =>
        expression is ObjectLiteral literal
        && literal.Members.All(static member => member.Name is not null && IsPlainName(member.Name))
        && literal.Members.DistinctBy(static member => member.Name, StringComparer.Ordinal).Count()
            == literal.Members.Count
            ? literal.Members
            : null;

    private PlainValue? ToValue(Expression expression)
    {
        _depth++;
        var value = _depth > MaxDepth ? null : ToValueWithin(Resolve(expression));
        _depth--;
        return value;
    }

    private PlainValue? ToValueWithin(Expression expression)
    {
        switch (expression)
        {
            case NumberLiteral { IsCSharp: true } number:
                string digits = number.Whole?.ToString(CultureInfo.InvariantCulture) ?? JsonNumber.Format(number.Value);
                return new PlainValue.Constant(
                    Encoding.UTF8.GetBytes(
                        number.Whole is null && digits.AsSpan().IndexOfAny('.', 'e') < 0 ? digits + ".0" : digits
                    )
                );
            case NumberLiteral number when double.IsFinite(number.Value):
                return new PlainValue.Constant(Encoding.UTF8.GetBytes(JsonNumber.Format(number.Value)));
            case TextLiteral text
                when !text.Text.Any(char.IsSurrogate)
                    && (_constantCharacters += text.Text.Length) <= MaxConstantCharacters:
                byte[] plain = Encoding.UTF8.GetBytes(text.Text);
                const int MaxBytesOfEscape = 6;
                byte[] escaped = new byte[MaxBytesOfEscape * plain.Length];
                return new PlainValue.Constant([
                    (byte)'"',
                    .. escaped.AsSpan(0, JsonText.Escape(plain, escaped)),
                    (byte)'"',
                ]);
            case WordLiteral word:
                string json = word.Push switch
                {
                    Opcode.PushNull => "null",
                    Opcode.PushTrue => "true",
                    Opcode.PushFalse => "false",
                    _ => "",
                };
                return new PlainValue.Constant(Encoding.UTF8.GetBytes(json));
            case LogicalExpression choice when ToValue(choice.Left) is { } left && ToValue(choice.Right) is { } right:
                _wholeReads++;
                return new PlainValue.Choice(choice.Keep, left, right);
            case MemberExpression
            or InvokeExpression { Function: ScriptFunction.Property } when ToMember(expression) is { } member:
                _wholeReads += member.Below.Length;
                return member;
            default:
                return null;
        }
    }

    /// <summary>
    /// Returns the access to a member of the function's input; null for anything else, such as the length or an element
    /// of a text or array.
    /// </summary>
    private PlainValue.Member? ToMember(Expression expression)
    {
        _depth++;
        var member = _depth > MaxDepth ? null : ToMemberWithin(expression);
        _depth--;
        return member;
    }

    private PlainValue.Member? ToMemberWithin(Expression expression)
    {
        if (PropertyOf(expression, IsParameter) is { } root)
        {
            return new PlainValue.Member(NumberOf(root), [], expression is InvokeExpression && root is "Id");
        }

        return expression switch
        {
            MemberExpression { Name: not "length" } below
                when IsPlainName(below.Name)
                    && !IsIndex(below.Name)
                    && ToMember(Resolve(below.Target)) is { IsId: false } member => member with
            {
                Below = [.. member.Below, Encoding.UTF8.GetBytes(below.Name)],
            },
            InvokeExpression
            {
                Function: ScriptFunction.Property,
                Arguments: [var target, TextLiteral { Text: not ("Id" or "Value" or "HasValue") } name]
            } when IsPlainName(name.Text) && ToMember(Resolve(target)) is { IsId: false } member => member with
            {
                Below = [.. member.Below, Encoding.UTF8.GetBytes(name.Text)],
                IsCSharp = true,
            },
            _ => null,
        };
    }

    /// <summary>
    /// Returns the member of the group's key that an expression reads; empty for the whole key; null if it reads
    /// something else.
    /// </summary>
    private string? KeyMemberOf(Expression expression)
    {
        if (IsOfGroup(expression, "key"))
        {
            return "";
        }

        if (
            expression is MemberExpression { Name: not ("" or "length") } member
            && IsPlainName(member.Name)
            && IsOfGroup(Resolve(member.Target), "key")
        )
        {
            return member.Name;
        }

        if (
            expression
                is InvokeExpression
                {
                    Function: ScriptFunction.Property,
                    Arguments: [
                        var target,
                        TextLiteral { Text: not ("" or "Id" or "Value" or "HasValue") and var name },
                    ]
                }
            && IsPlainName(name)
            && IsOfGroup(Resolve(target), "key")
        )
        {
            return name;
        }

        return null;
    }

    /// <summary>Returns the member of rows that an expression sums; null if it does something else.</summary>
    private string? SummedBy(Expression expression) =>
        expression switch
        {
            // g.values.reduce((sum, row) => sum + row.count, 0), or with row.count + sum.
            CallExpression
            {
                Callee: MemberExpression { Name: "reduce" } reduce,
                Arguments: [
                    LambdaExpression
                    {
                        Parameters: [var sum, var row],
                        Value: BinaryExpression { Operator: Opcode.Add } add
                    },
                    NumberLiteral { Value: 0 },
                ]
            } when IsOfGroup(Resolve(reduce.Target), "values") && !string.Equals(sum, row, StringComparison.Ordinal) =>
                IsName(add.Left, sum) ? MemberOf(add.Right, row)
                : IsName(add.Right, sum) ? MemberOf(add.Left, row)
                : null,

            // g.Sum(row => row.Count)
            InvokeExpression
            {
                Function: ScriptFunction.Sum,
                Arguments: [
                    CallExpression
                    {
                        Callee: MemberExpression { Name: "map" } map,
                        Arguments: [LambdaExpression { Parameters: [var row], Value: { } value }]
                    },
                ]
            } when IsOfGroup(Resolve(map.Target), "values") => MemberOf(value, row),
            _ => null,
        };

    /// <summary>Returns whether an expression is this member of the parameter of a reduce: the group.</summary>
    private bool IsOfGroup(Expression expression, string name) =>
        expression is MemberExpression member
        && string.Equals(member.Name, name, StringComparison.Ordinal)
        && IsParameter(Resolve(member.Target));

    private static string? MemberOf(Expression expression, string row) =>
        PropertyOf(expression, target => IsName(target, row)) is not "Id" and var name ? name : null;

    /// <summary>
    /// Returns the name of a member access whose target satisfies <paramref name="isObject"/>; null for other
    /// expressions.
    /// </summary>
    private static string? PropertyOf(Expression expression, Func<Expression, bool> isObject) =>
        expression switch
        {
            MemberExpression { Name: not "@metadata" } member
                when isObject(member.Target) && IsPlainName(member.Name) => member.Name,
            InvokeExpression
            {
                Function: ScriptFunction.Property,
                Arguments: [var target, TextLiteral { Text: not "@metadata" and var name }]
            } when isObject(target) && IsPlainName(name) => name,
            _ => null,
        };

    private Expression Resolve(Expression expression)
    {
        while (
            expression is NameExpression { Name: var name }
            && _variables.TryGetValue(name, out var value)
            && _lookups < MaxLookups
        )
        {
            _lookups++;
            _used.Add(name);
            expression = value;
        }

        return expression;
    }

    private bool IsParameter(Expression expression) =>
        Resolve(expression) is NameExpression { Name: var name } && IsParameter(name);

    private bool IsParameter(string name) => string.Equals(name, _parameter, StringComparison.Ordinal);

    private static bool IsName(Expression expression, string name) =>
        expression is NameExpression { Name: var other } && string.Equals(name, other, StringComparison.Ordinal);

    /// <summary>Returns whether a name is an array index in JavaScript.</summary>
    private static bool IsIndex(string name) => name.Length > 0 && !name.AsSpan().ContainsAnyExceptInRange('0', '9');

    private static bool IsPlainName(string name) =>
        !name.Any(char.IsSurrogate) && JsonText.IsPlain(Encoding.UTF8.GetBytes(name));

    private int NumberOf(string name)
    {
        int number = _names.IndexOf(name);
        if (number < 0)
        {
            number = _names.Count;
            _names.Add(name);
        }

        return number;
    }
}
