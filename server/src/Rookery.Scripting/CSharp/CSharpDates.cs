using System.Globalization;
using Rookery.Scripting.Compiling;
using Rookery.Scripting.Running;
using Rookery.Scripting.Values;

namespace Rookery.Scripting.CSharp;

/// <summary>Functions and operators of C# dates and time spans.</summary>
internal static class CSharpDates
{
    public static ScriptValue InvokeOnDate(
        this ScriptHeap heap,
        ScriptFunction function,
        ReadOnlySpan<ScriptValue> arguments
    )
    {
        foreach (var argument in arguments)
        {
            if (argument.IsNothing)
            {
                return ScriptValue.Null;
            }
        }

        switch (function)
        {
            case ScriptFunction.NewDate:
                return NewDate(heap, arguments);
            case ScriptFunction.NewDay:
                return heap.ValueOf(new CSharpDate(DayTicks(heap, arguments), DateForm.Day));
            case ScriptFunction.NewSpan:
                return NewSpan(heap, arguments);
            case ScriptFunction.SpanFrom:
                return SpanFrom(heap, arguments[0], arguments[1]);
            case ScriptFunction.AddTo:
                return AddTo(heap, arguments[0], arguments[1], heap.NetText(arguments[2]));
            case ScriptFunction.ParseDate or ScriptFunction.ParseSpan:
                return ParseTime(heap, function, arguments[0]);
            case ScriptFunction.CompareTo
                when arguments[0].IsNumber && arguments[1].IsNumber && !heap.Accepts(arguments[0], arguments[1]):
                throw new ScriptFailure(
                    "the script calls CompareTo of a number with a number of a wider type, for which C# requires a cast"
                );
            case ScriptFunction.CompareTo when !heap.AcceptsDate(arguments[0], arguments[1]):
                throw new ScriptFailure(
                    "the script calls CompareTo of a date with a date of another type, for which C# requires a cast"
                );
            case ScriptFunction.CompareTo:
                return arguments[0].IsText && arguments[1].IsText && !heap.TimeOf(arguments[0]).IsDateOrSpan
                    ? throw new ScriptFailure(
                        "the script calls CompareTo on strings, whose order depends on a culture: "
                            + "use string.CompareOrdinal"
                    )
                    : ScriptValue.OfInt(Math.Sign(heap.CompareInOrder(arguments[0], arguments[1])));
            default:
                throw ScriptProgram.Broken();
        }
    }

    public static ScriptValue OperateOnDates(
        this ScriptHeap heap,
        ScriptFunction function,
        ScriptValue left,
        ScriptValue right
    )
    {
        bool isSpan = left.Kind == ValueKind.TimeSpan,
            isOtherSpan = right.Kind == ValueKind.TimeSpan;
        if (heap.TryGetDate(left, out var date))
        {
            if (function == ScriptFunction.Minus && heap.TryGetDate(right, out var other))
            {
                return ScriptValue.OfSpan(date.UtcTicks - other.UtcTicks);
            }

            if (isOtherSpan && function is ScriptFunction.Plus or ScriptFunction.Minus)
            {
                return heap.ValueOf(Shift(date, function == ScriptFunction.Plus ? right.Whole : -right.Whole));
            }
        }
        else if (isSpan && isOtherSpan)
        {
            switch (function)
            {
                case ScriptFunction.Plus:
                    return ScriptValue.OfSpan(checked(left.Whole + right.Whole));
                case ScriptFunction.Minus:
                    return ScriptValue.OfSpan(checked(left.Whole - right.Whole));
                case ScriptFunction.DividedBy:
                    return ScriptValue.OfReal(left.Whole / (double)right.Whole);
            }
        }
        else if (isSpan && right.IsNumber && function is ScriptFunction.Times or ScriptFunction.DividedBy)
        {
            double factor = heap.NumberOf(right);
            var span = TimeSpan.FromTicks(left.Whole);
            return ScriptValue.OfSpan((function == ScriptFunction.Times ? span * factor : span / factor).Ticks);
        }
        else if (isOtherSpan && left.IsNumber && function == ScriptFunction.Times)
        {
            return ScriptValue.OfSpan((TimeSpan.FromTicks(right.Whole) * heap.NumberOf(left)).Ticks);
        }

        throw new ScriptFailure(
            $"the script calculates with {CSharpStrings.NameOf(left)} and {CSharpStrings.NameOf(right)}"
        );
    }

