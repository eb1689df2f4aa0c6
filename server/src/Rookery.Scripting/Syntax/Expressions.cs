using Rookery.Scripting.Compiling;

namespace Rookery.Scripting.Syntax;

/// <summary>
/// An expression. JavaScript and C# are both parsed to these types, whose meaning is that of JavaScript.
/// </summary>
internal abstract record Expression
{
    private int _depth; // 0 if it is not known yet

    /// <summary>Initializes the expression. The properties of derived types are already set.</summary>
    /// <exception cref="ScriptException">The expression is too deep (<see cref="SyntaxDepth"/>).</exception>
    protected Expression(int position)
    {
        Position = position;
        _depth = FindDepth();
    }

    /// <summary>Copies an expression. The copy may get other operands, so its depth is not known yet.</summary>
    protected Expression(Expression original) => Position = original.Position;

    /// <summary>The offset in the text, in characters.</summary>
    public int Position { get; init; }

    /// <summary>The expressions directly inside of this one; those in the body of a function are not.</summary>
    public virtual IEnumerable<Expression> Operands => [];

    /// <summary>
    /// The number of expressions and statements from this one to its innermost one, both included. Statements in
    /// functions count.
    /// </summary>
    public int Depth => _depth > 0 ? _depth : _depth = FindDepth();

    private int FindDepth()
    {
        int deepest = this is LambdaExpression { Body: { } body } ? body.Depth : 0;
        foreach (var operand in Operands)
        {
            deepest = Math.Max(deepest, operand.Depth);
        }

        return SyntaxDepth.Above(deepest, Position);
    }
}

/// <summary>A number literal.</summary>
internal sealed record NumberLiteral(double Value, int Position) : Expression(Position)
{
    /// <summary>Whether this is a number of C#, which distinguishes integers and doubles.</summary>
    public bool IsCSharp { get; init; }

    /// <summary>The value of a C# integer; null for a double and for JavaScript.</summary>
    public long? Whole { get; init; }

    /// <summary>Whether a C# integer is a <c>long</c> rather than an <c>int</c>.</summary>
    public bool IsLong { get; init; }
}

/// <summary>A text literal.</summary>
internal sealed record TextLiteral(string Text, int Position) : Expression(Position);

/// <summary><c>true</c>, <c>false</c>, <c>null</c>, <c>undefined</c>.</summary>
internal sealed record WordLiteral(Opcode Push, int Position) : Expression(Position);

/// <summary>A template literal: texts alternating with values.</summary>
internal sealed record TemplateLiteral(IReadOnlyList<Expression> Parts, int Position) : Expression(Position)
{
    /// <inheritdoc/>
    public override IEnumerable<Expression> Operands => Parts;
}

/// <summary>A variable or parameter, or <c>this</c>.</summary>
internal sealed record NameExpression(string Name, int Position) : Expression(Position);

/// <summary>
/// <c>a.b</c> or <c>a?.b</c>. Both mean the same, because a member of null or undefined is undefined.
/// </summary>
internal sealed record MemberExpression(Expression Target, string Name, int Position) : Expression(Position)
{
    /// <inheritdoc/>
    public override IEnumerable<Expression> Operands => [Target];

    /// <summary>Whether a <c>?.</c> stands before this member, directly or earlier in the chain.</summary>
    public bool IsInOptionalChain { get; init; }

    /// <summary>Whether a <c>?.</c> stands directly before this member.</summary>
    public bool FollowsOptionalDot { get; init; }
}

/// <summary><c>a[b]</c> or <c>a?.[b]</c>.</summary>
internal sealed record ElementExpression(Expression Target, Expression Index, int Position) : Expression(Position)
{
    /// <inheritdoc/>
    public override IEnumerable<Expression> Operands => [Target, Index];

    /// <summary>Whether a <c>?.</c> stands directly before the bracket.</summary>
    public bool FollowsOptionalDot { get; init; }
}

/// <summary>A call of a function by name, or of a method if <paramref name="Callee"/> is a member.</summary>
internal sealed record CallExpression(Expression Callee, IReadOnlyList<Expression> Arguments, int Position)
    : Expression(Position)
{
    /// <inheritdoc/>
    public override IEnumerable<Expression> Operands => [Callee, .. Arguments];
}

/// <summary><c>new a(b)</c>.</summary>
internal sealed record NewExpression(string Name, IReadOnlyList<Expression> Arguments, int Position)
    : Expression(Position)
{
    /// <inheritdoc/>
    public override IEnumerable<Expression> Operands => Arguments;
}

/// <summary><c>[a, ...b]</c>.</summary>
internal sealed record ArrayLiteral(IReadOnlyList<Expression> Elements, int Position) : Expression(Position)
{
    /// <inheritdoc/>
    public override IEnumerable<Expression> Operands => Elements;

