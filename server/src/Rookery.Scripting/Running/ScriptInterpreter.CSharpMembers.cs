using Rookery.Scripting.Compiling;
using Rookery.Scripting.CSharp;

namespace Rookery.Scripting.Running;

/// <content>Members of values of C#. An object's own comes first, and one that it lacks is undefined, as data may lack
/// it; a member that a value of another kind has not fails.</content>
public sealed partial class ScriptInterpreter
{
    private ScriptValue GetProperty(ScriptValue target, ScriptValue name)
    {
        var text = _heap.Span(name);
        bool asksWhether = text.SequenceEqual("HasValue"u8);
        if (target.Kind == ValueKind.Object)
        {
            bool isKnown = _heap.Find(target, text) >= 0;
            return asksWhether && !isKnown ? throw HasNoMember(target, name)
                : text.SequenceEqual("Id"u8) && !isKnown ? _context.Documents.IdOf(target)
                : GetMember(target, name);
        }

        // Of nothing and of what may be a value of a nullable type; an array and a string are none.
        if (target.IsNothing)
        {
            return asksWhether ? ScriptValue.Of(false) : ScriptValue.Undefined;
        }

        if ((asksWhether || text.SequenceEqual("Value"u8)) && target.Kind != ValueKind.Array)
        {
            return asksWhether ? ScriptValue.Of(true) : target;
        }

        if (text.SequenceEqual("Length"u8) || text.SequenceEqual("Count"u8))
        {
            return target.Kind == ValueKind.Array ? ScriptValue.OfInt(_heap.Count(target))
                : target.IsText && text[0] == (byte)'L' ? ScriptValue.OfInt(LengthOf(_heap.Plain(target)))
                : throw HasNoMember(target, name);
        }

        var time = _heap.TimeOf(target);
        var part =
            time.IsDate ? _heap.PartOfDate(time.Date, _heap.Span(name))
            : time.IsSpan ? CSharpTimes.PartOfSpan(TimeSpan.FromTicks(time.Span), _heap.Span(name))
            : ScriptValue.Undefined;
        return part.Kind == ValueKind.Undefined ? throw HasNoMember(target, name) : part;
    }

    /// <summary><c>Count</c>, <c>Keys</c> and <c>Values</c>, which objects have as dictionaries.</summary>
    private ScriptValue GetPropertyOfDictionary(ScriptValue target, ScriptValue name)
    {
        if (target.Kind != ValueKind.Object || _heap.Find(target, _heap.Span(name)) >= 0)
        {
            return GetProperty(target, name);
        }

        return _heap.Span(name)[0] switch
        {
            (byte)'C' => ScriptValue.OfInt(_heap.Count(target)),
            (byte)'K' => MembersOf(ScriptFunction.Keys, target),
            _ => MembersOf(ScriptFunction.Values, target),
        };
    }

    /// <summary><c>a[b]</c>: an element, a character, or what a dictionary holds under a key.</summary>
    private ScriptValue ElementAt(ScriptValue target, ScriptValue key, bool isRequired)
    {
        if (target.IsNothing || key.IsNothing)
        {
            return ScriptValue.Undefined;
        }

        if (target.Kind == ValueKind.Object && key.IsText)
        {
            return GetMember(target, _heap.Plain(key));
        }

        if (
            !key.IsNumber
            || _heap.NumeralOf(key) is not { IsWhole: true } index
            || !(target.IsText || target.Kind == ValueKind.Array)
        )
        {
            throw new ScriptFailure(
                $"the script asks {CSharpStrings.NameOf(target)} for what stands at {CSharpStrings.NameOf(key)}"
            );
        }

        int count = target.IsText ? LengthOf(_heap.Plain(target)) : _heap.Count(target);
        if (index.Whole < 0 || index.Whole >= count)
        {
            return isRequired
                ? throw new ScriptFailure(
                    $"the script asks {CSharpStrings.NameOf(target)} of {count} for the element at {index.Whole}"
                )
                : ScriptValue.Null;
        }

        int at = (int)index.Whole;
        return target.IsText
            ? Part(_heap.Plain(target), at, at + 1).With(ValueTrait.Character)
            : _heap.Element(target, at);
    }

    private ScriptFailure HasNoMember(ScriptValue target, ScriptValue name) =>
        new($"the script asks {CSharpStrings.NameOf(target)} for its member '{_heap.Shown(name)}', which it has not");
}
