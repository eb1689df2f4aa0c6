using Rookery.Json;
using Rookery.Scripting.CSharp;
using Rookery.Scripting.Functions;
using Rookery.Scripting.Values;

namespace Rookery.Scripting.Running;

/// <summary>Converts values to conditions, numbers and texts by JavaScript's rules.</summary>
internal static class Conversions
{
    /// <summary>Returns whether the value counts as true in a condition.</summary>
    public static bool IsTrue(this ScriptHeap heap, ScriptValue value) =>
        value.Kind switch
        {
            ValueKind.Undefined or ValueKind.Null or ValueKind.False => false,
            _ when value.IsNumber => heap.NumberOf(value) is var number && number != 0 && !double.IsNaN(number),
            ValueKind.Text or ValueKind.EscapedText => value.Length > 0,
            _ => true,
        };

    /// <summary>Converts a value to a number; NaN if the value stands for no number.</summary>
    public static double ToNumber(this ScriptHeap heap, ScriptValue value)
    {
        switch (value.Kind)
        {
            case ValueKind.Undefined:
                return double.NaN;
            case ValueKind.Null or ValueKind.False:
                return 0;
            case ValueKind.True:
                return 1;
            case var _ when value.IsNumber:
                return heap.NumberOf(value);
            case ValueKind.Moment:
                return heap.MomentOf(value);
            default:
                var text = heap.ToText(value);
                heap.Budget.SpendOnDigits(text.Length);
                return NumberText.Parse(heap.Span(text));
        }
    }

    /// <summary>
    /// Converts a value to an integer and limits it to the bounds, as JavaScript's methods do with indexes.
    /// </summary>
    public static int ToInteger(this ScriptHeap heap, ScriptValue value, int min, int max)
    {
        double number = heap.ToNumber(value);
        return double.IsNaN(number) ? Math.Clamp(0, min, max) : (int)Math.Clamp(Math.Truncate(number), min, max);
    }

    /// <summary>Returns a number unchanged, and any other value converted to a number.</summary>
    public static ScriptValue AsNumber(this ScriptHeap heap, ScriptValue value) =>
        value.IsNumber ? value : ScriptValue.Of(heap.ToNumber(value));

    /// <summary>Returns an array to iterate over: the value itself, or an empty one for null and undefined.</summary>
    /// <exception cref="ScriptFailure">The value is something else.</exception>
    public static ScriptValue ToArray(this ScriptHeap heap, ScriptValue value) =>
        value.Kind switch
        {
            ValueKind.Array => value,
            ValueKind.Undefined or ValueKind.Null => heap.Containers.NewArray(),
            _ => throw new ScriptFailure("the script walks over a value that is no array"),
        };

    /// <summary>Returns a value as a text without escapes.</summary>
    public static ScriptValue ToText(this ScriptHeap heap, ScriptValue value)
    {
        if (value.IsText)
        {
            return heap.Plain(value);
        }

        int start = heap.Length;
        heap.AddText(value, level: 0);
        return heap.TextFrom(start);
    }

    /// <summary>Appends a value's text to the heap.</summary>
    /// <param name="heap">The heap.</param>
    /// <param name="value">The value.</param>
    /// <param name="level">Number of arrays that contain the value.</param>
    public static void AddText(this ScriptHeap heap, ScriptValue value, int level)
    {
        switch (value.Kind)
        {
            case ValueKind.Text:
                heap.AddCopy(value.Start, value.Length);
                break;
            case ValueKind.EscapedText:
                heap.Budget.SpendOnBytes(value.Length);
                var room = heap.Reserve(value.Length);
                heap.Advance(JsonText.Unescape(heap.Span(value), room));
                break;
            case ValueKind.Number or ValueKind.StoredNumber:
                double number = heap.NumberOf(value);
                heap.Advance(JsonNumber.Format(number, heap.Reserve(JsonNumber.MaxBytes)));
                break;
            case ValueKind.Moment:
                heap.AddMomentText(heap.MomentOf(value), MomentForm.Text);
                break;
            case ValueKind.Pattern:
                heap.AddPatternText(value);
                break;
            case >= ValueKind.Whole:
                heap.AddCSharpText(value);
                break;
            case ValueKind.Array:
                heap.AddJoined(value, separator: default, ","u8, level);
                break;
            default:
                heap.Add(
                    value.Kind switch
                    {
                        ValueKind.Undefined => "undefined"u8,
                        ValueKind.Null => "null"u8,
                        ValueKind.True => "true"u8,
                        ValueKind.False => "false"u8,
                        _ => "[object Object]"u8,
                    }
                );
                break;
        }
    }

    /// <summary>Appends the texts of an array's elements, separated. The text of null and undefined is empty.</summary>
    /// <param name="heap">The heap.</param>
    /// <param name="array">The array.</param>
    /// <param name="separator">The separator, if it is a text of the heap; else default.</param>
    /// <param name="literal">The separator otherwise.</param>
    /// <param name="level">Number of arrays that contain the array.</param>
    public static void AddJoined(
        this ScriptHeap heap,
        ScriptValue array,
        ScriptValue separator,
        ReadOnlySpan<byte> literal,
        int level
    )
    {
        if (level > JsonLimits.MaxDepth)
        {
            throw new ScriptFailure($"a value is nested deeper than {JsonLimits.MaxDepth} levels");
        }

        for (int index = 0; index < heap.Containers.Count(array); index++)
        {
            heap.Budget.Spend(1);
            if (index > 0)
            {
                if (separator.IsText)
                {
                    heap.AddCopy(separator.Start, separator.Length);
                }
                else
                {
                    heap.Add(literal);
                }
            }

            var element = heap.Containers.Element(array, index);
            if (!element.IsNothing)
            {
                heap.AddText(element, level + 1);
            }
        }
    }

    /// <summary>Returns the result of <c>typeof</c>.</summary>
    public static ReadOnlySpan<byte> TypeOf(ScriptValue value) =>
        value.Kind switch
        {
            ValueKind.Undefined => "undefined"u8,
            ValueKind.False or ValueKind.True => "boolean"u8,
            _ when value.IsNumber => "number"u8,
            ValueKind.Text or ValueKind.EscapedText => "string"u8,
            _ => "object"u8,
        };

    /// <summary>Returns a text for an error message, shortened if it is long.</summary>
    /// <param name="heap">The heap.</param>
    /// <param name="text">The text.</param>
    /// <param name="maxBytes">Maximum bytes of UTF-8 that are shown.</param>
    public static string Shown(this ScriptHeap heap, ScriptValue text, int maxBytes = 60) =>
        ShortText.Of(heap.Span(text), maxBytes);
}
