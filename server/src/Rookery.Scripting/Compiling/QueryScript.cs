using Rookery.Scripting.Syntax;

namespace Rookery.Scripting.Compiling;

/// <summary>A part of a query that is JavaScript.</summary>
/// <param name="Text">The part.</param>
/// <param name="Position">Characters of the query before it.</param>
public readonly record struct ScriptPart(string Text, int Position);

/// <summary>A function that a query declares.</summary>
/// <param name="Name">Its name.</param>
/// <param name="Parameters">Names of its parameters.</param>
/// <param name="Body">What stands between its braces.</param>
public sealed record ScriptDeclaration(string Name, IReadOnlyList<string> Parameters, ScriptPart Body);

/// <summary>A value that a query gives a name: <c>load company as c</c> names <c>load(this.company)</c>.</summary>
/// <param name="Name">The name.</param>
/// <param name="Value">The expression.</param>
public sealed record ScriptDefinition(string Name, ScriptPart Value);

/// <summary>
/// Compiles the scripts of queries, which are written in several parts. They are given the document as <c>this</c> and
/// as <see cref="Alias"/>, and the query's parameters as <c>args</c>, each also as <c>$name</c>. Places of refusals
/// count in the query.
/// </summary>
public sealed record QueryScript
{
    private static readonly string[] Parameters = ["this", "args"];

    /// <summary>The query's name for its document; null when it gives none.</summary>
    public string? Alias { get; init; }

    /// <summary>Functions that it declares.</summary>
    public IReadOnlyList<ScriptDeclaration> Functions { get; init; } = [];

    /// <summary>Values that have a name, each known to those behind it.</summary>
    public IReadOnlyList<ScriptDefinition> Definitions { get; init; } = [];

    /// <summary>Compiles an expression over the document, which may load others.</summary>
    /// <exception cref="ScriptException">A part is refused.</exception>
    public ScriptProgram CompileSelection(ScriptPart expression)
    {
        var value = ReadExpression(expression);
        Statement[] statements =
        [
            .. Functions.Select(Read),
            .. Definitions.Select(static definition => new VariableStatement(
                definition.Name,
                ReadExpression(definition.Value),
                IsConstant: true,
                definition.Value.Position
            )),
            new ReturnStatement(value, expression.Position),
        ];
        return ScriptEmitter.Compile(ScriptUse.Reading, Parameters, statements, JavaScript.FieldsOf(value), Alias);
    }

    /// <summary>
    /// Compiles statements that change the document, as every member of the cluster does it: they can load nothing, and
    /// so have no <see cref="Definitions"/>.
    /// </summary>
    /// <exception cref="ScriptException">A part is refused.</exception>
    public ScriptProgram CompileUpdate(ScriptPart statements)
    {
        var read = new JavaScriptParser(statements.Text, statements.Position).Statements.ParseStatements();
        return read.Count == 0
            ? throw new ScriptException(ScriptFault.Syntax, "The script is empty", statements.Position)
            : ScriptEmitter.Compile(ScriptUse.Patch, Parameters, [.. Functions.Select(Read), .. read], [], Alias);
    }

    private static Expression ReadExpression(ScriptPart part)
    {
        var parser = new JavaScriptParser(part.Text, part.Position);
        var value = parser.Expressions.ParseExpression();
        parser.ExpectEnd();
        return value;
    }

    private static FunctionStatement Read(ScriptDeclaration function) =>
        new(
            function.Name,
            function.Parameters,
            new BlockStatement(
                new JavaScriptParser(function.Body.Text, function.Body.Position).Statements.ParseStatements(),
                OpensScope: false,
                function.Body.Position
            ),
            function.Body.Position
        );
}
