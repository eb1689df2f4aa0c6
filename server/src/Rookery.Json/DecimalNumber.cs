using System.Globalization;

namespace Rookery.Json;

/// <summary>
/// A JSON number as <c>±0.d1d2d3… × 10^exponent</c> with all its digits; the first and the last are not 0.
/// </summary>
internal readonly ref struct DecimalNumber
{
    // Exponents of fewer digits, and their sums with a number of digits, fit into a long.
    private const int MaxExponentDigits = 18;

    private readonly bool _isNegative;
    private readonly ReadOnlySpan<byte> _digits; // with the decimal point, if it is between digits; empty for 0
    private readonly long _point; // the exponent of the summary, without the exponent in the text
    private readonly bool _isExponentNegative;
    private readonly ReadOnlySpan<byte> _exponent; // of the text: digits without leading zeros; empty for 0

    private DecimalNumber(ReadOnlySpan<byte> text)
    {
        _isNegative = text[0] == (byte)'-';
        int exponentSign = text.IndexOfAny((byte)'e', (byte)'E');
        var mantissa = text[(_isNegative ? 1 : 0)..(exponentSign < 0 ? text.Length : exponentSign)];
        int first = mantissa.IndexOfAnyInRange((byte)'1', (byte)'9');
        if (first < 0)
        {
            _isNegative = false; // -0 equals 0
            return;
        }

        _digits = mantissa[first..(mantissa.LastIndexOfAnyInRange((byte)'1', (byte)'9') + 1)];
        int point = mantissa.IndexOf((byte)'.');
        int wholeDigits = point < 0 ? mantissa.Length : point;
        _point = first < wholeDigits ? wholeDigits - first : wholeDigits + 1 - first;
        if (exponentSign >= 0)
        {
            var exponent = text[(exponentSign + 1)..];
            _isExponentNegative = exponent[0] == (byte)'-';
            _exponent = exponent.TrimStart("+-"u8).TrimStart((byte)'0');
        }
    }

    /// <summary>
    /// Returns whether two JSON numbers have the same value. Numbers whose exponents are written with more than 18
    /// digits are equal only if these digits are.
    /// </summary>
    public static bool AreEqual(ReadOnlySpan<byte> a, ReadOnlySpan<byte> b)
    {
        if (a.SequenceEqual(b))
        {
            return true;
        }

        var x = new DecimalNumber(a);
        var y = new DecimalNumber(b);
        return x._isNegative == y._isNegative && AreDigitsEqual(x._digits, y._digits) && AreExponentsEqual(x, y);
    }

    private static bool AreExponentsEqual(DecimalNumber x, DecimalNumber y)
    {
        if (x._exponent.Length <= MaxExponentDigits && y._exponent.Length <= MaxExponentDigits)
        {
            return x.Exponent() == y.Exponent();
        }

        return x._point == y._point
            && x._isExponentNegative == y._isExponentNegative
            && x._exponent.SequenceEqual(y._exponent);
    }

    private long Exponent()
    {
        long written = _exponent.IsEmpty ? 0 : long.Parse(_exponent, NumberStyles.None, CultureInfo.InvariantCulture);
        return _point + (_isExponentNegative ? -written : written);
    }

    private static bool AreDigitsEqual(ReadOnlySpan<byte> x, ReadOnlySpan<byte> y)
    {
        while (!x.IsEmpty && !y.IsEmpty)
        {
            x = x[0] == (byte)'.' ? x[1..] : x;
            y = y[0] == (byte)'.' ? y[1..] : y;
            int common = x.CommonPrefixLength(y);
            x = x[common..];
            y = y[common..];
            bool isPointNext = (!x.IsEmpty && x[0] == (byte)'.') || (!y.IsEmpty && y[0] == (byte)'.');
            if (!isPointNext)
            {
                break;
            }
        }

        return x.IsEmpty && y.IsEmpty;
    }
}
