using Rookery.Scripting.Compiling;
using Rookery.Scripting.Syntax;

namespace Rookery.Indexing.Definitions;

/// <summary>
/// What is known of a value before there are documents: that it is a group, or an object whose members hold groups.
/// </summary>
/// <param name="Members">The members of the object that hold groups, at any depth; null for a group.</param>
internal sealed record LinqShape(IReadOnlyDictionary<string, LinqShape>? Members)
{
    /// <summary>A group of rows: an object of a key and the values.</summary>
    public static LinqShape Group { get; } = new((IReadOnlyDictionary<string, LinqShape>?)null);
}

/// <summary>
/// Knows where groups are kept: C# has <c>.Key</c> and the methods of sequences on one value, and clients write
/// <c>let</c> as an object that holds the group.
/// </summary>
internal sealed class LinqShapes
{
    private readonly Dictionary<string, LinqShape> _variables = new(StringComparer.Ordinal);

    // Noted when they are parsed: a chain of names may be long, and each would be looked up through all before it.
    private readonly Dictionary<Expression, LinqShape> _members = new(ReferenceEqualityComparer.Instance);

    // What 'let' computed may be a dictionary, where a variable that walks over something is a row of data.
    private readonly HashSet<string> _computed = new(StringComparer.Ordinal);

    private readonly HashSet<Expression> _rows = new(ReferenceEqualityComparer.Instance);

    /// <summary>What values may be.</summary>
    public LinqTypes Types { get; } = new();

    /// <summary>What is known of a variable; null for nothing.</summary>
    public LinqShape? Find(string variable) => _variables.GetValueOrDefault(variable);

    /// <summary>Notes what a variable is.</summary>
    public void Set(string variable, LinqShape? shape)
    {
        _variables.Remove(variable);
        _computed.Remove(variable);
        Types.Set(variable, null);
        if (shape is not null)
        {
            _variables.Add(variable, shape);
        }
    }

    /// <summary>Notes the value that a variable is given; returns it.</summary>
    public Expression Let(string variable, Expression value)
    {
        var type = Types.Of(value);
        Set(variable, Of(value));
        Types.Set(variable, type);
        _computed.Add(variable);
        return value;
    }

    /// <summary>Whether a value is a variable that walks over something.</summary>
    public bool IsRow(Expression value) => value is NameExpression name && !_computed.Contains(name.Name);

    /// <summary>What is known of a value.</summary>
    public LinqShape? Of(Expression value) =>
        value switch
        {
            NameExpression name => Find(name.Name),
            MemberExpression or InvokeExpression => _members.GetValueOrDefault(value),
            ConditionalExpression choice => Of(choice.Then) ?? Of(choice.Otherwise),
            LogicalExpression { Keep: Opcode.JumpKeepingValue } choice => Of(choice.Left) ?? Of(choice.Right),
            ObjectLiteral literal => OfMembers(literal),
            _ => null,
        };

    /// <summary>Notes what a member is, from what is known of the value that it is a member of.</summary>
    public Expression Note(Expression member, Expression target, string name)
    {
        if (Of(target)?.Members?.GetValueOrDefault(name) is { } shape)
        {
            _members.Add(member, shape);
        }

        return member;
    }

    /// <summary>What is known of a function's value.</summary>
    /// <param name="function">The function.</param>
    /// <param name="shape">What is known of its parameter.</param>
    public LinqShape? OfResult(LambdaExpression function, LinqShape? shape)
    {
        Set(function.Parameters[0], shape);
        var result = Of(function.Value!);
        Set(function.Parameters[0], null);
        return result;
    }

    /// <summary>Whether a value is a group.</summary>
    public bool IsGroup(Expression value) => Of(value) is { Members: null };

    /// <summary>The values of a group; any other value as it is.</summary>
    public Expression ToSequence(Expression value)
    {
        if (!IsGroup(value))
        {
            return value;
        }

        var values = new MemberExpression(value, "values", value.Position);
        _rows.Add(values);
        return values;
    }

    /// <summary>Whether a value is the rows of a group, or some of them, or a value of each.</summary>
    public bool IsRows(Expression value) =>
        value switch
        {
            CallExpression { Callee: MemberExpression { Name: "map" or "filter" } loop } => IsRows(loop.Target),
            InvokeExpression
            {
                Function: ScriptFunction.Distinct
                    or ScriptFunction.ToSequence
                    or ScriptFunction.SortedByKeys
                    or (>= ScriptFunction.CSharpSkip and <= ScriptFunction.Except),
                Arguments: [var inner, ..],
            } => IsRows(inner),
            _ => _rows.Contains(value),
        };

    /// <summary>A row, whose members are values: a group is its rows.</summary>
    /// <exception cref="ScriptException">It holds a group where that cannot be told from the text.</exception>
    public Expression ToRow(Expression value) =>
        value switch
        {
            ObjectLiteral literal => literal with
            {
                Members = [.. literal.Members.Select(member => member with { Value = ToRow(member.Value) })],
            },
            ConditionalExpression choice => choice with
            {
                Then = ToRow(choice.Then),
                Otherwise = ToRow(choice.Otherwise),
            },
            _ => Of(value)?.Members is null
                ? ToSequence(value)
                : throw TokenCursor.NotSupported("a row with an object that holds a group", value.Position),
        };

    private LinqShape? OfMembers(ObjectLiteral literal)
    {
        Dictionary<string, LinqShape>? held = null;
        foreach (var member in literal.Members)
        {
            if (member.Name is { } name && Of(member.Value) is { } shape)
            {
                (held ??= new(StringComparer.Ordinal))[name] = shape;
            }
        }

        return held is null ? null : new LinqShape(held);
    }
}
