using Rookery.Scripting.Compiling;
using Rookery.Scripting.Functions;

namespace Rookery.Scripting.Running;

/// <content>Which function does what. Of nothing, the methods of texts are nothing, and those of arrays what they are
/// of an empty one.</content>
public sealed partial class ScriptInterpreter
{
    private ScriptValue Invoke(ScriptFunction function, ReadOnlySpan<ScriptValue> arguments)
    {
        _heap.Spend(4);
        var first = arguments.IsEmpty ? ScriptValue.Undefined : arguments[0];
        var rest = arguments.IsEmpty ? arguments : arguments[1..];
        return function switch
        {
            <= ScriptFunction.PadEnd when first.Kind != ValueKind.Array => first.IsNothing
                ? OfNothing(function, rest)
                : InvokeOnText(function, _heap.ToText(RequireText(first, function)), rest),
            ScriptFunction.ToText => first.IsNothing ? ScriptValue.Undefined : _heap.ToText(first),
            ScriptFunction.ToFixed => first.IsNothing
                ? ScriptValue.Undefined
                : _heap.ToFixed(_heap.ToNumber(first), rest.IsEmpty ? 0 : _heap.ToInteger(rest[0], 0, 100)),
            <= ScriptFunction.Sort => first.IsNothing
                ? OfNothing(function, rest)
                : InvokeOnArray(function, RequireArray(first, function), rest),
            < ScriptFunction.Keys => _heap.InvokeOnNumber(function, first, arguments),
            ScriptFunction.Keys or ScriptFunction.Values or ScriptFunction.Entries => MembersOf(function, first),
            ScriptFunction.Id => _context.Documents.IdOf(first),
            ScriptFunction.Load => _context.Documents.Load(first),
            ScriptFunction.Metadata => _context.Documents.MetadataOf(first),
            _ => InvokeAsCSharp(function, arguments),
        };
    }

    /// <summary>
    /// Numbers have no methods of texts but those that LINQ would call on their text; objects have none.
    /// </summary>
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

    /// <summary>What a method of nothing yields; those that would change it fail.</summary>
    private ScriptValue OfNothing(ScriptFunction function, ReadOnlySpan<ScriptValue> arguments) =>
        function switch
        {
            ScriptFunction.Includes => ScriptValue.Of(false),
            ScriptFunction.IndexOf or ScriptFunction.LastIndexOf => ScriptValue.Of(-1),
            ScriptFunction.Concat => InvokeOnArray(function, _heap.NewArray(), arguments),
            ScriptFunction.Flat => _heap.NewArray(),
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

    private ScriptValue MembersOf(ScriptFunction function, ScriptValue value)
    {
        value = value.IsText ? Split(_heap.Plain(value), _heap.NewText(default)) : value;
        var array = _heap.NewArray();
        int count = value.IsContainer ? _heap.Count(value) : 0;
        for (int index = 0; index < count; index++)
        {
            _heap.Spend(1);
            var name = value.Kind == ValueKind.Array ? _heap.ToText(ScriptValue.Of(index)) : _heap.Name(value, index);
            var member = value.Kind == ValueKind.Array ? _heap.Element(value, index) : _heap.Member(value, index);
            if (function == ScriptFunction.Entries)
            {
                var entry = _heap.NewArray();
                _heap.Append(entry, name);
                _heap.Append(entry, member);
                member = entry;
            }

            _heap.Append(array, function == ScriptFunction.Keys ? name : member);
        }

        return array;
    }
}
