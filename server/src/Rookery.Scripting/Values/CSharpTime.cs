using System.Globalization;

namespace Rookery.Scripting.Values;

/// <summary>A date or a time span of C#, or neither.</summary>
internal readonly record struct CSharpTime
{
    public CSharpTime(CSharpDate date) => (IsDate, Date) = (true, date);

    public CSharpTime(long span) => (IsSpan, Span) = (true, span);

    public bool IsDate { get; }

    public bool IsSpan { get; }

    public CSharpDate Date { get; }

    /// <summary>Ticks of the time span.</summary>
    public long Span { get; }

    public bool IsTime => IsDate || IsSpan;

    /// <summary>Whether it is a date without a time.</summary>
    public bool IsDay => IsDate && Date.Form == DateForm.Day;

    /// <summary>Reads a text.</summary>
    public static CSharpTime Read(ReadOnlySpan<byte> text) =>
        CSharpDate.TryParse(text, out var date) ? new CSharpTime(date)
        : CSharpDate.TryParseSpan(text, out long ticks) ? new CSharpTime(ticks)
        : default;

    /// <summary>Whether both are dates, or both time spans.</summary>
    public bool IsOfOneType(CSharpTime other) => (IsDate && other.IsDate) || (IsSpan && other.IsSpan);

    /// <summary>The order of two of one type: of dates that of their moments.</summary>
    public int OrderTo(CSharpTime other) =>
        IsDate ? Date.Moment.CompareTo(other.Date.Moment) : Span.CompareTo(other.Span);

    /// <summary>As C# formats it; the framework's refusal where it knows no such format.</summary>
    /// <exception cref="FormatException">There is no such format.</exception>
    public string Format(string? format) =>
        IsDate ? Date.Format(format) : TimeSpan.FromTicks(Span).ToString(format, CultureInfo.InvariantCulture);
}
