namespace Rookery.Scripting.Syntax;

/// <summary>A statement. JavaScript and C# are both translated to these types.</summary>
internal abstract record Statement
{
    private int _depth; // 0 if it is not known yet

    /// <summary>Initializes the statement. The properties of derived types are already set.</summary>
    /// <exception cref="ScriptException">The statement is too deep (<see cref="SyntaxDepth"/>).</exception>
    protected Statement(int position)
    {
        Position = position;
        _depth = FindDepth();
    }

    /// <summary>Copies a statement. The copy may get other parts, so its depth is not known yet.</summary>
    protected Statement(Statement original) => Position = original.Position;

    /// <summary>The offset in the text, in characters.</summary>
    public int Position { get; init; }

    /// <summary>
    /// The number of statements and expressions from this one to its innermost one, both included. Declared functions
    /// do not count.
    /// </summary>
    public int Depth => _depth > 0 ? _depth : _depth = FindDepth();

    /// <summary>The statements inside of this one, without those of declared functions; empty for none.</summary>
    public virtual IEnumerable<Statement> Inner => [];

    /// <summary>The expressions directly in this statement, without those of inner statements.</summary>
    public virtual IEnumerable<Expression> Expressions => [];

    /// <summary>
    /// Returns all expressions of statements, of their inner statements and of functions inside of expressions, but not
    /// of declared functions. Not recursive, so a chain of expressions may be as long as a text can be.
    /// </summary>
    public static IEnumerable<Expression> AllExpressions(IEnumerable<Statement> statements)
    {
        var statementsLeft = new Stack<Statement>(statements);
        var expressionsLeft = new Stack<Expression>();
        while (statementsLeft.TryPop(out var statement))
        {
            Push(statementsLeft, statement.Inner);
            Push(expressionsLeft, statement.Expressions);
            while (expressionsLeft.TryPop(out var expression))
            {
                yield return expression;
                Push(expressionsLeft, expression.Operands);
                if (expression is LambdaExpression { Body: { } body })
                {
                    statementsLeft.Push(body);
                }
            }
        }
    }

    private int FindDepth()
    {
        int deepest = 0;
        foreach (var expression in Expressions)
        {
            deepest = Math.Max(deepest, expression.Depth);
        }

        foreach (var statement in Inner)
        {
            deepest = Math.Max(deepest, statement.Depth);
        }

        return SyntaxDepth.Above(deepest, Position);
    }

    private static void Push<T>(Stack<T> left, IEnumerable<T> more)
    {
        foreach (var item in more)
        {
            left.Push(item);
        }
    }
}

/// <summary>An expression whose value is dropped.</summary>
internal sealed record ExpressionStatement(Expression Expression, int Position) : Statement(Position)
{
    /// <inheritdoc/>
    public override IEnumerable<Expression> Expressions => [Expression];
}

/// <summary><c>let a = b</c>: one declaration. A statement may have several.</summary>
internal sealed record VariableStatement(string Name, Expression? Value, bool IsConstant, int Position)
    : Statement(Position)
{
    /// <inheritdoc/>
    public override IEnumerable<Expression> Expressions => Value is null ? [] : [Value];

    /// <summary>
    /// Whether the name refers to this variable in the whole block, even before its declaration, as in JavaScript.
    /// </summary>
    public bool IsHoisted { get; init; }

    /// <summary>Whether this is a <c>var</c>, whose scope is the whole function.</summary>
    public bool IsVar { get; init; }
}

/// <summary>
/// <c>{ … }</c>. Without a scope, the declarations of one <c>let</c>, <c>const</c> or <c>var</c>, or the empty
/// statement.
/// </summary>
internal sealed record BlockStatement(IReadOnlyList<Statement> Statements, bool OpensScope, int Position)
    : Statement(Position)
{
    /// <inheritdoc/>
    public override IEnumerable<Statement> Inner => Statements;
}

/// <summary><c>if (a) b else c</c>.</summary>
internal sealed record IfStatement(Expression Condition, Statement Then, Statement? Otherwise, int Position)
    : Statement(Position)
{
    /// <inheritdoc/>
    public override IEnumerable<Expression> Expressions => [Condition];

    /// <inheritdoc/>
    public override IEnumerable<Statement> Inner => Otherwise is null ? [Then] : [Then, Otherwise];
}

/// <summary><c>for (const a of b) c</c>.</summary>
internal sealed record ForOfStatement(string Name, Expression Values, Statement Body, int Position)
    : Statement(Position)
{
    /// <inheritdoc/>
    public override IEnumerable<Expression> Expressions => [Values];

    /// <summary>Whether the variable is a <c>var</c>, whose scope is the whole function.</summary>
    public bool IsVar { get; init; }

    /// <summary>Whether the variable is a <c>const</c>.</summary>
    public bool IsConstant { get; init; }

    /// <summary>Whether this is <c>for (const a in b)</c>, whose variable has the names of the members.</summary>
    public bool TakesNames { get; init; }

    /// <inheritdoc/>
    public override IEnumerable<Statement> Inner => [Body];
}

/// <summary><c>for (a; b; c) d</c>. Each of the three in brackets may be missing.</summary>
internal sealed record ForStatement(
    Statement? Start,
    Expression? Condition,
    Expression? Step,
    Statement Body,
    int Position
) : Statement(Position)
{
    /// <inheritdoc/>
    public override IEnumerable<Expression> Expressions => new[] { Condition, Step }.OfType<Expression>();

    /// <inheritdoc/>
    public override IEnumerable<Statement> Inner => Start is null ? [Body] : [Start, Body];
}

/// <summary><c>while (a) b</c>, or <c>do b while (a)</c>, which runs the body before the first test.</summary>
internal sealed record WhileStatement(Expression Condition, Statement Body, bool IsDo, int Position)
    : Statement(Position)
{
    /// <inheritdoc/>
    public override IEnumerable<Expression> Expressions => [Condition];

    /// <inheritdoc/>
    public override IEnumerable<Statement> Inner => [Body];
}

/// <summary><c>switch (a) { case b: c }</c>. The clauses share one scope.</summary>
internal sealed record SwitchStatement(Expression Value, IReadOnlyList<SwitchClause> Clauses, int Position)
    : Statement(Position)
{
    /// <inheritdoc/>
    public override IEnumerable<Expression> Expressions =>
        Clauses.Select(static clause => clause.Test).OfType<Expression>().Prepend(Value);

    /// <inheritdoc/>
    public override IEnumerable<Statement> Inner => Clauses.SelectMany(static clause => clause.Statements);
}

/// <summary><c>case a: b</c>; <c>default: b</c> if <paramref name="Test"/> is null.</summary>
internal sealed record SwitchClause(Expression? Test, IReadOnlyList<Statement> Statements);

/// <summary><c>break</c> or <c>continue</c>.</summary>
internal sealed record JumpStatement(bool IsBreak, int Position) : Statement(Position);

/// <summary><c>throw a</c>.</summary>
internal sealed record ThrowStatement(Expression Value, int Position) : Statement(Position)
{
    /// <inheritdoc/>
    public override IEnumerable<Expression> Expressions => [Value];
}

/// <summary><c>return a</c>.</summary>
internal sealed record ReturnStatement(Expression? Value, int Position) : Statement(Position)
{
    /// <inheritdoc/>
    public override IEnumerable<Expression> Expressions => Value is null ? [] : [Value];
}

/// <summary><c>function a(b) { … }</c>.</summary>
internal sealed record FunctionStatement(
    string Name,
    IReadOnlyList<string> Parameters,
    BlockStatement Body,
    int Position
) : Statement(Position);
