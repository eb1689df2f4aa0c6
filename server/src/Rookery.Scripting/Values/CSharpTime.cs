using System.Globalization;

namespace Rookery.Scripting.Values;

/// <summary>A C# date, a time span, or neither.</summary>
internal readonly record struct CSharpTime
{
    public CSharpTime(CSharpDate date) => (IsDate, Date) = (true, date);

    public CSharpTime(long span) => (IsSpan, Span) = (true, span);

    /// <summary>Whether this is a date.</summary>
    public bool IsDate { get; }

    /// <summary>Whether this is a time span.</summary>
    public bool IsSpan { get; }

    /// <summary>The date, if this is one.</summary>
    public CSharpDate Date { get; }

    /// <summary>The ticks of the time span, if this is one.</summary>
    public long Span { get; }

    /// <summary>Whether this is a date or a time span.</summary>
    public bool IsDateOrSpan => IsDate || IsSpan;

    /// <summary>Whether this is a date without a time.</summary>
    public bool IsDay => IsDate && Date.Form == DateForm.Day;

    /// <summary>Reads a date or a time span; default if the text is neither.</summary>
    public static CSharpTime Read(ReadOnlySpan<byte> text)
    {
        if (CSharpDate.TryParse(text, out var date))
        {
            return new CSharpTime(date);
        }

        if (CSharpDate.TryParseSpan(text, out long ticks))
        {
            return new CSharpTime(ticks);
        }

        return default;
    }

    /// <summary>Returns whether both are dates or both are time spans.</summary>
    public bool IsOfOneType(CSharpTime other) => (IsDate && other.IsDate) || (IsSpan && other.IsSpan);

    /// <summary>Returns the order of two values of one type. Dates are compared by their UTC ticks.</summary>
    public int OrderTo(CSharpTime other) =>
        IsDate ? Date.UtcTicks.CompareTo(other.Date.UtcTicks) : Span.CompareTo(other.Span);

    /// <summary>Formats the value as C# does.</summary>
    /// <exception cref="FormatException">The format is invalid.</exception>
    public string Format(string? format) =>
        IsDate ? Date.Format(format) : TimeSpan.FromTicks(Span).ToString(format, CultureInfo.InvariantCulture);
}
