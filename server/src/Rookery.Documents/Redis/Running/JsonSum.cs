using System.Buffers.Text;
using Rookery.Json;

namespace Rookery.Documents.Redis.Running;

/// <summary>A number of JSON for JSON.NUMINCRBY: an integer of 64 bits, or a double.</summary>
internal readonly struct JsonSum
{
    private readonly long _integer;
    private readonly double _number;
    private readonly bool _isInteger;

    private JsonSum(long integer, double number, bool isInteger)
    {
        _integer = integer;
        _number = number;
        _isInteger = isInteger;
    }

    /// <summary>Reads a number; false if the JSON is none.</summary>
    public static bool TryRead(ReadOnlySpan<byte> json, out JsonSum value)
    {
        value = default;
        if (json.IsEmpty || json[0] is not ((byte)'-' or (>= (byte)'0' and <= (byte)'9')))
        {
            return false;
        }

        bool isInteger = Utf8Parser.TryParse(json, out long integer, out int read) && read == json.Length;
        if (!Utf8Parser.TryParse(json, out double number, out read) || read != json.Length || !double.IsFinite(number))
        {
            return false;
        }

        value = new JsonSum(integer, number, isInteger);
        return true;
    }

    /// <summary>Writes a sum; false if it is no finite number.</summary>
    public static bool TryAdd(JsonSum left, JsonSum right, Span<byte> digits, out int length)
    {
        if (left._isInteger && right._isInteger)
        {
            long sum = unchecked(left._integer + right._integer);
            bool isOverflow = ((left._integer ^ sum) & (right._integer ^ sum)) < 0;
            if (!isOverflow)
            {
                return Utf8Formatter.TryFormat(sum, digits, out length);
            }
        }

        double number = left._number + right._number;
        length = double.IsFinite(number) ? JsonNumber.Format(number, digits) : 0;
        return length > 0;
    }

    /// <summary>Returns the type of a JSON value as JSON.TYPE names it.</summary>
    public static ReadOnlySpan<byte> TypeOf(ReadOnlySpan<byte> json) =>
        json[0] switch
        {
            (byte)'{' => "object"u8,
            (byte)'[' => "array"u8,
            (byte)'"' => "string"u8,
            (byte)'t' or (byte)'f' => "boolean"u8,
            (byte)'n' => "null"u8,
            _ when TryRead(json, out var number) && number._isInteger => "integer"u8,
            _ => "number"u8,
        };
}