    // A date without a time of day gets one unless it is shifted by whole days.
    private static CSharpDate Shift(CSharpDate date, long ticks) =>
        date.WithTicks(checked(date.Ticks + ticks)) with
        {
            Form = date.Form == DateForm.Day && ticks % TimeSpan.TicksPerDay != 0 ? DateForm.Unspecified : date.Form,
        };

    /// <summary>Computes <c>new DateTime(…)</c> of ticks, or of a year, month and day, perhaps with hour, minute,
    /// second and milliseconds. A text such as <c>Utc</c> may follow.</summary>
    private static ScriptValue NewDate(ScriptHeap heap, ReadOnlySpan<ScriptValue> parts)
    {
        const int DayParts = 3,
            SecondParts = 6;
        var form = DateForm.Unspecified;
        if (parts[^1].IsText)
        {
            form = heap.Span(parts[^1]).SequenceEqual("Utc"u8) ? DateForm.Utc : form;
            parts = parts[..^1];
        }

        if (parts.Length == 1)
        {
            return heap.ValueOf(new CSharpDate(Ticks: 0, form).WithTicks(WholePart(heap, parts[0])));
        }

        long ticks = DayTicks(heap, parts);
        if (parts.Length > DayParts)
        {
            long hour = WholePart(heap, parts[3]),
                minute = WholePart(heap, parts[4]),
                second = WholePart(heap, parts[5]),
                milliseconds = parts.Length > SecondParts ? WholePart(heap, parts[SecondParts]) : 0;
            ticks +=
                hour is >= 0 and < 24
                && minute is >= 0 and < 60
                && second is >= 0 and < 60
                && milliseconds is >= 0 and < 1000
                    ? new TimeSpan(0, (int)hour, (int)minute, (int)second, (int)milliseconds).Ticks
                    : throw new ScriptFailure("there is no such time of a day");
        }

        return heap.ValueOf(new CSharpDate(ticks, form));
    }

    private static long DayTicks(ScriptHeap heap, ReadOnlySpan<ScriptValue> parts)
    {
        long year = WholePart(heap, parts[0]),
            month = WholePart(heap, parts[1]),
            day = WholePart(heap, parts[2]);
        return
            year is >= 1 and <= 9999
            && month is >= 1 and <= 12
            && day >= 1
            && day <= DateTime.DaysInMonth((int)year, (int)month)
            ? new DateTime((int)year, (int)month, (int)day).Ticks
            : throw new ScriptFailure($"there is no day {day} of month {month} of year {year}");
    }

    private static long WholePart(ScriptHeap heap, ScriptValue value) =>
        heap.Required(value, "a date") is { IsWhole: true } part
            ? part.Whole
            : throw new ScriptFailure("a part of a date is not an integer");

    /// <summary>Computes <c>new TimeSpan(…)</c> of ticks; of hours, minutes and seconds; or of days to
    /// milliseconds.</summary>
    private static ScriptValue NewSpan(ScriptHeap heap, ReadOnlySpan<ScriptValue> parts)
    {
        if (parts.Length == 1)
        {
            return ScriptValue.OfSpan(WholePart(heap, parts[0]));
        }

        bool hasDays = parts.Length > 3;
        long ticks = 0;
        ReadOnlySpan<long> units =
        [
            TimeSpan.TicksPerDay,
            TimeSpan.TicksPerHour,
            TimeSpan.TicksPerMinute,
            TimeSpan.TicksPerSecond,
            TimeSpan.TicksPerMillisecond,
        ];
        for (int index = 0; index < parts.Length; index++)
        {
            ticks = checked(ticks + (WholePart(heap, parts[index]) * units[hasDays ? index : index + 1]));
        }

        return ScriptValue.OfSpan(ticks);
    }

