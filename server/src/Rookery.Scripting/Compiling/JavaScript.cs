using Rookery.Scripting.Syntax;

namespace Rookery.Scripting.Compiling;

/// <summary>Compiles scripts in JavaScript.</summary>
public static class JavaScript
{
    /// <summary>
    /// Compiles a patch: statements that change <c>this</c>, given <c>args</c> (also as <c>$name</c>).
    /// </summary>
    /// <exception cref="ScriptException">The script is refused.</exception>
    public static ScriptProgram CompilePatch(string text) => new QueryScript().CompileUpdate(new ScriptPart(text, 0));

    /// <summary>
    /// Compiles an expression over documents: an object literal, a call of a function, or anything else that has a
    /// value.
    /// </summary>
    /// <param name="expression">The expression.</param>
    /// <param name="parameters">Names of its parameters, in the order in which they are given to each run; one named
    /// <c>args</c> is also found as <c>$name</c>.</param>
    /// <param name="functions">Declarations of functions that it may call: <c>function f(a) { … }</c>; empty for
    /// none.</param>
    /// <exception cref="ScriptException">The script is refused. Its position counts in <paramref name="functions"/>,
    /// where those are refused, behind the length of <paramref name="expression"/>.</exception>
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

    /// <summary>Names of the members that an expression's object has, as far as they stand there.</summary>
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
