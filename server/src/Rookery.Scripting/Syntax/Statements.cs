namespace Rookery.Scripting.Syntax;

/// <summary>A statement. JavaScript and C# are both translated to these types.</summary>
/// <param name="Position">The offset in the text, in characters.</param>
internal abstract record Statement(int Position);

/// <summary>An expression whose value is dropped.</summary>
internal sealed record ExpressionStatement(Expression Expression, int Position) : Statement(Position);

/// <summary><c>let a = b</c>: one declaration. A statement may have several.</summary>
internal sealed record VariableStatement(string Name, Expression? Value, bool IsConstant, int Position)
    : Statement(Position)
{
    /// <summary>
    /// Whether the name refers to this variable in the whole block, even before its declaration, as in JavaScript.
    /// </summary>
    public bool IsHoisted { get; init; }

    /// <summary>Whether this is a <c>var</c>, whose scope is the whole function.</summary>
    public bool IsVar { get; init; }
}

/// <summary><c>{ … }</c>. Also several declarations of one statement, as a block that opens no scope.</summary>
internal sealed record BlockStatement(IReadOnlyList<Statement> Statements, bool OpensScope, int Position)
    : Statement(Position);

/// <summary><c>if (a) b else c</c>.</summary>
internal sealed record IfStatement(Expression Condition, Statement Then, Statement? Otherwise, int Position)
    : Statement(Position);

/// <summary><c>for (const a of b) c</c>.</summary>
internal sealed record ForOfStatement(string Name, Expression Values, Statement Body, int Position)
    : Statement(Position)
{
    /// <summary>Whether the variable is a <c>var</c>, whose scope is the whole function.</summary>
    public bool IsVar { get; init; }

    /// <summary>Whether the variable is a <c>const</c>.</summary>
    public bool IsConstant { get; init; }
}

/// <summary><c>break</c> or <c>continue</c>.</summary>
internal sealed record LoopStatement(bool IsBreak, int Position) : Statement(Position);

/// <summary><c>return a</c>.</summary>
internal sealed record ReturnStatement(Expression? Value, int Position) : Statement(Position);

/// <summary><c>function a(b) { … }</c>.</summary>
internal sealed record FunctionStatement(
    string Name,
    IReadOnlyList<string> Parameters,
    BlockStatement Body,
    int Position
) : Statement(Position);
