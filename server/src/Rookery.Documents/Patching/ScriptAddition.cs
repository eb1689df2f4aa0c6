using System.Globalization;
using Rookery.Platform;

namespace Rookery.Documents.Patching;

/// <summary>JavaScript's <c>x ? x + y : y</c> for JSON numbers and strings.</summary>
internal static class ScriptAddition
{
    /// <summary>
    /// Appends the result; returns false for types whose JavaScript sum would be useless ("[object Object]").
    /// </summary>
    /// <remarks>
    /// Integers are added as 64-bit integers while the sum fits, so counters above 2^53 stay exact. Other numbers are
    /// added as doubles, with the same result on every processor.
    /// </remarks>
    public static bool TryAdd(ReadOnlySpan<byte> old, ReadOnlySpan<byte> value, PooledBytes output)
    {
        if (IsFalsy(old))
        {
            output.Append(value);
            return true;
        }

        bool isText = old[0] == (byte)'"';
        bool isOtherText = value[0] == (byte)'"';
        if ((isText || IsNumber(old)) && (isOtherText || IsNumber(value)))
        {
            return isText || isOtherText ? Join(old, value, output) : TryAddNumbers(old, value, output);
        }

        return false;
    }

    private static bool IsFalsy(ReadOnlySpan<byte> value) =>
        value.SequenceEqual("null"u8)
        || value.SequenceEqual("false"u8)
        || value.SequenceEqual("\"\""u8)
        || (IsNumber(value) && double.Parse(value, NumberStyles.Float, CultureInfo.InvariantCulture) == 0);

    private static bool IsNumber(ReadOnlySpan<byte> value) => value[0] is (byte)'-' or (>= (byte)'0' and <= (byte)'9');

    private static bool Join(ReadOnlySpan<byte> old, ReadOnlySpan<byte> value, PooledBytes output)
    {
        output.Append((byte)'"');
        output.Append(Inside(old));
        output.Append(Inside(value));
        output.Append((byte)'"');
        return true;
    }

    private static ReadOnlySpan<byte> Inside(ReadOnlySpan<byte> value) => value[0] == (byte)'"' ? value[1..^1] : value;

    private static bool TryAddNumbers(ReadOnlySpan<byte> old, ReadOnlySpan<byte> value, PooledBytes output)
    {
        const int MaxDigits = 32;
        Span<byte> digitsBuffer = output.Reserve(MaxDigits);
        if (
            long.TryParse(old, NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture, out long a)
            && long.TryParse(value, NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture, out long b)
            && !OverflowsInt64(a, b)
        )
        {
            (a + b).TryFormat(digitsBuffer, out int digits, default, CultureInfo.InvariantCulture);
            output.Advance(digits);
            return true;
        }

        double sum =
            double.Parse(old, NumberStyles.Float, CultureInfo.InvariantCulture)
            + double.Parse(value, NumberStyles.Float, CultureInfo.InvariantCulture);
        if (!double.IsFinite(sum))
        {
            return false;
        }

        sum.TryFormat(digitsBuffer, out int written, default, CultureInfo.InvariantCulture);
        output.Advance(written);
        return true;
    }

    private static bool OverflowsInt64(long a, long b) => ((a ^ (a + b)) & (b ^ (a + b))) < 0;
}
