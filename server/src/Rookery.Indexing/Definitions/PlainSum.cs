using System.Buffers.Text;
using System.Globalization;
using Rookery.Json;

namespace Rookery.Indexing.Definitions;

/// <summary>
/// An exact sum of numbers, which does not depend on their order. Written as the interpreter writes it. In C#, the sum
/// is an integer if no addend has a point or an exponent.
/// </summary>
internal struct PlainSum
{
    /// <summary>Maximum bytes of a written sum.</summary>
    public const int MaxBytes = ExactSum.MaxBytes + 2;

    // The sum of the integers that could be added without an overflow; _exact is the sum of all other numbers.
    private long _whole;
    private ExactSum _exact;
    private bool _isExact;
    private bool _isReal;

    /// <summary>Adds a number. Returns false if the value is no number.</summary>
    public bool TryAdd(ReadOnlySpan<byte> json)
    {
        if (Utf8Parser.TryParse(json, out long whole, out int read) && read == json.Length && read > 0)
        {
            long sum = unchecked(_whole + whole);
            bool hasOverflowed = ((_whole ^ sum) & (whole ^ sum)) < 0;
            if (!hasOverflowed)
            {
                _whole = sum;
                return true;
            }
        }
        else if (json.IsEmpty || (json[0] != (byte)'-' && !char.IsAsciiDigit((char)json[0])))
        {
            return false;
        }
        else
        {
            _isReal |= json.IndexOfAny(".eE"u8) >= 0;
        }

        _exact.Add(json);
        _isExact = true;
        return true;
    }

    /// <summary>Writes the sum as the interpreter does and returns the number of bytes.</summary>
    public readonly int Write(Span<byte> destination, bool isCSharp)
    {
        if (!_isExact)
        {
            _whole.TryFormat(destination, out int digits, default, CultureInfo.InvariantCulture);
            return digits;
        }

        var exact = _exact;
        exact.Add(_whole);
        if (!isCSharp)
        {
            return exact.Write(destination);
        }

        if (_isReal)
        {
            return exact.WriteReal(destination);
        }

        return exact.WriteWhole(destination);
    }
}
