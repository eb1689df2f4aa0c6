using Rookery.Scripting.Functions;
using Rookery.Scripting.Values;

namespace Rookery.Scripting.Running;

/// <summary>
/// Reads and writes members and elements. As in RavenDB, a member of null or undefined is undefined; only writing to it
/// fails.
/// </summary>
internal static class Members
{
    /// <summary>Computes <c>target.name</c>.</summary>
    public static ScriptValue GetMember(this ScriptContext context, ScriptValue target, ScriptValue name)
    {
        var heap = context.Heap;
        switch (target.Kind)
        {
            case ValueKind.Object:
                int index = heap.Containers.Find(target, heap.Span(name));
                if (index >= 0)
                {
                    return heap.Containers.Member(target, index);
                }

                bool isMetadata =
                    heap.Containers.DocumentOf(target) >= 0 && heap.Span(name).SequenceEqual("@metadata"u8);
                return isMetadata ? context.Documents.MetadataOf(target) : ScriptValue.Undefined;
            case ValueKind.Array when heap.Span(name).SequenceEqual("length"u8):
                return ScriptValue.Of(heap.Containers.Count(target));
            case ValueKind.Text or ValueKind.EscapedText when heap.Span(name).SequenceEqual("length"u8):
                return ScriptValue.Of(heap.LengthOf(heap.Plain(target)));
            case ValueKind.Pattern:
                return context.Patterns.GetMember(target, heap.Span(name));
            case ValueKind.Array when heap.Containers.MatchOf(target) is >= 0 and var match:
                double position = IndexNamed(heap.Span(name));
                return double.IsNaN(position)
                    ? context.Patterns.GetMatchMember(match, heap.Span(name))
                    : GetAt(heap, target, position);
            default:
                return GetAt(heap, target, IndexNamed(heap.Span(name)));
        }
    }

    /// <summary>Computes <c>target[key]</c>.</summary>
    public static ScriptValue GetElement(this ScriptContext context, ScriptValue target, ScriptValue key)
    {
        var heap = context.Heap;
        if (target.IsNothing)
        {
            return ScriptValue.Undefined;
        }

        return key.IsNumber && target.Kind != ValueKind.Object
            ? GetAt(heap, target, heap.NumberOf(key))
            : context.GetMember(target, heap.ToText(key));
    }

    /// <summary>
    /// Returns the element of an array, or the UTF-16 unit of a text, at an index; undefined if there is none.
    /// </summary>
    private static ScriptValue GetAt(ScriptHeap heap, ScriptValue target, double index)
    {
        if (target.Kind == ValueKind.Array)
        {
            return IsIndex(index, heap.Containers.Count(target))
                ? heap.Containers.Element(target, (int)index)
                : ScriptValue.Undefined;
        }

        if (target.IsText)
        {
            var text = heap.Plain(target);
            return IsIndex(index, heap.LengthOf(text))
                ? heap.Part(text, (int)index, (int)index + 1)
                : ScriptValue.Undefined;
        }

        return ScriptValue.Undefined;
    }

    /// <summary>
    /// Returns whether an object has a member or an array an element of this name. The metadata of a run's document is
    /// not counted, and <c>Object.keys</c> does not list it either.
    /// </summary>
    public static bool HasMember(this ScriptHeap heap, ScriptValue target, ScriptValue name)
    {
        var key = heap.Span(heap.Plain(heap.ToText(name)));
        return target.Kind switch
        {
            ValueKind.Object => heap.Containers.Find(target, key) >= 0,
            ValueKind.Array => key.SequenceEqual("length"u8) || IsIndex(IndexNamed(key), heap.Containers.Count(target)),
            _ => false,
        };
    }

    /// <summary>
    /// Returns whether a value still has the member whose name is at an index of its earlier names. If only members
    /// before this one were removed since, the search checks one position instead of all.
    /// </summary>
    public static bool HasNamed(this ScriptHeap heap, ScriptValue owner, ScriptValue names, int index)
    {
        if (!owner.IsContainer)
        {
            return true;
        }

        var name = heap.Containers.Element(names, index);
        int count = heap.Containers.Count(owner);
        int place = index - (heap.Containers.Count(names) - count);
        return (owner.Kind == ValueKind.Object && place >= 0 && place < count && IsNamed(heap, owner, place, name))
            || heap.HasMember(owner, name);
    }

    private static bool IsNamed(ScriptHeap heap, ScriptValue owner, int place, ScriptValue name)
    {
        var found = heap.Containers.Name(owner, place);
        heap.Budget.Spend(1 + (found.Length / ScriptBudget.BytesPerStep));
        return found.Kind == name.Kind && heap.Span(found).SequenceEqual(heap.Span(name));
    }

