using Rookery.Scripting.Compiling;

namespace Rookery.Scripting.Syntax;

/// <summary>What yields a value. Both languages are parsed into these, with JavaScript's meaning.</summary>
/// <param name="Position">Characters of the text before it.</param>
internal abstract record Expression(int Position);

/// <summary>A number.</summary>
internal sealed record NumberLiteral(double Value, int Position) : Expression(Position)
{
    /// <summary>Whether it is one of C#, which tells whole numbers from doubles.</summary>
    public bool IsCSharp { get; init; }

    /// <summary>The number of C# when it is whole.</summary>
    public long? Whole { get; init; }

    /// <summary>Whether that is a <c>long</c>, and no <c>int</c>.</summary>
    public bool IsLong { get; init; }
}

/// <summary>A text.</summary>
internal sealed record TextLiteral(string Text, int Position) : Expression(Position);

/// <summary><c>true</c>, <c>false</c>, <c>null</c>, <c>undefined</c>.</summary>
internal sealed record WordLiteral(Opcode Push, int Position) : Expression(Position);

/// <summary>Texts and values between them, joined.</summary>
internal sealed record TemplateLiteral(IReadOnlyList<Expression> Parts, int Position) : Expression(Position);

/// <summary>A variable or parameter; <c>this</c> is one by that name.</summary>
internal sealed record NameExpression(string Name, int Position) : Expression(Position);

/// <summary><c>a.b</c>, and <c>a?.b</c>, which is the same because no member of nothing is nothing.</summary>
internal sealed record MemberExpression(Expression Target, string Name, int Position) : Expression(Position)
{
    /// <summary>Whether a <c>?.</c> stands before it in its chain, so that it is nothing where that is.</summary>
    public bool IsOptional { get; init; }
}

/// <summary><c>a[b]</c>.</summary>
internal sealed record ElementExpression(Expression Target, Expression Index, int Position) : Expression(Position);

/// <summary>A call of a function by its name, or of a method where <paramref name="Callee"/> is a member.</summary>
internal sealed record CallExpression(Expression Callee, IReadOnlyList<Expression> Arguments, int Position)
    : Expression(Position);

/// <summary><c>[a, ...b]</c>.</summary>
internal sealed record ArrayLiteral(IReadOnlyList<Expression> Elements, int Position) : Expression(Position);

/// <summary><c>...a</c>, in array and object literals.</summary>
internal sealed record SpreadExpression(Expression Inner, int Position) : Expression(Position);

/// <summary>A member of an object literal: a name or a computed key; neither where its value is spread.</summary>
internal sealed record ObjectMember(string? Name, Expression? Key, Expression Value);

/// <summary><c>{ a: 1, b, ...c }</c>.</summary>
internal sealed record ObjectLiteral(IReadOnlyList<ObjectMember> Members, int Position) : Expression(Position);

/// <summary>An operator before its operand.</summary>
internal sealed record UnaryExpression(Opcode Operator, Expression Operand, int Position) : Expression(Position);

/// <summary>An operator between its operands.</summary>
internal sealed record BinaryExpression(Opcode Operator, Expression Left, Expression Right, int Position)
    : Expression(Position);

/// <summary>
/// An operator that may leave its right operand unevaluated; <paramref name="Keep"/> is the jump that keeps the left
/// one.
/// </summary>
internal sealed record LogicalExpression(Opcode Keep, Expression Left, Expression Right, int Position)
    : Expression(Position);

/// <summary><c>a ? b : c</c>.</summary>
internal sealed record ConditionalExpression(Expression Condition, Expression Then, Expression Otherwise, int Position)
    : Expression(Position);

/// <summary>A function as an argument: it has an expression or statements.</summary>
internal sealed record LambdaExpression(
    IReadOnlyList<string> Parameters,
    Expression? Value,
    BlockStatement? Body,
    int Position
) : Expression(Position);

/// <summary><c>a = b</c>, <c>a += b</c>.</summary>
internal sealed record AssignmentExpression(Expression Target, Opcode? Operator, Expression Value, int Position)
    : Expression(Position);

/// <summary><c>a++</c>, <c>--a</c>.</summary>
internal sealed record UpdateExpression(Expression Target, Opcode Operator, bool IsPrefix, int Position)
    : Expression(Position);

/// <summary><c>delete a.b</c>.</summary>
internal sealed record DeleteExpression(Expression Target, int Position) : Expression(Position);

/// <summary>A call of a function that has no name in JavaScript; the receiver is the first argument.</summary>
internal sealed record InvokeExpression(ScriptFunction Function, IReadOnlyList<Expression> Arguments, int Position)
    : Expression(Position);
