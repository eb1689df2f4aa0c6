using Rookery.Scripting.Syntax;

namespace Rookery.Scripting.Compiling;

/// <summary>
/// Recognises <c>boost(value, factor)</c> of index maps, to which C#'s <c>value.Boost(factor)</c> is translated. The
/// program contains only the value; the factor belongs to the field of the index.
/// </summary>
internal static class BoostedValues
{
    /// <summary>The JavaScript name of the function.</summary>
    public const string Function = "boost";

    /// <summary>Returns the call that an expression is; null if it is another expression.</summary>
    public static CallExpression? TryRead(Expression expression) =>
        expression is CallExpression { Callee: NameExpression { Name: Function }, Arguments.Count: 2 } call
            ? call
            : null;

    /// <summary>Returns the value of a member of a row, without its factor.</summary>
    public static Expression ValueOf(Expression member) => TryRead(member)?.Arguments[0] ?? member;

    /// <summary>Returns the factor of a call.</summary>
    /// <exception cref="ScriptException">The factor is not a positive number in the text.</exception>
    public static double FactorOf(CallExpression call)
    {
        var factor = call.Arguments[1]
            is InvokeExpression
            {
                Function: ScriptFunction.CastToFloat or ScriptFunction.CastToDouble,
                Arguments: [var inner]
            }
            ? inner
            : call.Arguments[1];
        return factor is NumberLiteral { Value: > 0 and < double.PositiveInfinity } number
            ? number.Value
            : throw TokenCursor.NotSupported("a boost that is not a positive number in the text", factor.Position);
    }
}
