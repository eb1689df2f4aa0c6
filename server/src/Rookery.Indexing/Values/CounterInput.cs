using System.Buffers;
using System.Globalization;
using Rookery.Json;

namespace Rookery.Indexing.Values;

/// <summary>Writes counters as the objects that maps over counters receive. Not thread-safe.</summary>
internal sealed class CounterInput
{
    private readonly ArrayBufferWriter<byte> _json = new();

    /// <summary>
    /// Returns <c>{"DocumentId":…,"Name":…,"Value":…}</c> without whitespace, valid until the next call.
    /// </summary>
    public ReadOnlySpan<byte> Write(ReadOnlySpan<byte> documentId, ReadOnlySpan<byte> name, long value)
    {
        _json.ResetWrittenCount();
        _json.Write("{\"DocumentId\":"u8);
        JsonText.WriteString(_json, documentId);
        _json.Write(",\"Name\":"u8);
        JsonText.WriteString(_json, name);
        _json.Write(",\"Value\":"u8);
        const int MaxDigits = 20;
        value.TryFormat(_json.GetSpan(MaxDigits), out int digits, provider: CultureInfo.InvariantCulture);
        _json.Advance(digits);
        _json.Write("}"u8);
        return _json.WrittenSpan;
    }
}
