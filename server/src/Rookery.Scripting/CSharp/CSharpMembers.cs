using Rookery.Scripting.Compiling;
using Rookery.Scripting.Functions;
using Rookery.Scripting.Running;

namespace Rookery.Scripting.CSharp;

/// <summary>
/// Reads members of C# values. An object's own members take precedence, and a member that it lacks is undefined. A
/// missing member of any other value makes the script fail.
/// </summary>
internal static class CSharpMembers
{
    public static ScriptValue GetProperty(this ScriptContext context, ScriptValue target, ScriptValue name)
    {
        var heap = context.Heap;
        var text = heap.Span(name);
        bool isHasValue = text.SequenceEqual("HasValue"u8);
        if (target.Kind == ValueKind.Object)
        {
            bool isKnown = heap.Containers.Find(target, text) >= 0;
            if (isHasValue && !isKnown)
            {
                throw HasNoMember(heap, target, name);
            }

            if (text.SequenceEqual("Id"u8) && !isKnown)
            {
                return context.Documents.IdOf(target);
            }

            return context.GetMember(target, name);
        }

        // HasValue and Value exist for null and for values whose type has a nullable form. Arrays and strings have no
        // such members.
        if (target.IsNothing)
        {
            return isHasValue ? ScriptValue.Of(false) : ScriptValue.Undefined;
        }

        if ((isHasValue || text.SequenceEqual("Value"u8)) && target.Kind != ValueKind.Array)
        {
            return isHasValue ? ScriptValue.Of(true) : target;
        }

        if (text.SequenceEqual("Length"u8) || text.SequenceEqual("Count"u8))
        {
            if (target.Kind == ValueKind.Array)
            {
                return ScriptValue.OfInt(heap.Containers.Count(target));
            }

            if (target.IsText && text[0] == (byte)'L')
            {
                return ScriptValue.OfInt(heap.LengthOf(heap.Plain(target)));
            }

            throw HasNoMember(heap, target, name);
        }

        var time = heap.TimeOf(target);
        var part =
            time.IsDate ? heap.PartOfDate(time.Date, heap.Span(name))
            : time.IsSpan ? CSharpTimes.PartOfSpan(TimeSpan.FromTicks(time.Span), heap.Span(name))
            : ScriptValue.Undefined;
        return part.Kind == ValueKind.Undefined ? throw HasNoMember(heap, target, name) : part;
    }

    /// <summary>Reads <c>Count</c>, <c>Keys</c> or <c>Values</c> of an object used as a dictionary.</summary>
    public static ScriptValue GetPropertyOfDictionary(this ScriptContext context, ScriptValue target, ScriptValue name)
    {
        var heap = context.Heap;
        if (target.Kind != ValueKind.Object || heap.Containers.Find(target, heap.Span(name)) >= 0)
        {
            return context.GetProperty(target, name);
        }

        return heap.Span(name)[0] switch
        {
            (byte)'C' => ScriptValue.OfInt(heap.Containers.Count(target)),
            (byte)'K' => heap.MembersOf(ScriptFunction.Keys, target),
            _ => heap.MembersOf(ScriptFunction.Values, target),
        };
    }

    /// <summary>
    /// Computes <c>a[b]</c>: an element, a character, or the value of a dictionary's key. If there is no such element
    /// and none is required, the result is <paramref name="otherwise"/>.
    /// </summary>
    public static ScriptValue ElementAt(
        this ScriptContext context,
        ScriptValue target,
        ScriptValue key,
        bool isRequired,
        ScriptValue otherwise
    )
    {
        var heap = context.Heap;
        if (target.IsNothing || key.IsNothing)
        {
            return ScriptValue.Undefined;
        }

        if (target.Kind == ValueKind.Object && key.IsText)
        {
            return context.GetMember(target, heap.Plain(key));
        }

        if (
            !key.IsNumber
            || heap.NumeralOf(key) is not { IsWhole: true } index
            || !(target.IsText || target.Kind == ValueKind.Array)
        )
        {
            throw new ScriptFailure(
                $"the script indexes {CSharpStrings.NameOf(target)} with {CSharpStrings.NameOf(key)}"
            );
        }

        int count = target.IsText ? heap.LengthOf(heap.Plain(target)) : heap.Containers.Count(target);
        if (index.Whole < 0 || index.Whole >= count)
        {
            return isRequired
                ? throw new ScriptFailure(
                    $"the script reads element {index.Whole} of {CSharpStrings.NameOf(target)} of length {count}"
                )
                : otherwise;
        }

        int at = (int)index.Whole;
        return target.IsText
            ? heap.Part(heap.Plain(target), at, at + 1).With(ValueTrait.Character)
            : heap.Containers.Element(target, at);
    }

    private static ScriptFailure HasNoMember(ScriptHeap heap, ScriptValue target, ScriptValue name) =>
        new($"the script reads the member '{heap.Shown(name)}', which {CSharpStrings.NameOf(target)} does not have");
}
