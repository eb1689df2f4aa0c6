using System.Buffers.Binary;
using System.Text;
using Rookery.Json;
using Rookery.Scripting.Running;
using Rookery.Scripting.Values;

namespace Rookery.Scripting.CSharp;

/// <summary>
/// Converts values to dates and time spans of C#. A text from a document that has the form of a date or time span is
/// converted where C# expects one.
/// </summary>
internal static class CSharpTimes
{
    // Maximum characters of a name. The longest, TotalMilliseconds, has 17.
    private const int MaxNameLength = 32;

    /// <summary>
    /// Converts a text from a document that has the form of a date or time span. Returns any other value unchanged.
    /// </summary>
    public static ScriptValue Temporal(this ScriptHeap heap, ScriptValue value) =>
        value.IsText && heap.TimeOf(value) is { IsDateOrSpan: true } time ? heap.ValueOf(time) : value;

    /// <summary>
    /// Converts as <see cref="Temporal"/> does, except that a date without a time stays a string, as in RavenDB.
    /// </summary>
    public static ScriptValue AsRead(this ScriptHeap heap, ScriptValue value) =>
        value.IsText && heap.TimeOf(value) is { IsDateOrSpan: true, IsDay: false } time ? heap.ValueOf(time) : value;

    /// <summary>
    /// Returns the date or time span of a value, or of a text from a document that has the form of one; default if
    /// there is none. Adds nothing to the heap.
    /// </summary>
    public static CSharpTime TimeOf(this ScriptHeap heap, ScriptValue value)
    {
        // Each character may be written as an escape of six bytes.
        const int MaxBytes = 6 * CSharpDate.MaxBytes;
        if (!value.IsText)
        {
            if (value.Kind == ValueKind.TimeSpan)
            {
                return new CSharpTime(value.Whole);
            }

            if (heap.TryGetDate(value, out var date))
            {
                return new CSharpTime(date);
            }

            return default;
        }

        if (value.Trait != ValueTrait.Stored || value.Length > MaxBytes)
        {
            return default;
        }

        if (value.Kind == ValueKind.Text)
        {
            return CSharpTime.Read(heap.Span(value));
        }

        Span<byte> room = stackalloc byte[MaxBytes];
        return CSharpTime.Read(room[..JsonText.Unescape(heap.Span(value), room)]);
    }

    /// <summary>Returns the date of a value that is one. A date with an offset is two longs in the heap.</summary>
    public static CSharpDate DateOf(this ScriptHeap heap, ScriptValue value)
    {
        if (value.Kind == ValueKind.Date)
        {
            return CSharpDate.Unpack(value.Whole);
        }

        var bytes = heap.Span(value);
        return new CSharpDate(
            BinaryPrimitives.ReadInt64LittleEndian(bytes),
            DateForm.Offset,
            BinaryPrimitives.ReadInt64LittleEndian(bytes[sizeof(long)..])
        );
    }

    public static bool TryGetDate(this ScriptHeap heap, ScriptValue value, out CSharpDate date)
    {
        bool isDate = value.Kind is ValueKind.Date or ValueKind.OffsetDate;
        date = isDate ? DateOf(heap, value) : default;
        return isDate;
    }

    public static ScriptValue ValueOf(this ScriptHeap heap, CSharpTime time) =>
        time.IsDate ? heap.ValueOf(time.Date) : ScriptValue.OfSpan(time.Span);

    public static ScriptValue ValueOf(this ScriptHeap heap, CSharpDate date)
    {
        if (date.Form != DateForm.Offset)
        {
            return ScriptValue.OfDate(date.Packed);
        }

        int start = heap.Length;
        var room = heap.Reserve(2 * sizeof(long));
        BinaryPrimitives.WriteInt64LittleEndian(room, date.Ticks);
        BinaryPrimitives.WriteInt64LittleEndian(room[sizeof(long)..], date.Offset);
        heap.Advance(2 * sizeof(long));
        return ScriptValue.InHeap(ValueKind.OffsetDate, start, 2 * sizeof(long));
    }

    /// <summary>Returns a member of a date; undefined if dates have no such member.</summary>
    public static ScriptValue PartOfDate(this ScriptHeap heap, CSharpDate date, ReadOnlySpan<byte> name)
    {
        var value = date.Value;
        return Characters(name, stackalloc char[MaxNameLength]) switch
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
            "UtcTicks" => ScriptValue.OfWhole(date.UtcTicks),
            "DayOfYear" => ScriptValue.OfInt(value.DayOfYear),
            "DayNumber" => ScriptValue.OfInt((int)(date.Ticks / TimeSpan.TicksPerDay)),
            "DayOfWeek" => heap.NewString(value.DayOfWeek.ToString()).With(ValueTrait.Weekday),
            "Date" => heap.ValueOf(
                new CSharpDate(value.Date.Ticks, date.Form == DateForm.Utc ? DateForm.Utc : DateForm.Unspecified)
            ),
            "TimeOfDay" => ScriptValue.OfSpan(value.TimeOfDay.Ticks),
            "DateTime" => heap.ValueOf(new CSharpDate(date.Ticks, DateForm.Unspecified)),
            // An offset may lead beyond the years 1 to 9999. WithTicks refuses such ticks.
            "UtcDateTime" => heap.ValueOf(new CSharpDate(Ticks: 0, DateForm.Utc).WithTicks(date.UtcTicks)),
            "Offset" => ScriptValue.OfSpan(date.Offset),
            _ => ScriptValue.Undefined,
        };
    }

    /// <summary>Returns a member of a time span or time of day; undefined if it has no such member.</summary>
    public static ScriptValue PartOfSpan(TimeSpan span, ReadOnlySpan<byte> name) =>
        Characters(name, stackalloc char[MaxNameLength]) switch
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

    /// <summary>Returns a name as characters; empty if it is longer than any known name.</summary>
    private static ReadOnlySpan<char> Characters(ReadOnlySpan<byte> name, Span<char> room) =>
        room[..(name.Length <= room.Length ? Encoding.UTF8.GetChars(name, room) : 0)];
}
