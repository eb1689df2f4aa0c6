using Rookery.Scripting.Syntax;

namespace Rookery.Scripting.Compiling;

/// <summary>A part of a query that is written in JavaScript.</summary>
/// <param name="Text">The text of the part.</param>
/// <param name="Position">The offset of the part in the query, in characters.</param>
public readonly record struct ScriptPart(string Text, int Position);

/// <summary>A function that a query declares.</summary>
/// <param name="Name">The name of the function.</param>
/// <param name="Parameters">The names of the parameters.</param>
/// <param name="Body">The text between the braces.</param>
public sealed record ScriptDeclaration(string Name, IReadOnlyList<string> Parameters, ScriptPart Body);

/// <summary>
/// A named value of a query. For example, <c>load company as c</c> gives <c>load(this.company)</c> the name <c>c</c>.
/// </summary>
/// <param name="Name">The name of the value.</param>
/// <param name="Value">The expression of the value.</param>
public sealed record ScriptDefinition(string Name, ScriptPart Value);

/// <summary>
/// Compiles the JavaScript parts of a query to one program. The program receives the document as <c>this</c> and as
/// <see cref="Alias"/>, and the query's parameters as <c>args</c>. Each parameter is also available as <c>$name</c>.
/// Positions of errors are offsets in the query.
/// </summary>
public sealed record QueryScript
{
    private static readonly string[] Parameters = ["this", "args"];

    /// <summary>The query's name for its document; null if it has none.</summary>
    public string? Alias { get; init; }

    /// <summary>The functions that the query declares.</summary>
    public IReadOnlyList<ScriptDeclaration> Functions { get; init; } = [];

    /// <summary>The named values; each can use the ones before it.</summary>
    public IReadOnlyList<ScriptDefinition> Definitions { get; init; } = [];

    /// <summary>Compiles an expression over the document, which may load other documents.</summary>
    /// <exception cref="ScriptException">A part has a syntax error or uses something unsupported.</exception>
    public ScriptProgram CompileSelection(ScriptPart expression) =>
        CompileSelection(ReadExpression(expression), expression.Position);

    /// <summary>Compiles a call of one of <see cref="Functions"/>.</summary>
    /// <param name="function">The name of the function.</param>
    /// <param name="arguments">The arguments.</param>
    /// <exception cref="ScriptException">A part has a syntax error or uses something unsupported.</exception>
    public ScriptProgram CompileCall(ScriptPart function, IEnumerable<ScriptPart> arguments) =>
        CompileSelection(
            new CallExpression(
                ReadExpression(function),
                [.. arguments.Select(ReadExpression)],
                function.Position + function.Text.Length
            ),
            function.Position
        );

    private ScriptProgram CompileSelection(Expression value, int position)
    {
        Statement[] statements =
        [
            .. Functions.Select(Read),
            .. Definitions.Select(static definition => new VariableStatement(
                definition.Name,
                ReadExpression(definition.Value),
                IsConstant: true,
                definition.Value.Position
            )),
            new ReturnStatement(value, position),
        ];
        return ScriptEmitter.Compile(ScriptUse.Reading, Parameters, statements, JavaScript.FieldsOf(value), Alias);
    }

    /// <summary>
    /// Compiles statements that change the document. Every cluster member runs them and must get the same result.
    /// <see cref="Definitions"/> are not used.
    /// </summary>
    /// <param name="statements">The statements.</param>
    /// <param name="changesMetadata">
    /// Whether the statements may change the document's metadata. A program that mentions metadata is then of the
    /// second version.
    /// </param>
    /// <exception cref="ScriptException">A part has a syntax error or uses something unsupported.</exception>
    public ScriptProgram CompileUpdate(ScriptPart statements, bool changesMetadata)
    {
        var read = new JavaScriptParser(statements.Text, statements.Position).Statements.ParseStatements();
        if (read.Count == 0)
        {
            throw new ScriptException(ScriptFault.Syntax, "The script is empty", statements.Position);
        }

        ScriptEmitter.RefuseVariablesNamedAsFunctions(read);
        return ScriptEmitter.Compile(
            ScriptUse.Patch,
            Parameters,
            [.. Functions.Select(Read), .. read],
            fields: [],
            Alias,
            changesMetadata,
            // In a query, the lines would be those of the query, which this part does not contain.
            statements.Position == 0
            && Functions.Count == 0
                ? statements.Text
                : null
        );
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
