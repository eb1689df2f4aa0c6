using System.Buffers.Binary;
using System.Globalization;
using Rookery.Json;
using Rookery.Scripting.Compiling;
using Rookery.Scripting.Values;

namespace Rookery.Scripting.Running;

/// <content>Dates and time spans of C#. A text of a document that is written as one is one, where a date or time span
/// is asked for.</content>
public sealed partial class ScriptInterpreter
{
    /// <summary>A text of a document as the date or time span that it is; everything else as it is.</summary>
    private ScriptValue Temporal(ScriptValue value) =>
        value.IsText && TimeOf(value) is { IsTime: true } time ? Value(time) : value;

    /// <summary>As <see cref="Temporal"/>, but a day, which RavenDB reads as a string, stays one.</summary>
    private ScriptValue AsRead(ScriptValue value) =>
        value.IsText && TimeOf(value) is { IsTime: true, IsDay: false } time ? Value(time) : value;

    private ScriptValue Value(CSharpTime time) => time.IsDate ? Value(time.Date) : ScriptValue.OfSpan(time.Span);

    /// <summary>
    /// The date or time span that a value is, or that a text of a document is written as. It leaves nothing in the
    /// heap.
    /// </summary>
    private CSharpTime TimeOf(ScriptValue value)
    {
        // Each byte of a text may be written as an escape of six.
        const int MostBytes = 6 * CSharpDate.MostBytes;
        if (!value.IsText)
        {
            return value.Kind == ValueKind.Span ? new CSharpTime(value.Whole)
                : TryGetDate(value, out var date) ? new CSharpTime(date)
                : default;
        }

        if (value.Trait != ValueTrait.Stored || value.Length > MostBytes)
        {
            return default;
        }

        if (value.Kind == ValueKind.Text)
        {
            return CSharpTime.Read(_heap.Span(value));
        }

        Span<byte> room = stackalloc byte[MostBytes];
        return CSharpTime.Read(room[..JsonText.Unescape(_heap.Span(value), room)]);
    }

    private ScriptValue Value(CSharpDate date)
    {
        if (date.Form != DateForm.Offset)
        {
            return ScriptValue.OfDate(date.Packed);
        }

        int start = _heap.Length;
        var room = _heap.Reserve(2 * sizeof(long));
        BinaryPrimitives.WriteInt64LittleEndian(room, date.Ticks);
        BinaryPrimitives.WriteInt64LittleEndian(room[sizeof(long)..], date.Offset);
        _heap.Advance(2 * sizeof(long));
        return ScriptValue.InHeap(ValueKind.OffsetDate, start, 2 * sizeof(long));
    }

    private CSharpDate DateOf(ScriptValue value)
    {
        if (value.Kind == ValueKind.Date)
        {
            return CSharpDate.Unpack(value.Whole);
        }

        var bytes = _heap.Span(value);
        return new CSharpDate(
            BinaryPrimitives.ReadInt64LittleEndian(bytes),
            DateForm.Offset,
            BinaryPrimitives.ReadInt64LittleEndian(bytes[sizeof(long)..])
        );
    }

    private bool TryGetDate(ScriptValue value, out CSharpDate date)
    {
        bool isDate = value.Kind is ValueKind.Date or ValueKind.OffsetDate;
        date = isDate ? DateOf(value) : default;
        return isDate;
    }

    private ScriptValue OperateOnDates(ScriptFunction function, ScriptValue left, ScriptValue right)
    {
        bool isSpan = left.Kind == ValueKind.Span,
            isOtherSpan = right.Kind == ValueKind.Span;
        if (TryGetDate(left, out var date))
        {
            if (function == ScriptFunction.Minus && TryGetDate(right, out var other))
            {
                return ScriptValue.OfSpan(date.Moment - other.Moment);
            }

            if (isOtherSpan && function is ScriptFunction.Plus or ScriptFunction.Minus)
            {
                return Value(Shifted(date, function == ScriptFunction.Plus ? right.Whole : -right.Whole));
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

        throw new ScriptFailure($"the script calculates with {NameOf(left)} and {NameOf(right)}");
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
                return Value(new CSharpDate(DayTicks(arguments), DateForm.Day));
            case ScriptFunction.NewSpan:
                return NewSpan(arguments);
            case ScriptFunction.SpanFrom:
                return SpanFrom(arguments[0], arguments[1]);
            case ScriptFunction.AddTo:
                return AddTo(arguments[0], arguments[1], NetText(arguments[2]));
            case ScriptFunction.ParseDate or ScriptFunction.ParseSpan:
                return ParseTime(function, arguments[0]);
            case ScriptFunction.CompareTo:
                return arguments[0].IsText && arguments[1].IsText && !TimeOf(arguments[0]).IsTime
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
                : value.IsText && TimeSpan.TryParse(NetText(value), CultureInfo.InvariantCulture, out var span)
                    ? ScriptValue.OfSpan(span.Ticks)
                : throw NoTemporal(value, "time span");
        }

        bool isDate =
            TryGetDate(value, out var date)
            || (value.IsText && CSharpDate.TryParse(_heap.Span(_heap.Plain(value)), out date));
        return !isDate
            ? throw NoTemporal(value, "date")
            : Value(date.Form == DateForm.Day ? date with { Form = DateForm.Unspecified } : date);
    }

    private ScriptFailure NoTemporal(ScriptValue value, string kind) =>
        new($"{(value.IsText ? $"'{Shown(_heap.Plain(value))}'" : NameOf(value))} is no {kind} as documents write it");

    private long DayTicks(ReadOnlySpan<ScriptValue> parts)
    {
        long year = Part(parts[0]),
            month = Part(parts[1]),
            day = Part(parts[2]);
        return
            year is >= 1 and <= 9999
            && month is >= 1 and <= 12
            && day >= 1
            && day <= DateTime.DaysInMonth((int)year, (int)month)
            ? new DateTime((int)year, (int)month, (int)day).Ticks
            : throw new ScriptFailure($"there is no day {day} of month {month} of year {year}");
    }

    private long Part(ScriptValue value) =>
        Required(value, "a date") is { IsWhole: true } part
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
            return Value(new CSharpDate(0, form).At(Part(parts[0])));
        }

