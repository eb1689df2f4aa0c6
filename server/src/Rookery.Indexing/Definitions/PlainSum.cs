using System.Buffers.Text;
using System.Globalization;
using Rookery.Documents.Scripting;

namespace Rookery.Indexing.Definitions;

/// <summary>A sum of numbers, added one after the other as the machine adds them: those of JavaScript as doubles, those of C# as whole numbers up to the first double.</summary>
internal struct PlainSum
{
    /// <summary>Bytes that it takes at most.</summary>
    public const int MostBytes = NumberText.MostBytes + 2;

    private double _sum;
    private long _whole;
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
        if (!_isReal && Utf8Parser.TryParse(json, out long whole, out int read) && read == json.Length && read > 0)
        {
            long sum = unchecked(_whole + whole);
            bool fits = ((_whole ^ sum) & (whole ^ sum)) >= 0;
            _whole = sum;
            return fits;
        }

        if (!PlainNumber.TryParse(json, out double number))
        {
            return false;
        }

        _sum = (_isReal ? _sum : _whole) + number;
        _isReal = true;
        return true;
    }

    /// <summary>Writes it as the machine writes it; returns its bytes.</summary>
    public readonly int Write(Span<byte> destination, bool isCSharp)
    {
        if (isCSharp && !_isReal)
        {
            _whole.TryFormat(destination, out int digits, default, CultureInfo.InvariantCulture);
            return digits;
        }

        int length = NumberText.Format(_sum, destination);
        if (isCSharp && destination[..length].IndexOfAny((byte)'.', (byte)'e') < 0)
        {
            ".0"u8.CopyTo(destination[length..]);
            length += 2;
        }

        return length;
    }
}
