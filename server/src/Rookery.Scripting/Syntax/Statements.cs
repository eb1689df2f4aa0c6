namespace Rookery.Scripting.Syntax;

/// <summary>What a script does.</summary>
/// <param name="Position">Characters of the text before it.</param>
internal abstract record Statement(int Position);

/// <summary>An expression whose value nobody wants.</summary>
internal sealed record ExpressionStatement(Expression Expression, int Position) : Statement(Position);

/// <summary><c>let a = b</c>, of which a line may hold several.</summary>
internal sealed record VariableStatement(string Name, Expression? Value, bool IsConstant, int Position)
    : Statement(Position)
{
    /// <summary>Whether its name means this variable in the whole block, before it too, as JavaScript has it.</summary>
    public bool IsHoisted { get; init; }

    /// <summary>Whether it is <c>var</c>, which belongs to the whole function.</summary>
    public bool IsVar { get; init; }
}

/// <summary><c>{ … }</c>; the declarations of one line are a block that opens no scope.</summary>
internal sealed record BlockStatement(IReadOnlyList<Statement> Statements, bool OpensScope, int Position)
    : Statement(Position);

/// <summary><c>if (a) b else c</c>.</summary>
internal sealed record IfStatement(Expression Condition, Statement Then, Statement? Otherwise, int Position)
    : Statement(Position);

/// <summary><c>for (const a of b) c</c>.</summary>
internal sealed record ForOfStatement(string Name, Expression Values, Statement Body, int Position)
    : Statement(Position)
{
    /// <summary>Whether its variable is <c>var</c>, which belongs to the whole function.</summary>
    public bool IsVar { get; init; }

    /// <summary>Whether its variable is <c>const</c>.</summary>
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