    /// <summary>
    /// The type that C# text gives to the elements, as the function that converts to it; null if there is none.
    /// </summary>
    public ScriptFunction? ElementType { get; init; }

    /// <summary>Whether C# text gives the elements a nullable type.</summary>
    public bool HasNullableElements { get; init; }
}

/// <summary><c>...a</c>, in array and object literals.</summary>
internal sealed record SpreadExpression(Expression Inner, int Position) : Expression(Position)
{
    /// <inheritdoc/>
    public override IEnumerable<Expression> Operands => [Inner];
}

/// <summary>A member of an object literal. It has a name or a computed key; neither if its value is spread.</summary>
internal sealed record ObjectMember(string? Name, Expression? Key, Expression Value);

/// <summary><c>{ a: 1, b, ...c }</c>.</summary>
internal sealed record ObjectLiteral(IReadOnlyList<ObjectMember> Members, int Position) : Expression(Position)
{
    /// <inheritdoc/>
    public override IEnumerable<Expression> Operands =>
        Members.SelectMany(static member => member.Key is null ? [member.Value] : new[] { member.Key, member.Value });
}

/// <summary>An operator before its operand.</summary>
internal sealed record UnaryExpression(Opcode Operator, Expression Operand, int Position) : Expression(Position)
{
    /// <inheritdoc/>
    public override IEnumerable<Expression> Operands => [Operand];
}

/// <summary>An operator between its operands.</summary>
internal sealed record BinaryExpression(Opcode Operator, Expression Left, Expression Right, int Position)
    : Expression(Position)
{
    /// <inheritdoc/>
    public override IEnumerable<Expression> Operands => [Left, Right];
}

/// <summary>
/// An operator that may skip its right operand. <paramref name="Keep"/> is the jump that keeps the left operand.
/// </summary>
internal sealed record LogicalExpression(Opcode Keep, Expression Left, Expression Right, int Position)
    : Expression(Position)
{
    /// <inheritdoc/>
    public override IEnumerable<Expression> Operands => [Left, Right];
}

/// <summary><c>a ? b : c</c>.</summary>
internal sealed record ConditionalExpression(Expression Condition, Expression Then, Expression Otherwise, int Position)
    : Expression(Position)
{
    /// <inheritdoc/>
    public override IEnumerable<Expression> Operands => [Condition, Then, Otherwise];

    /// <summary>A part of this expression that may stand in it several times and is computed once; or null.</summary>
    public Expression? Shared { get; init; }
}

/// <summary><c>a, b</c>: computes the parts in order, and has the value of the last one.</summary>
internal sealed record SequenceExpression(IReadOnlyList<Expression> Parts, int Position) : Expression(Position)
{
    /// <inheritdoc/>
    public override IEnumerable<Expression> Operands => Parts;
}

/// <summary>A function as an argument. Its body is either an expression or a block.</summary>
internal sealed record LambdaExpression(
    IReadOnlyList<string> Parameters,
    Expression? Value,
    BlockStatement? Body,
    int Position
) : Expression(Position)
{
    /// <inheritdoc/>
    public override IEnumerable<Expression> Operands => Value is null ? [] : [Value];

    /// <summary>Whether the function may add or remove elements of an array that it is called for.</summary>
    public bool MayResize { get; init; }
}

/// <summary>
/// <c>a = b</c>, <c>a += b</c>, <c>a ??= b</c>. The operator of the last is the jump that keeps the old value.
/// </summary>
internal sealed record AssignmentExpression(Expression Target, Opcode? Operator, Expression Value, int Position)
    : Expression(Position)
{
    /// <inheritdoc/>
    public override IEnumerable<Expression> Operands => [Target, Value];
}

/// <summary><c>a++</c>, <c>--a</c>.</summary>
internal sealed record UpdateExpression(Expression Target, Opcode Operator, bool IsPrefix, int Position)
    : Expression(Position)
{
    /// <inheritdoc/>
    public override IEnumerable<Expression> Operands => [Target];
}

/// <summary><c>delete a.b</c>.</summary>
internal sealed record DeleteExpression(Expression Target, int Position) : Expression(Position)
{
    /// <inheritdoc/>
    public override IEnumerable<Expression> Operands => [Target];
}

/// <summary>A call of a built-in function. The receiver of a method is the first argument.</summary>
internal sealed record InvokeExpression(ScriptFunction Function, IReadOnlyList<Expression> Arguments, int Position)
    : Expression(Position)
{
    /// <inheritdoc/>
    public override IEnumerable<Expression> Operands => Arguments;

    /// <summary>Whether this is a cast of C# to a nullable type, such as <c>(int?)a</c>.</summary>
    public bool IsNullable { get; init; }
}
