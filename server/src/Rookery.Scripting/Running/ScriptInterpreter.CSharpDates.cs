using System.Globalization;
using Rookery.Scripting.Compiling;
using Rookery.Scripting.CSharp;
using Rookery.Scripting.Values;

namespace Rookery.Scripting.Running;

/// <content>Dates and time spans of C#. A text of a document that is written as one is one, where a date or time span
/// is asked for.</content>
public sealed partial class ScriptInterpreter
{
    private ScriptValue OperateOnDates(ScriptFunction function, ScriptValue left, ScriptValue right)
    {
        bool isSpan = left.Kind == ValueKind.Span,
            isOtherSpan = right.Kind == ValueKind.Span;
        if (_heap.TryGetDate(left, out var date))
        {
            if (function == ScriptFunction.Minus && _heap.TryGetDate(right, out var other))
            {
                return ScriptValue.OfSpan(date.Moment - other.Moment);
            }

            if (isOtherSpan && function is ScriptFunction.Plus or ScriptFunction.Minus)
            {
                return _heap.ValueOf(Shifted(date, function == ScriptFunction.Plus ? right.Whole : -right.Whole));
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
            double factor = _heap.NumberOf(right);
            var span = TimeSpan.FromTicks(left.Whole);
            return ScriptValue.OfSpan((function == ScriptFunction.Times ? span * factor : span / factor).Ticks);
        }
        else if (isOtherSpan && left.IsNumber && function == ScriptFunction.Times)
        {
            return ScriptValue.OfSpan((TimeSpan.FromTicks(right.Whole) * _heap.NumberOf(left)).Ticks);
        }

        throw new ScriptFailure(
            $"the script calculates with {CSharpStrings.NameOf(left)} and {CSharpStrings.NameOf(right)}"
        );
    }

    private static CSharpDate Shifted(CSharpDate date, long ticks) =>
        date.At(checked(date.Ticks + ticks)) with
        {
            Form = date.Form == DateForm.Day && ticks % TimeSpan.TicksPerDay != 0 ? DateForm.Unspecified : date.Form,
        };

    private ScriptValue InvokeOnDate(ScriptFunction function, ReadOnlySpan<ScriptValue> arguments)
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
                return NewDate(arguments);
            case ScriptFunction.NewDay:
                return _heap.ValueOf(new CSharpDate(DayTicks(arguments), DateForm.Day));
            case ScriptFunction.NewSpan:
                return NewSpan(arguments);
            case ScriptFunction.SpanFrom:
                return SpanFrom(arguments[0], arguments[1]);
            case ScriptFunction.AddTo:
                return AddTo(arguments[0], arguments[1], _heap.NetText(arguments[2]));
            case ScriptFunction.ParseDate or ScriptFunction.ParseSpan:
                return ParseTime(function, arguments[0]);
            case ScriptFunction.CompareTo:
                return arguments[0].IsText && arguments[1].IsText && !_heap.TimeOf(arguments[0]).IsTime
                    ? throw new ScriptFailure(
                        "the script calls CompareTo on strings, whose order depends on a culture: "
                            + "string.CompareOrdinal does not"
                    )
                    : ScriptValue.OfInt(Math.Sign(CompareInOrder(arguments[0], arguments[1])));
            default:
                throw ScriptProgram.Broken();
        }
    }

    /// <summary><c>DateTime.Parse</c> of a text as documents write dates, and <c>TimeSpan.Parse</c>.</summary>
    private ScriptValue ParseTime(ScriptFunction function, ScriptValue value)
    {
        if (function == ScriptFunction.ParseSpan)
        {
            return value.Kind == ValueKind.Span ? value
                : value.IsText && TimeSpan.TryParse(_heap.NetText(value), CultureInfo.InvariantCulture, out var span)
                    ? ScriptValue.OfSpan(span.Ticks)
                : throw NoTemporal(value, "time span");
        }

        bool isDate =
            _heap.TryGetDate(value, out var date)
            || (value.IsText && CSharpDate.TryParse(_heap.Span(_heap.Plain(value)), out date));
        return !isDate
            ? throw NoTemporal(value, "date")
            : _heap.ValueOf(date.Form == DateForm.Day ? date with { Form = DateForm.Unspecified } : date);
    }

    private ScriptFailure NoTemporal(ScriptValue value, string kind) =>
        new(
            $"{(value.IsText ? $"'{_heap.Shown(_heap.Plain(value))}'" : CSharpStrings.NameOf(value))} is no {kind} as documents write it"
        );

    private long DayTicks(ReadOnlySpan<ScriptValue> parts)
    {
        long year = WholePart(parts[0]),
            month = WholePart(parts[1]),
            day = WholePart(parts[2]);
        return
            year is >= 1 and <= 9999
            && month is >= 1 and <= 12
            && day >= 1
            && day <= DateTime.DaysInMonth((int)year, (int)month)
            ? new DateTime((int)year, (int)month, (int)day).Ticks
            : throw new ScriptFailure($"there is no day {day} of month {month} of year {year}");
    }

    private long WholePart(ScriptValue value) =>
        _heap.Required(value, "a date") is { IsWhole: true } part
            ? part.Whole
            : throw new ScriptFailure("a part of a date is no whole number");

    private ScriptValue NewDate(ReadOnlySpan<ScriptValue> parts)
    {
        const int Day = 3,
            Second = 6;
        var form = DateForm.Unspecified;
        if (parts[^1].IsText)
        {
            form = _heap.Span(parts[^1]).SequenceEqual("Utc"u8) ? DateForm.Utc : form;
            parts = parts[..^1];
        }

        if (parts.Length == 1)
        {
            return _heap.ValueOf(new CSharpDate(0, form).At(WholePart(parts[0])));
        }

        long ticks = DayTicks(parts);
        if (parts.Length > Day)
        {
            long hour = WholePart(parts[3]),
                minute = WholePart(parts[4]),
                second = WholePart(parts[5]),
                milliseconds = parts.Length > Second ? WholePart(parts[Second]) : 0;
            ticks +=
                hour is >= 0 and < 24
                && minute is >= 0 and < 60
                && second is >= 0 and < 60
                && milliseconds is >= 0 and < 1000
                    ? new TimeSpan(0, (int)hour, (int)minute, (int)second, (int)milliseconds).Ticks
                    : throw new ScriptFailure("there is no such time of a day");
        }

        return _heap.ValueOf(new CSharpDate(ticks, form));
    }

    private ScriptValue NewSpan(ReadOnlySpan<ScriptValue> parts)
    {
        if (parts.Length == 1)
        {
            return ScriptValue.OfSpan(WholePart(parts[0]));
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
            ticks = checked(ticks + (WholePart(parts[index]) * units[hasDays ? index : index + 1]));
        }

        return ScriptValue.OfSpan(ticks);
    }

    private ScriptValue SpanFrom(ScriptValue count, ScriptValue unit) =>
        count.IsNumber
            ? ScriptValue.OfSpan(SpanOf(_heap.Span(unit), _heap.NumeralOf(count)).Ticks)
            : throw new ScriptFailure(
                $"the script calls TimeSpan.From{_heap.Shown(unit)} on {CSharpStrings.NameOf(count)}, which is no number"
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
            _ => TimeSpan.FromTicks(count.Cut),
        };
    }

    /// <summary><c>date.AddDays(n)</c> and the like; <c>Add</c> and <c>Subtract</c> of time spans and dates.</summary>
    private ScriptValue AddTo(ScriptValue target, ScriptValue amount, string unit)
    {
        target = _heap.Temporal(target);
        if (unit is "Add" or "Subtract")
        {
            return OperateOnDates(
                unit is "Add" ? ScriptFunction.Plus : ScriptFunction.Minus,
                target,
                _heap.Temporal(amount)
            );
        }

        if (!_heap.TryGetDate(target, out var date))
        {
            throw new ScriptFailure($"the script calls Add{unit} on {CSharpStrings.NameOf(target)}, which is no date");
        }

        var count = _heap.Required(amount, $"Add{unit}");
        try
        {
            if (unit is "Years" or "Months")
            {
                int whole = checked((int)count.Cut);
                return _heap.ValueOf(
                    date.At((unit is "Years" ? date.Value.AddYears(whole) : date.Value.AddMonths(whole)).Ticks)
                );
            }

            long after = (
                unit switch
                {
                    "Days" => date.Value.AddDays(count.Real),
                    "Hours" => date.Value.AddHours(count.Real),
                    "Minutes" => date.Value.AddMinutes(count.Real),
                    "Seconds" => date.Value.AddSeconds(count.Real),
                    "Milliseconds" => date.Value.AddMilliseconds(count.Real),
                    _ => date.Value.AddTicks(count.Cut),
                }
            ).Ticks;
            return _heap.ValueOf(Shifted(date, after - date.Ticks));
        }
        catch (ArgumentOutOfRangeException)
        {
            throw new ScriptFailure("a date is before the year 1 or behind the year 9999");
        }
    }
}
