using System.Buffers.Text;
using System.Globalization;
using Rookery.Documents.Json;
using Rookery.Documents.Scripting;

namespace Rookery.Indexing.Definitions;

/// <summary>A sum of numbers of rows, as the machine adds them: those of JavaScript as doubles, one after the other; those of C# exactly, and as whole numbers as long as all are.</summary>
internal struct PlainSum
{
    /// <summary>Bytes that it takes at most.</summary>
    public const int MostBytes = NumberSum.MostBytes + 2;

    private const int MostDigits = 20;

    private double _sum;
    private long _whole;
    private NumberSum _exact;
    private bool _isReal;

    /// <summary>Whether JSON has it.</summary>
    public readonly bool IsFinite => double.IsFinite(_sum);

    /// <summary>Adds a number of JavaScript; false where the value is none.</summary>
    public bool TryAdd(ReadOnlySpan<byte> json)
    {
        bool isNumber = PlainNumber.TryParse(json, out double number);
        _sum += number;
        return isNumber;
    }

    /// <summary>Adds a number of C#; false where the value is none, or the sum is larger than a long.</summary>
    public bool TryAddAsCSharp(ReadOnlySpan<byte> json)
    {
        if (Utf8Parser.TryParse(json, out long whole, out int read) && read == json.Length && read > 0)
        {
            long sum = unchecked(_whole + whole);
            bool fits = ((_whole ^ sum) & (whole ^ sum)) >= 0;
            _whole = sum;
            return fits;
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
        if (!isCSharp)
        {
            return NumberText.Format(_sum, destination);
        }

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
        if (destination[..length].IndexOfAny(".eE"u8) < 0)
        {
            ".0"u8.CopyTo(destination[length..]);
            length += 2;
        }

        return length;
    }
}
