using Rookery.Scripting.Compiling;
using Rookery.Scripting.Running;
using Rookery.Scripting.Values;

namespace Rookery.Scripting.Functions;

/// <summary>Dates of JavaScript. The local time zone is UTC.</summary>
internal static class MomentFunctions
{
    // Parts of a date, by the number that the catalogue of functions passes; the first eight as Moment.Split has them.
    public const int Year = 0;
    public const int Month = 1;
    public const int Day = 2;
    public const int Hours = 3;
    public const int Minutes = 4;
    public const int Seconds = 5;
    public const int Milliseconds = 6;
    public const int Weekday = 7;
    public const int Time = 8;
    public const int Offset = 9;

    private const int Parts = 7;

    /// <summary>Calls a function of dates. The first argument of a method is its receiver.</summary>
    public static ScriptValue InvokeOnMoment(
        this ScriptContext context,
        ScriptFunction function,
        ReadOnlySpan<ScriptValue> arguments
    )
    {
        var heap = context.Heap;
        switch (function)
        {
            case ScriptFunction.NewMoment:
                return heap.NewMoment(
                    arguments.Length switch
                    {
                        0 => Now(context),
                        1 => FromValue(heap, arguments[0]),
                        _ => FromParts(heap, arguments),
                    }
                );
            case ScriptFunction.Now:
                return ScriptValue.Of(Now(context));
            case ScriptFunction.MomentOfParts:
                return ScriptValue.Of(FromParts(heap, arguments));
            case ScriptFunction.ParseMoment:
                return ScriptValue.Of(Parse(heap, heap.ToText(arguments[0])));
        }

        if (arguments[0].IsNothing)
        {
            return ScriptValue.Undefined;
        }

        var moment =
            arguments[0].Kind == ValueKind.Moment
                ? arguments[0]
                : throw new ScriptFailure(
                    $"the script calls {NameOf(function)} on a value that is no date: create one by 'new Date(…)'"
                );
        double milliseconds = heap.MomentOf(moment);
        switch (function)
        {
            case ScriptFunction.MomentPart:
                return ScriptValue.Of(PartOf(milliseconds, (int)arguments[1].Double));
            case ScriptFunction.SetMomentPart:
                double changed = Change(heap, milliseconds, (int)arguments[1].Double, arguments[2..]);
                heap.SetMoment(moment, changed);
                return ScriptValue.Of(changed);
            case ScriptFunction.MomentText:
                int start = heap.Length;
                heap.AddMomentText(milliseconds, (MomentForm)(int)arguments[1].Double);
                return heap.TextFrom(start);
            case ScriptFunction.MomentIso:
                bool isForJson = arguments[1].Double != 0;
                if (double.IsNaN(milliseconds))
                {
                    return isForJson
                        ? ScriptValue.Null
                        : throw new ScriptFailure("the script calls toISOString on an invalid date");
                }

                start = heap.Length;
                heap.Advance(Moment.WriteIso(milliseconds, digits: 3, heap.Reserve(Moment.MaxBytes)));
                return heap.TextFrom(start);
            default:
                throw ScriptProgram.Broken();
        }
    }

    /// <summary>Appends the text of a date to the heap.</summary>
    public static void AddMomentText(this ScriptHeap heap, double milliseconds, MomentForm form) =>
        heap.Advance(Moment.Write(milliseconds, form, heap.Reserve(Moment.MaxBytes)));

    private static string NameOf(ScriptFunction function) =>
        function switch
        {
            ScriptFunction.MomentPart => "a method of dates that reads a part",
            ScriptFunction.SetMomentPart => "a method of dates that sets a part",
            ScriptFunction.MomentText => "a method of dates that returns a text",
            _ => "toISOString",
        };

    private static double Now(ScriptContext context) =>
        double.IsNaN(context.Now)
            ? throw new ScriptFailure("the script asks for the time, and its run has none")
            : context.Now;

    private static double FromValue(ScriptHeap heap, ScriptValue value) =>
        value.Kind == ValueKind.Moment ? heap.MomentOf(value)
        : value.HasIdentity || value.IsText ? Parse(heap, heap.ToText(value))
        : Moment.Clip(heap.ToNumber(value));

    private static double Parse(ScriptHeap heap, ScriptValue text)
    {
        heap.Budget.SpendOnDigits(text.Length);
        if (text.Length == 0)
        {
            return double.NaN;
        }

        return Moment.TryParse(heap.Span(text), out double milliseconds)
            ? milliseconds
            : throw new ScriptFailure(
                $"the script reads a date from '{heap.Shown(text)}'; only the forms of ISO 8601 are read, such as "
                    + "2026-11-30T05:26:17Z"
            );
    }

    private static double FromParts(ScriptHeap heap, ReadOnlySpan<ScriptValue> arguments)
    {
        Span<double> parts = [double.NaN, 0, 1, 0, 0, 0, 0];
        for (int index = 0; index < Math.Min(arguments.Length, Parts); index++)
        {
            parts[index] = heap.ToNumber(arguments[index]);
        }

        // As in JavaScript, the years 0 to 99 are those of the 20th century.
        double year = Math.Truncate(parts[Year]);
        parts[Year] = year is >= 0 and <= 99 ? 1900 + year : parts[Year];
        return Moment.Of(parts);
    }

    private static double PartOf(double milliseconds, int part)
    {
        if (part == Time || double.IsNaN(milliseconds))
        {
            return milliseconds;
        }

        Span<double> parts = stackalloc double[Parts + 1];
        Moment.Split(milliseconds, parts);
        return part == Offset ? 0 : parts[part];
    }

    private static double Change(ScriptHeap heap, double milliseconds, int part, ReadOnlySpan<ScriptValue> arguments)
    {
        if (part == Time)
        {
            return Moment.Clip(heap.ToNumber(arguments[0]));
        }

        // As in JavaScript, only setFullYear makes an invalid date valid.
        Span<double> parts = [double.NaN, 0, 1, 0, 0, 0, 0, 0];
        if (!double.IsNaN(milliseconds))
        {
            Moment.Split(milliseconds, parts);
        }

        for (int index = 0; index < arguments.Length; index++)
        {
            parts[part + index] = heap.ToNumber(arguments[index]);
        }

        return double.IsNaN(milliseconds) && part != Year ? double.NaN : Moment.Of(parts[..Parts]);
    }
}
