using System.Globalization;
using System.Text;
using Rookery.Documents.Databases;
using Rookery.Documents.Parsing;
using Rookery.Documents.Stored;
using Rookery.Json;

namespace Rookery.Server.Raven.CompareExchange;

/// <summary>Writes compare-exchange values into responses.</summary>
internal static class CompareExchangeJson
{
    // The number of digits of the longest index.
    private const int MaxIndexDigits = 19;

    /// <summary>Writes <c>{"Key":…,"Value":{"Object":…},"Index":…,"ChangeVector":…}</c>.</summary>
    /// <param name="output">Receives the JSON.</param>
    /// <param name="value">The stored value.</param>
    /// <param name="index">The value's index.</param>
    /// <param name="database">Its database.</param>
    public static void WriteItem(ResponseBuffer output, in DocumentView value, long index, Database database)
    {
        output.Write("{\"Key\":"u8);
        JsonText.WriteString(output, value.Id);
        output.Write(",\"Value\":"u8);
        CompareExchangeValue.Write(output, value);
        output.Write(",\"Index\":"u8);
        WriteNumber(output, index);
        output.Write(",\"ChangeVector\":\""u8);
        output.Write(Encoding.ASCII.GetBytes(database.ChangeVectorOf(index)));
        output.Write("\"}"u8);
    }

    /// <summary>Writes an item that stands for a missing value: its index is -1.</summary>
    public static void WriteMissing(ResponseBuffer output, ReadOnlySpan<byte> key)
    {
        output.Write("{\"Key\":"u8);
        JsonText.WriteString(output, key);
        output.Write(",\"Value\":null,\"Index\":-1,\"ChangeVector\":null}"u8);
    }

    /// <summary>Writes a whole number.</summary>
    public static void WriteNumber(ResponseBuffer output, long number)
    {
        number.TryFormat(output.GetSpan(MaxIndexDigits + 1), out int length, default, CultureInfo.InvariantCulture);
        output.Advance(length);
    }
}
