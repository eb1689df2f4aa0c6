using Rookery.Scripting.Compiling;
using Rookery.Scripting.CSharp;
using Rookery.Scripting.Running;

namespace Rookery.Scripting.Functions;

/// <summary>
/// Dispatches calls of built-in functions. On null and undefined, string methods return undefined, and array methods
/// that change nothing behave as on an empty array.
/// </summary>
internal static class BuiltIns
{
    private const int StepsPerCall = 4;

    /// <summary>Calls a built-in function. The first argument of a method is its receiver.</summary>
    public static ScriptValue Invoke(
        this ScriptContext context,
        ScriptFunction function,
        ReadOnlySpan<ScriptValue> arguments
    )
    {
        var heap = context.Heap;
        heap.Budget.Spend(StepsPerCall);
        var first = arguments.IsEmpty ? ScriptValue.Undefined : arguments[0];
        var furtherArguments = arguments.IsEmpty ? arguments : arguments[1..];
        return FunctionFamilies.Of(function) switch
        {
            FunctionFamily.Text when first.IsText && TakesPattern(function, furtherArguments) =>
                context.InvokeWithPattern(function, heap.ToText(first), furtherArguments),
            FunctionFamily.Text when first.Kind != ValueKind.Array => first.IsNothing
                ? OfNothing(heap, function, furtherArguments)
                : heap.InvokeOnText(function, heap.ToText(RequireText(first, function)), furtherArguments),
            FunctionFamily.Text or FunctionFamily.Array => first.IsNothing
                ? OfNothing(heap, function, furtherArguments)
                : heap.InvokeOnArray(function, RequireArray(first, function), furtherArguments),
            FunctionFamily.Number => heap.InvokeOnNumber(function, first, arguments),
            FunctionFamily.Members => heap.MembersOf(function, first),
            FunctionFamily.Single => context.InvokeSingle(function, first, furtherArguments),
            FunctionFamily.Pattern => context.InvokeOnPattern(function, arguments),
            FunctionFamily.Moment => context.InvokeOnMoment(function, arguments),
            FunctionFamily.Store => context.InvokeOnStore(function, arguments),
            FunctionFamily.Later => context.InvokeLater(function, arguments),
            var family => context.InvokeAsCSharp(family, function, arguments),
        };
    }

    private static bool TakesPattern(ScriptFunction function, ReadOnlySpan<ScriptValue> arguments) =>
        !arguments.IsEmpty
        && arguments[0].Kind == ValueKind.Pattern
        && function
            is ScriptFunction.Replace
                or ScriptFunction.ReplaceAll
                or ScriptFunction.Split
                or ScriptFunction.StartsWith
                or ScriptFunction.EndsWith
                or ScriptFunction.Includes;

    private static ScriptValue InvokeWithPattern(
        this ScriptContext context,
        ScriptFunction function,
        ScriptValue text,
        ReadOnlySpan<ScriptValue> arguments
    ) =>
        function switch
        {
            ScriptFunction.Replace or ScriptFunction.ReplaceAll => context.ReplacePattern(
                function,
                text,
                arguments[0],
                arguments[1]
            ),
            ScriptFunction.Split => context.Heap.Limited(context.SplitPattern(text, arguments[0]), arguments),
            _ => throw new ScriptFailure(
                $"the script passes a regular expression to {FunctionNames.Of(function)}, which takes a text"
            ),
        };

    private static ScriptValue InvokeSingle(
        this ScriptContext context,
        ScriptFunction function,
        ScriptValue first,
        ReadOnlySpan<ScriptValue> furtherArguments
    )
    {
        var heap = context.Heap;
        return function switch
        {
            ScriptFunction.ToText => first.IsNothing ? ScriptValue.Undefined : heap.ToText(first),
            // The bounds are just outside of what ToFixed accepts.
            ScriptFunction.ToFixed => first.IsNothing
                ? ScriptValue.Undefined
                : heap.ToFixed(
                    heap.ToNumber(first),
                    furtherArguments.IsEmpty ? 0 : heap.ToInteger(furtherArguments[0], min: -1, max: 101)
                ),
            ScriptFunction.Id => context.Documents.IdOf(first),
            ScriptFunction.Load => context.Documents.Load(first),
            ScriptFunction.Metadata => context.Documents.MetadataOf(first),
            ScriptFunction.Counter => context.Answer.ReadCounter(first, furtherArguments[0]),
            ScriptFunction.CounterValues => context.Answer.ReadCounterValues(first, furtherArguments[0]),
            ScriptFunction.IncludeDocuments => context.Answer.IncludeDocuments(first),
            ScriptFunction.IncludeCompareExchange => context.Answer.IncludeCompareExchange(first),
            _ => throw ScriptProgram.Broken(),
        };
    }

    /// <summary>Returns the value if it is a text. Numbers and objects have no string methods.</summary>
    private static ScriptValue RequireText(ScriptValue value, ScriptFunction function) =>
        value.IsText
            ? value
            : throw new ScriptFailure(
                $"the script calls {FunctionNames.Of(function)} on a value that is no text"
                    + (IsForBoth(function) ? " and no array" : "")
            );

    private static ScriptValue RequireArray(ScriptValue value, ScriptFunction function) =>
        value.Kind == ValueKind.Array
            ? value
            : throw new ScriptFailure($"the script calls {FunctionNames.Of(function)} on a value that is no array");

    private static bool IsForBoth(ScriptFunction function) =>
        function
            is ScriptFunction.Slice
                or ScriptFunction.Includes
                or ScriptFunction.IndexOf
                or ScriptFunction.LastIndexOf
                or ScriptFunction.Concat;

    /// <summary>
    /// Returns the result of a method on null or undefined. Methods that would change the receiver fail.
    /// </summary>
    private static ScriptValue OfNothing(
        ScriptHeap heap,
        ScriptFunction function,
        ReadOnlySpan<ScriptValue> arguments
    ) =>
        function switch
        {
            ScriptFunction.Includes => ScriptValue.Of(false),
            ScriptFunction.IndexOf or ScriptFunction.LastIndexOf => ScriptValue.Of(-1),
            ScriptFunction.Concat => heap.InvokeOnArray(function, heap.Containers.NewArray(), arguments),
            ScriptFunction.Flat => heap.Containers.NewArray(),
            ScriptFunction.Push
            or ScriptFunction.Pop
            or ScriptFunction.Shift
            or ScriptFunction.Unshift
            or ScriptFunction.Splice
            or ScriptFunction.Reverse
            or ScriptFunction.Sort => throw new ScriptFailure(
                $"the script calls {FunctionNames.Of(function)} on an array that does not exist"
            ),
            _ => ScriptValue.Undefined,
        };
}