    private static ScriptValue SpanFrom(ScriptHeap heap, ScriptValue count, ScriptValue unit) =>
        count.IsNumber
            ? ScriptValue.OfSpan(SpanOf(heap.Span(unit), heap.NumeralOf(count)).Ticks)
            : throw new ScriptFailure(
                $"the script calls TimeSpan.From{heap.Shown(unit)} on {CSharpStrings.NameOf(count)}, which is no number"
            );

    private static TimeSpan SpanOf(ReadOnlySpan<byte> unit, CSharpNumber count)
    {
        double value = count.Real;
        return unit switch
        {
            _ when unit.SequenceEqual("Days"u8) => TimeSpan.FromDays(value),
            _ when unit.SequenceEqual("Hours"u8) => TimeSpan.FromHours(value),
            _ when unit.SequenceEqual("Minutes"u8) => TimeSpan.FromMinutes(value),
            _ when unit.SequenceEqual("Seconds"u8) => TimeSpan.FromSeconds(value),
            _ when unit.SequenceEqual("Milliseconds"u8) => TimeSpan.FromMilliseconds(value),
            _ => TimeSpan.FromTicks(count.Truncated),
        };
    }

    /// <summary>
    /// Computes <c>date.AddDays(n)</c> and similar methods, and <c>Add</c> and <c>Subtract</c> with time spans and
    /// dates.
    /// </summary>
    private static ScriptValue AddTo(ScriptHeap heap, ScriptValue target, ScriptValue amount, string unit)
    {
        target = heap.Temporal(target);
        if (unit is "Add" or "Subtract")
        {
            return heap.OperateOnDates(
                unit is "Add" ? ScriptFunction.Plus : ScriptFunction.Minus,
                target,
                heap.Temporal(amount)
            );
        }

        if (!heap.TryGetDate(target, out var date))
        {
            throw new ScriptFailure($"the script calls Add{unit} on {CSharpStrings.NameOf(target)}, which is no date");
        }

        var count = heap.Required(amount, $"Add{unit}");
        try
        {
            if (unit is "Years" or "Months")
            {
                int whole = checked((int)count.Truncated);
                return heap.ValueOf(
                    date.WithTicks((unit is "Years" ? date.Value.AddYears(whole) : date.Value.AddMonths(whole)).Ticks)
                );
            }

            long newTicks = (
                unit switch
                {
                    "Days" => date.Value.AddDays(count.Real),
                    "Hours" => date.Value.AddHours(count.Real),
                    "Minutes" => date.Value.AddMinutes(count.Real),
                    "Seconds" => date.Value.AddSeconds(count.Real),
                    "Milliseconds" => date.Value.AddMilliseconds(count.Real),
                    _ => date.Value.AddTicks(count.Truncated),
                }
            ).Ticks;
            return heap.ValueOf(Shift(date, newTicks - date.Ticks));
        }
        catch (ArgumentOutOfRangeException)
        {
            throw new ScriptFailure("a date is before the year 1 or after the year 9999");
        }
    }

    /// <summary>
    /// Computes <c>DateTime.Parse</c>, for the date formats of documents only, and <c>TimeSpan.Parse</c>.
    /// </summary>
    private static ScriptValue ParseTime(ScriptHeap heap, ScriptFunction function, ScriptValue value)
    {
        if (function == ScriptFunction.ParseSpan)
        {
            if (value.Kind == ValueKind.TimeSpan)
            {
                return value;
            }

            if (value.IsText && TimeSpan.TryParse(heap.NetText(value), CultureInfo.InvariantCulture, out var span))
            {
                return ScriptValue.OfSpan(span.Ticks);
            }

            throw NoTemporal(heap, value, "time span");
        }

        bool isDate =
            heap.TryGetDate(value, out var date)
            || (value.IsText && CSharpDate.TryParse(heap.Span(heap.Plain(value)), out date));
        return !isDate
            ? throw NoTemporal(heap, value, "date")
            : heap.ValueOf(date.Form == DateForm.Day ? date with { Form = DateForm.Unspecified } : date);
    }

    private static ScriptFailure NoTemporal(ScriptHeap heap, ScriptValue value, string kind) =>
        new(
            $"{(value.IsText ? $"'{heap.Shown(heap.Plain(value))}'" : CSharpStrings.NameOf(value))} is no {kind} "
                + "as documents write it"
        );
}
