using System.Buffers.Text;
using System.Globalization;
using Rookery.Documents.Json;
using Rookery.Documents.Scripting;

namespace Rookery.Indexing.Definitions;

/// <summary>
/// A sum of numbers of rows, exact and in any order: a whole number as long as all are. What the machine adds of
/// JavaScript is the same in 15 digits.
/// </summary>
internal struct PlainSum
{
    /// <summary>Bytes that it takes at most.</summary>
    public const int MostBytes = NumberSum.MostBytes + 2;

    private const int MostDigits = 20;

    private long _whole;
    private NumberSum _exact;
    private bool _isReal;

    /// <summary>Adds a number; false where the value is none, or the sum is larger than a long of C#.</summary>
    public bool TryAdd(ReadOnlySpan<byte> json, bool isCSharp)
    {
        if (Utf8Parser.TryParse(json, out long whole, out int read) && read == json.Length && read > 0)
        {
            long sum = unchecked(_whole + whole);
            bool fits = ((_whole ^ sum) & (whole ^ sum)) >= 0;
            if (fits)
            {
                _whole = sum;
            }
            else if (!isCSharp)
            {
                _exact.Add(json);
                _isReal = true;
            }

            return fits || !isCSharp;
        }

        if (json.IsEmpty || (json[0] != (byte)'-' && !char.IsAsciiDigit((char)json[0])))
        {
            return false;
        }

        _exact.Add(json);
        _isReal = true;
        return true;
    }

    /// <summary>Writes it as the machine writes it; returns its bytes.</summary>
    public readonly int Write(Span<byte> destination, bool isCSharp)
    {
        if (!_isReal)
        {
            _whole.TryFormat(destination, out int digits, default, CultureInfo.InvariantCulture);
            return digits;
        }

        Span<byte> whole = stackalloc byte[MostDigits];
        _whole.TryFormat(whole, out int wholeLength, default, CultureInfo.InvariantCulture);
        var exact = _exact;
        exact.Add(whole[..wholeLength]);
        int length = exact.Write(destination);
        if (!isCSharp && destination[..length].Contains((byte)'E'))
        {
            double number = double.Parse(destination[..length], NumberStyles.Float, CultureInfo.InvariantCulture);
            return NumberText.Format(number, destination);
        }

        if (isCSharp && destination[..length].IndexOfAny(".eE"u8) < 0)
        {
            ".0"u8.CopyTo(destination[length..]);
            length += 2;
        }

        return length;
    }
}
