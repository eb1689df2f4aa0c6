using Rookery.Scripting.Values;

namespace Rookery.Scripting.Running;

/// <content>Members and elements. A member of nothing is nothing, as RavenDB has it; only what would be written to
/// nothing fails.</content>
public sealed partial class ScriptInterpreter
{
    private ScriptValue GetMember(ScriptValue target, ScriptValue name)
    {
        switch (target.Kind)
        {
            case ValueKind.Object:
                int index = _heap.Find(target, _heap.Span(name));
                return index >= 0 ? _heap.Member(target, index)
                    : _heap.DocumentOf(target) >= 0 && _heap.Span(name).SequenceEqual("@metadata"u8)
                        ? _context.Documents.MetadataOf(target)
                    : ScriptValue.Undefined;
            case ValueKind.Array when _heap.Span(name).SequenceEqual("length"u8):
                return ScriptValue.Of(_heap.Count(target));
            case ValueKind.Text or ValueKind.EscapedText when _heap.Span(name).SequenceEqual("length"u8):
                return ScriptValue.Of(LengthOf(_heap.Plain(target)));
            default:
                return GetAt(target, IndexNamed(_heap.Span(name)));
        }
    }

    private int LengthOf(ScriptValue text)
    {
        _heap.SpendOnBytes(text.Length);
        return Utf16Text.Length(_heap.Span(text));
    }

    private ScriptValue GetElement(ScriptValue target, ScriptValue key)
    {
        if (target.IsNothing)
        {
            return ScriptValue.Undefined;
        }

        return key.IsNumber && target.Kind != ValueKind.Object
            ? GetAt(target, _heap.NumberOf(key))
            : GetMember(target, _heap.ToText(key));
    }

    /// <summary>The element of an array, or the unit of a text, at an index; undefined where there is none.</summary>
    private ScriptValue GetAt(ScriptValue target, double index)
    {
        if (target.Kind == ValueKind.Array)
        {
            return IsIndex(index, _heap.Count(target)) ? _heap.Element(target, (int)index) : ScriptValue.Undefined;
        }

        if (target.IsText)
        {
            var text = _heap.Plain(target);
            return IsIndex(index, LengthOf(text)) ? Part(text, (int)index, (int)index + 1) : ScriptValue.Undefined;
        }

        return ScriptValue.Undefined;
    }

    private static bool IsIndex(double number, int count) =>
        number >= 0 && number < count && number == Math.Truncate(number);

    /// <summary>The index that a name is, as <c>'1'</c> but not <c>'01'</c>; NaN where it is none.</summary>
    private static double IndexNamed(ReadOnlySpan<byte> name)
    {
        const int MostDigits = 10;
        bool isIndex =
            name.Length is > 0 and <= MostDigits
            && name.IndexOfAnyExceptInRange((byte)'0', (byte)'9') < 0
            && (name.Length == 1 || name[0] != '0');
        return isIndex ? NumberText.Parse(name) : double.NaN;
    }

    private void SetMember(ScriptValue target, ScriptValue name, ScriptValue value)
    {
        if (target.Kind == ValueKind.Array && !double.IsNaN(IndexNamed(_heap.Span(name))))
        {
            SetElement(target, name, value);
            return;
        }

        if (target.Kind != ValueKind.Object)
        {
            throw CannotSet(target, name);
        }

        if (_heap.DocumentOf(target) >= 0 && _heap.Span(name).SequenceEqual("@metadata"u8))
        {
            throw new ScriptFailure("the metadata cannot be changed by a script");
        }

        _heap.Set(target, name, value);
    }

    private void SetElement(ScriptValue target, ScriptValue key, ScriptValue value)
    {
        if (target.Kind != ValueKind.Array)
        {
            SetMember(target, _heap.ToText(key), value);
            return;
        }

        int count = _heap.Count(target);
        double index = key.IsNumber ? _heap.NumberOf(key) : IndexNamed(_heap.Span(_heap.ToText(key)));
        if (!IsIndex(index, count + 1))
        {
            throw new ScriptFailure(
                $"an element of an array of {count} cannot be set at '{_heap.Shown(_heap.ToText(key))}': it is no index, "
                    + $"or would leave a gap"
            );
        }

        if ((int)index == count)
        {
            _heap.Append(target, value);
        }
        else
        {
            _heap.SetElement(target, (int)index, value);
        }
    }

    private ScriptValue Delete(ScriptValue target, ScriptValue name)
    {
        if (target.Kind == ValueKind.Array)
        {
            throw new ScriptFailure("deleting an element would leave a gap in its array: use splice");
        }

        if (target.Kind == ValueKind.Object)
        {
            if (_heap.DocumentOf(target) >= 0 && _heap.Span(name).SequenceEqual("@metadata"u8))
            {
                throw new ScriptFailure("the metadata cannot be changed by a script");
            }

            int index = _heap.Find(target, _heap.Span(name));
            if (index >= 0)
            {
                _heap.Remove(target, index);
            }
        }

        return ScriptValue.Of(true);
    }

    private ScriptFailure CannotSet(ScriptValue target, ScriptValue name) =>
        new(
            target.IsNothing
                ? $"'{_heap.Shown(name)}' cannot be set, because the object it would belong to does not exist"
                : $"'{_heap.Shown(name)}' cannot be set, because what it would belong to is no object"
        );

    private void AppendAll(ScriptValue array, ScriptValue source)
    {
        int count = _heap.Count(source);
        for (int index = 0; index < count; index++)
        {
            _heap.Spend(1);
            _heap.Append(array, _heap.Element(source, index));
        }
    }

    private void AddAll(ScriptValue target, ScriptValue source)
    {
        bool isArray = source.Kind == ValueKind.Array;
        if (source.IsText)
        {
            source = Split(_heap.Plain(source), _heap.NewText(default));
            isArray = true;
        }

        int count = source.IsContainer ? _heap.Count(source) : 0;
        for (int index = 0; index < count; index++)
        {
            _heap.Spend(1);
            var name = isArray ? _heap.ToText(ScriptValue.Of(index)) : _heap.Plain(_heap.Name(source, index));
            _heap.Set(target, name, isArray ? _heap.Element(source, index) : _heap.Member(source, index));
        }
    }
}
