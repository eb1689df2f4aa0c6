using Rookery.Scripting.Compiling;
using Rookery.Scripting.Syntax;

namespace Rookery.Indexing.Definitions;

/// <summary>
/// Makes calls of sequence methods follow the type of the sequence's elements, if the text of the index determines the
/// type. As in C#, numbers that are added to a sequence are converted to the type, and <c>FirstOrDefault</c> and
/// similar methods return the default of the type.
/// </summary>
internal sealed class LinqElements(LinqTypes types)
{
    private static readonly HashSet<string> TakeElements = new(StringComparer.Ordinal)
    {
        "Append",
        "Prepend",
        "DefaultIfEmpty",
        "Contains",
    };

    private static readonly HashSet<string> TakeSequences = new(StringComparer.Ordinal)
    {
        "Concat",
        "Union",
        "Intersect",
        "Except",
        "SequenceEqual",
    };

    /// <summary>Returns the arguments of a method with numbers converted to the element type.</summary>
    /// <exception cref="ScriptException">The method combines sequences of different types of numbers.</exception>
    public List<Expression> Convert(Expression target, Token method, List<Expression> arguments)
    {
        if (arguments is [var seed, LambdaExpression { Value: { } value } fold] && method.Text is "Aggregate")
        {
            // The type of the lambda's result was recorded while the types of its parameters were known.
            return
                types.Numbers.ExactOf(seed) is { } accumulator
                && LinqNumbers.ConvertFolded(value, types.ResultOf(fold)?.Exact, accumulator) is var folded
                && !ReferenceEquals(folded, value)
                ? [seed, fold with { Value = folded }]
                : arguments;
        }

        if (arguments is not [var only] || only is LambdaExpression || types.ElementOf(target)?.Exact is not { } type)
        {
            return arguments;
        }

        if (TakeElements.Contains(method.Text))
        {
            // A number from a document may not fit into the type. 'Contains' must not fail then, because the number
            // merely equals no element.
            return
                method.Text is "Contains"
                && type is ScriptFunction.CastToInt or ScriptFunction.CastToLong
                && types.Numbers.ExactOf(only) is null
                ? arguments
                : [types.Numbers.ConvertElement(only, type)];
        }

        return TakeSequences.Contains(method.Text) && types.ElementOf(only)?.Exact is { } other && other != type
            ? throw TokenCursor.NotSupported($"'{method.Text}' of elements of different types", method.Position)
            : arguments;
    }

    /// <summary>
    /// Adds the default of the element type to a call that returns it if the sequence has no element. Converts the
    /// result of <c>Sum</c> to the element type. Returns other calls unchanged.
    /// </summary>
    public Expression WithDefault(Expression call)
    {
        if (
            call is not InvokeExpression { Arguments: [var sequence, ..] } invoke
            || types.ElementOf(sequence) is not { IsNullable: false, Exact: { } type }
        )
        {
            return call;
        }

        switch (invoke.Function)
        {
            case ScriptFunction.FirstOrNothing
            or ScriptFunction.LastOrNothing
            or ScriptFunction.OnlyOrNothing
            or ScriptFunction.OrNothing when invoke.Arguments.Count == 1:
            case ScriptFunction.ElementAtOrNothing:
                return DefaultOf(type, call.Position) is { } value
                    ? invoke with
                    {
                        Arguments = [.. invoke.Arguments, value],
                    }
                    : call;
            case ScriptFunction.Sum
                when type
                    is ScriptFunction.CastToLong
                        or ScriptFunction.CastToFloat
                        or ScriptFunction.CastToDouble
                        or ScriptFunction.CastToDecimal:
                return new InvokeExpression(type, [call], call.Position);
            default:
                return call;
        }
    }

    private static Expression? DefaultOf(ScriptFunction type, int at) =>
        type switch
        {
            ScriptFunction.CastToInt => LinqConstants.Whole(0, at),
            ScriptFunction.CastToLong => LinqConstants.Long(0, at),
            ScriptFunction.CastToDouble => new NumberLiteral(0, at) { IsCSharp = true },
            ScriptFunction.CastToFloat => new InvokeExpression(type, [LinqConstants.Whole(0, at)], at),
            ScriptFunction.CastToDecimal => new InvokeExpression(type, [LinqConstants.Whole(0, at)], at),
            ScriptFunction.ToCharacter => new InvokeExpression(type, [new TextLiteral("\0", at)], at),
            ScriptFunction.Condition => new WordLiteral(Opcode.PushFalse, at),
            ScriptFunction.NewDate or ScriptFunction.NewSpan => new InvokeExpression(
                type,
                [LinqConstants.Whole(0, at)],
                at
            ),
            _ => null,
        };
}