    /// <summary>Executes <c>target.name = value</c>.</summary>
    public static void SetMember(this ScriptContext context, ScriptValue target, ScriptValue name, ScriptValue value)
    {
        var heap = context.Heap;
        if (target.Kind == ValueKind.Array && !double.IsNaN(IndexNamed(heap.Span(name))))
        {
            context.SetElement(target, name, value);
            return;
        }

        if (target.Kind == ValueKind.Pattern && heap.Span(name).SequenceEqual("lastIndex"u8))
        {
            context.Patterns.SetLastIndex(target, heap.ToNumber(value));
            return;
        }

        if (target.Kind != ValueKind.Object)
        {
            throw CannotSet(heap, target, name);
        }

        if (heap.Containers.DocumentOf(target) >= 0 && heap.Span(name).SequenceEqual("@metadata"u8))
        {
            context.Documents.SetMetadata(target, value);
            return;
        }

        heap.Containers.Set(target, name, value);
    }

    /// <summary>Executes <c>target[key] = value</c>.</summary>
    public static void SetElement(this ScriptContext context, ScriptValue target, ScriptValue key, ScriptValue value)
    {
        var heap = context.Heap;
        if (target.Kind != ValueKind.Array)
        {
            context.SetMember(target, heap.ToText(key), value);
            return;
        }

        int count = heap.Containers.Count(target);
        double index = key.IsNumber ? heap.NumberOf(key) : IndexNamed(heap.Span(heap.ToText(key)));
        if (!IsIndex(index, count + 1))
        {
            throw new ScriptFailure(
                $"an element of an array of {count} cannot be set at '{heap.Shown(heap.ToText(key))}': it is no index, "
                    + $"or would leave a gap"
            );
        }

        if ((int)index == count)
        {
            heap.Containers.Append(target, value);
        }
        else
        {
            heap.Containers.SetElement(target, (int)index, value);
        }
    }

    /// <summary>Executes <c>delete target[name]</c>. The result is always true.</summary>
    public static ScriptValue Delete(this ScriptContext context, ScriptValue target, ScriptValue name)
    {
        var heap = context.Heap;
        if (target.Kind == ValueKind.Array)
        {
            throw new ScriptFailure("deleting an element would leave a gap in its array: use splice");
        }

        if (target.Kind == ValueKind.Object)
        {
            if (heap.Containers.DocumentOf(target) >= 0 && heap.Span(name).SequenceEqual("@metadata"u8))
            {
                context.Documents.SetMetadata(target, heap.Containers.NewObject());
                return ScriptValue.Of(true);
            }

            int index = heap.Containers.Find(target, heap.Span(name));
            if (index >= 0)
            {
                heap.Containers.Remove(target, index);
            }
        }

        return ScriptValue.Of(true);
    }

    /// <summary>Appends the elements of an array to another array.</summary>
    public static void AppendAll(this ScriptHeap heap, ScriptValue array, ScriptValue source)
    {
        int count = heap.Containers.Count(source);
        for (int index = 0; index < count; index++)
        {
            heap.Budget.Spend(1);
            heap.Containers.Append(array, heap.Containers.Element(source, index));
        }
    }

    /// <summary>
    /// Sets the members of an object on another one, as <c>{ ...source }</c> does. The members of an array or a text
    /// are its elements or characters, named by their indexes. Other values have no members.
    /// </summary>
    public static void AddAll(this ScriptContext context, ScriptValue target, ScriptValue source)
    {
        var heap = context.Heap;
        bool isArray = source.Kind == ValueKind.Array;
        if (source.IsText)
        {
            source = heap.Split(heap.Plain(source), heap.NewText(default));
            isArray = true;
        }

        int count = source.IsContainer ? heap.Containers.Count(source) : 0;
        for (int index = 0; index < count; index++)
        {
            heap.Budget.Spend(1);
            var name = isArray ? heap.ToText(ScriptValue.Of(index)) : heap.Plain(heap.Containers.Name(source, index));
            context.SetMember(
                target,
                name,
                isArray ? heap.Containers.Element(source, index) : heap.Containers.Member(source, index)
            );
        }
    }

    /// <summary>Returns the length of a text without escapes, in UTF-16 units.</summary>
    public static int LengthOf(this ScriptHeap heap, ScriptValue text)
    {
        heap.Budget.SpendOnBytes(text.Length);
        return Utf16Text.Length(heap.Span(text));
    }

    private static bool IsIndex(double number, int count) =>
        number >= 0 && number < count && number == Math.Truncate(number);

    /// <summary>
    /// Returns the index that a name stands for, such as <c>'1'</c> but not <c>'01'</c>; NaN if none.
    /// </summary>
    private static double IndexNamed(ReadOnlySpan<byte> name)
    {
        const int MaxDigits = 10;
        bool isIndex =
            name.Length is > 0 and <= MaxDigits
            && name.IndexOfAnyExceptInRange((byte)'0', (byte)'9') < 0
            && (name.Length == 1 || name[0] != '0');
        return isIndex ? NumberText.Parse(name) : double.NaN;
    }

    private static ScriptFailure CannotSet(ScriptHeap heap, ScriptValue target, ScriptValue name) =>
        new(
            target.IsNothing
                ? $"'{heap.Shown(name)}' cannot be set, because the object it would belong to does not exist"
                : $"'{heap.Shown(name)}' cannot be set, because its target is no object"
        );
}
