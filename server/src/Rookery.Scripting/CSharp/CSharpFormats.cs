using System.Globalization;
using Rookery.Scripting.Running;

namespace Rookery.Scripting.CSharp;

/// <summary>The function <c>string.Format</c>.</summary>
internal static class CSharpFormats
{
    /// <summary>Maximum characters to which a text is padded.</summary>
    public const int MaxPadding = 64 * 1024;

    private const int StepsPerItem = 4;

    /// <summary>
    /// Computes <c>string.Format</c>: inserts values at <c>{index,width:format}</c>, and writes <c>{{</c> as a brace.
    /// </summary>
    public static ScriptValue FormatText(this ScriptHeap heap, string format, ScriptValue values)
    {
        int start = heap.Length;
        for (int at = 0; at < format.Length; at++)
        {
            char next = format[at];
            if (next is '{' or '}' && at + 1 < format.Length && format[at + 1] == next)
            {
                heap.AddString(next.ToString());
                at++;
            }
            else if (next is '{')
            {
                int end = format.IndexOf('}', at);
                bool isItem = end >= 0 && !format.AsSpan(at + 1, end - at - 1).Contains('{');
                AddFormatted(heap, isItem ? format[(at + 1)..end] : throw InvalidFormat(), values);
                at = end;
            }
            else
            {
                int end = format.AsSpan(at).IndexOfAny('{', '}');
                heap.AddString(
                    end == 0 ? throw InvalidFormat()
                    : end < 0 ? format[at..]
                    : format[at..(at + end)]
                );
                at = end < 0 ? format.Length : at + end - 1;
            }
        }

        return heap.TextFrom(start);
    }

    private static void AddFormatted(ScriptHeap heap, string item, ScriptValue values)
    {
        heap.Budget.Spend(StepsPerItem);
        int colon = item.IndexOf(':', StringComparison.Ordinal);
        string head = colon < 0 ? item : item[..colon];
        int comma = head.IndexOf(',', StringComparison.Ordinal);
        int width = 0;
        if (
            !int.TryParse(
                comma < 0 ? head : head[..comma],
                NumberStyles.AllowTrailingWhite,
                CultureInfo.InvariantCulture,
                out int index
            )
            || index >= heap.Containers.Count(values)
            || (
                comma >= 0
                && (
                    !int.TryParse(head[(comma + 1)..], NumberStyles.Integer, CultureInfo.InvariantCulture, out width)
                    || Math.Abs((long)width) > MaxPadding
                )
            )
        )
        {
            throw InvalidFormat();
        }

        var value = heap.Containers.Element(values, index);
        int before = heap.Length;
        bool isFormatted =
            colon >= 0
            && (value.IsNumber || value.Trait == ValueTrait.Weekday || heap.TimeOf(value) is { IsDateOrSpan: true });
        if (isFormatted || width != 0)
        {
            string text = isFormatted
                ? heap.Format(value, item[(colon + 1)..])
                : heap.NetText(heap.CSharpTextOf(value));
            heap.Truncate(before);
            // As in C#, a negative width aligns the text to the left.
            heap.AddString(width < 0 ? text.PadRight(-width) : text.PadLeft(width));
        }
        else
        {
            heap.Truncate(before);
            heap.AddCSharpText(value);
        }
    }

    private static ScriptFailure InvalidFormat() =>
        new("a format of string.Format is invalid, or refers to more values than it is given");
}
