using Rookery.Scripting.Compiling;
using Rookery.Scripting.Syntax;

namespace Rookery.Indexing.Definitions;

/// <summary>
/// The shape of a value, if the text of the index determines it: a group of rows, or an object whose members contain
/// groups.
/// </summary>
/// <param name="Members">The members that are groups or contain groups; null if the value itself is a group.</param>
internal sealed record LinqShape(IReadOnlyDictionary<string, LinqShape>? Members)
{
    /// <summary>The shape of a group of rows: an object with the members <c>key</c> and <c>values</c>.</summary>
    public static LinqShape Group { get; } = new((IReadOnlyDictionary<string, LinqShape>?)null);
}

/// <summary>
/// Tracks which expressions are groups or contain groups. A group in C# has both <c>.Key</c> and the sequence methods.
/// Clients translate <c>let</c> to an object that contains the group.
/// </summary>
internal sealed class LinqShapes
{
    private readonly Dictionary<string, LinqShape> _variables = new(StringComparer.Ordinal);

    // The shapes of member accesses. They are recorded during parsing, because looking up a long chain of members
    // recursively would take quadratic time.
    private readonly Dictionary<Expression, LinqShape> _members = new(ReferenceEqualityComparer.Instance);

    // The variables of 'let'. Their value may be a dictionary; the value of an iteration variable is a row, an object.
    private readonly HashSet<string> _letVariables = new(StringComparer.Ordinal);

    // The expressions that are the rows of a group.
    private readonly HashSet<Expression> _rows = new(ReferenceEqualityComparer.Instance);

    /// <summary>The known types of values.</summary>
    public LinqTypes Types { get; } = new();

    /// <summary>Returns the shape of a variable; null if it contains no groups.</summary>
    public LinqShape? Find(string variable) => _variables.GetValueOrDefault(variable);

    /// <summary>Declares a variable with its shape; null if it contains no groups.</summary>
    public void Set(string variable, LinqShape? shape)
    {
        _variables.Remove(variable);
        _letVariables.Remove(variable);
        Types.Set(variable, type: null);
        if (shape is not null)
        {
            _variables.Add(variable, shape);
        }
    }

    /// <summary>Declares a variable of <c>let</c> and returns its value.</summary>
    public Expression Let(string variable, Expression value)
    {
        var type = Types.Of(value);
        Set(variable, Of(value));
        Types.Set(variable, type);
        _letVariables.Add(variable);
        return value;
    }

    /// <summary>Returns whether a value is an iteration variable.</summary>
    public bool IsRow(Expression value) => value is NameExpression name && !_letVariables.Contains(name.Name);

    /// <summary>Returns the shape of a value; null if it contains no groups.</summary>
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

    /// <summary>
    /// Records the shape of a member access, derived from the shape of its target, and returns the access.
    /// </summary>
    public Expression Record(Expression member, Expression target, string name)
    {
        if (Of(target)?.Members?.GetValueOrDefault(name) is { } shape)
        {
            _members.Add(member, shape);
        }

        return member;
    }

    /// <summary>Returns the shape of a lambda's result.</summary>
    /// <param name="function">The lambda.</param>
    /// <param name="shape">The shape of its parameter.</param>
    public LinqShape? OfResult(LambdaExpression function, LinqShape? shape)
    {
        Set(function.Parameters[0], shape);
        var result = Of(function.Value!);
        Set(function.Parameters[0], shape: null);
        return result;
    }

    /// <summary>Returns whether a value is a group.</summary>
    public bool IsGroup(Expression value) => Of(value) is { Members: null };

    /// <summary>Returns the rows of a group. Returns any other value unchanged.</summary>
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

    /// <summary>Returns whether a value is the rows of a group, or a sequence derived from them.</summary>
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

    /// <summary>Returns a reduced row in which each group is replaced by its rows.</summary>
    /// <exception cref="ScriptException">A member may contain a group, but the text does not show where.</exception>
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
        Dictionary<string, LinqShape>? shapes = null;
        foreach (var member in literal.Members)
        {
            if (member.Name is { } name && Of(member.Value) is { } shape)
            {
                (shapes ??= new(StringComparer.Ordinal))[name] = shape;
            }
        }

        return shapes is null ? null : new LinqShape(shapes);
    }
}