        long ticks = DayTicks(parts);
        if (parts.Length > Day)
        {
            long hour = Part(parts[3]),
                minute = Part(parts[4]),
                second = Part(parts[5]),
                milliseconds = parts.Length > Second ? Part(parts[Second]) : 0;
            ticks +=
                hour is >= 0 and < 24
                && minute is >= 0 and < 60
                && second is >= 0 and < 60
                && milliseconds is >= 0 and < 1000
                    ? new TimeSpan(0, (int)hour, (int)minute, (int)second, (int)milliseconds).Ticks
                    : throw new ScriptFailure("there is no such time of a day");
        }

        return Value(new CSharpDate(ticks, form));
    }

    private ScriptValue NewSpan(ReadOnlySpan<ScriptValue> parts)
    {
        if (parts.Length == 1)
        {
            return ScriptValue.OfSpan(Part(parts[0]));
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
            ticks = checked(ticks + (Part(parts[index]) * units[hasDays ? index : index + 1]));
        }

        return ScriptValue.OfSpan(ticks);
    }

    private ScriptValue SpanFrom(ScriptValue count, ScriptValue unit) =>
        count.IsNumber
            ? ScriptValue.OfSpan(SpanOf(_heap.Span(unit), NumeralOf(count)).Ticks)
            : throw new ScriptFailure(
                $"the script calls TimeSpan.From{Shown(unit)} on {NameOf(count)}, which is no number"
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
        target = Temporal(target);
        if (unit is "Add" or "Subtract")
        {
            return OperateOnDates(unit is "Add" ? ScriptFunction.Plus : ScriptFunction.Minus, target, Temporal(amount));
        }

        if (!TryGetDate(target, out var date))
        {
            throw new ScriptFailure($"the script calls Add{unit} on {NameOf(target)}, which is no date");
        }

        var count = Required(amount, $"Add{unit}");
        try
        {
            if (unit is "Years" or "Months")
            {
                int whole = checked((int)count.Cut);
                return Value(
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
            return Value(Shifted(date, after - date.Ticks));
        }
        catch (ArgumentOutOfRangeException)
        {
            throw new ScriptFailure("a date is before the year 1 or behind the year 9999");
        }
    }

    /// <summary>A member of a date; undefined where dates have none of that name.</summary>
    private ScriptValue PartOfDate(CSharpDate date, ReadOnlySpan<byte> name)
    {
        var value = date.Value;
        return System.Text.Encoding.UTF8.GetString(name) switch
        {
            "Year" => ScriptValue.OfInt(value.Year),
            "Month" => ScriptValue.OfInt(value.Month),
            "Day" => ScriptValue.OfInt(value.Day),
            "Hour" => ScriptValue.OfInt(value.Hour),
            "Minute" => ScriptValue.OfInt(value.Minute),
            "Second" => ScriptValue.OfInt(value.Second),
            "Millisecond" => ScriptValue.OfInt(value.Millisecond),
            "Microsecond" => ScriptValue.OfInt(value.Microsecond),
            "Nanosecond" => ScriptValue.OfInt(value.Nanosecond),
            "Ticks" => ScriptValue.OfWhole(date.Ticks),
            "UtcTicks" => ScriptValue.OfWhole(date.Moment),
            "DayOfYear" => ScriptValue.OfInt(value.DayOfYear),
            "DayNumber" => ScriptValue.OfInt((int)(date.Ticks / TimeSpan.TicksPerDay)),
            "DayOfWeek" => NewText(value.DayOfWeek.ToString()),
            "Date" => Value(
                new CSharpDate(value.Date.Ticks, date.Form == DateForm.Utc ? DateForm.Utc : DateForm.Unspecified)
            ),
            "TimeOfDay" => ScriptValue.OfSpan(value.TimeOfDay.Ticks),
            "DateTime" => Value(new CSharpDate(date.Ticks, DateForm.Unspecified)),
            "UtcDateTime" => Value(new CSharpDate(0, DateForm.Utc).At(date.Moment)),
            "Offset" => ScriptValue.OfSpan(date.Offset),
            _ => ScriptValue.Undefined,
        };
    }

    /// <summary>A member of a time span, or of a time of a day; undefined where they have none of that name.</summary>
    private static ScriptValue PartOfSpan(TimeSpan span, ReadOnlySpan<byte> name) =>
        System.Text.Encoding.UTF8.GetString(name) switch
        {
            "Days" => ScriptValue.OfInt(span.Days),
            "Hours" or "Hour" => ScriptValue.OfInt(span.Hours),
            "Minutes" or "Minute" => ScriptValue.OfInt(span.Minutes),
            "Seconds" or "Second" => ScriptValue.OfInt(span.Seconds),
            "Milliseconds" or "Millisecond" => ScriptValue.OfInt(span.Milliseconds),
            "Ticks" => ScriptValue.OfWhole(span.Ticks),
            "TotalDays" => ScriptValue.OfReal(span.TotalDays),
            "TotalHours" => ScriptValue.OfReal(span.TotalHours),
            "TotalMinutes" => ScriptValue.OfReal(span.TotalMinutes),
            "TotalSeconds" => ScriptValue.OfReal(span.TotalSeconds),
            "TotalMilliseconds" => ScriptValue.OfReal(span.TotalMilliseconds),
            _ => ScriptValue.Undefined,
        };
}
