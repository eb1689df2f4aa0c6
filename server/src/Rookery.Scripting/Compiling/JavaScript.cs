using Rookery.Scripting.Syntax;

namespace Rookery.Scripting.Compiling;

/// <summary>Compiles scripts in JavaScript.</summary>
public static class JavaScript
{
    /// <summary>
    /// Compiles a patch: statements that change <c>this</c>. They can use <c>args</c>, whose members are also available
    /// as <c>$name</c>.
    /// </summary>
    /// <param name="text">The script.</param>
    /// <param name="changesMetadata">See <see cref="QueryScript.CompileUpdate"/>.</param>
    /// <exception cref="ScriptException">The script has a syntax error or uses something unsupported.</exception>
    public static ScriptProgram CompilePatch(string text, bool changesMetadata = true) =>
        new QueryScript().CompileUpdate(new ScriptPart(text, Position: 0), changesMetadata);

    /// <summary>
    /// Compiles an expression over documents: an object literal, a function call, or any other value.
    /// </summary>
    /// <param name="expression">The expression.</param>
    /// <param name="parameters">
    /// Names of the parameters, in the order of each run's arguments. Members of one named <c>args</c> are also
    /// available as <c>$name</c>.
    /// </param>
    /// <param name="functions">
    /// Declarations of functions that the expression may call, <c>function f(a) { … }</c>; empty for none.
    /// </param>
    /// <exception cref="ScriptException">
    /// The script has a syntax error or uses something unsupported. Positions in <paramref name="functions"/> are
    /// counted from the end of <paramref name="expression"/>.
    /// </exception>
    public static ScriptProgram CompileProjection(
        string expression,
        IReadOnlyList<string> parameters,
        string functions = ""
    )
    {
        var parser = new JavaScriptParser(expression);
        var value = parser.Expressions.ParseExpression();
        parser.Cursor.TryTake(";");
        parser.ExpectEnd();
        var statements = new List<Statement> { new ReturnStatement(value, value.Position) };
        foreach (var statement in new JavaScriptParser(functions, expression.Length).Statements.ParseStatements())
        {
            statements.Add(
                statement as FunctionStatement
                    ?? throw TokenCursor.NotSupported("statements beside declared functions", statement.Position)
            );
        }

        return ScriptEmitter.Compile(ScriptUse.Reading, parameters, statements, FieldsOf(value));
    }

    /// <summary>
    /// Returns the member names of an object literal, without computed and spread members; empty for other expressions.
    /// </summary>
    internal static IReadOnlyList<string> FieldsOf(Expression value) =>
        value is ObjectLiteral literal
            ?
            [
                .. literal
                    .Members.Where(static member => member.Name is not null)
                    .Select(static member => member.Name!)
                    .Distinct(StringComparer.Ordinal),
            ]
            : [];
}
