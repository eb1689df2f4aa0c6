using System.Buffers;
using System.Buffers.Text;
using System.Text;

namespace Rookery.Documents.Redis.Running;

/// <summary>Writes replies in RESP3 (https://github.com/redis/redis-specifications, protocol/RESP3.md).</summary>
internal sealed class RedisReply
{
    private const int MaxNumberBytes = 24;

    private IBufferWriter<byte>? _output;

    /// <summary>Receives the bytes.</summary>
    public IBufferWriter<byte> Output
    {
        private get => _output ?? throw new InvalidOperationException("a reply has an output");
        set => _output = value;
    }

    /// <summary>Releases the output.</summary>
    public void Detach() => _output = null;

    /// <summary>Writes <c>+OK</c>.</summary>
    public void Ok() => Output.Write("+OK\r\n"u8);

    /// <summary>Writes a short text without line breaks.</summary>
    public void Simple(ReadOnlySpan<byte> text)
    {
        Output.Write("+"u8);
        Output.Write(text);
        Output.Write("\r\n"u8);
    }

    /// <summary>Writes an error, which begins with its code.</summary>
    public void Error(ReadOnlySpan<byte> text)
    {
        Output.Write("-"u8);
        Output.Write(text);
        Output.Write("\r\n"u8);
    }

    /// <summary>Writes an error, which begins with its code.</summary>
    public void Error(string text) => Error(Encoding.UTF8.GetBytes(text.ReplaceLineEndings(" ")));

    /// <summary>Writes a number.</summary>
    public void Integer(long value) => Number((byte)':', value);

    /// <summary>Writes 1 or 0, as Redis answers most questions.</summary>
    public void Integer(bool value) => Output.Write(value ? ":1\r\n"u8 : ":0\r\n"u8);

    /// <summary>Writes a string of any bytes.</summary>
    public void Bulk(ReadOnlySpan<byte> value)
    {
        Number((byte)'$', value.Length);
        Output.Write(value);
        Output.Write("\r\n"u8);
    }

    /// <summary>Writes a number as a string.</summary>
    public void BulkNumber(long value)
    {
        Span<byte> text = stackalloc byte[MaxNumberBytes];
        Utf8Formatter.TryFormat(value, text, out int length);
        Bulk(text[..length]);
    }

    /// <summary>Writes replies that are complete already.</summary>
    public void Raw(ReadOnlySpan<byte> replies) => Output.Write(replies);

    /// <summary>Writes null.</summary>
    public void Null() => Output.Write("_\r\n"u8);

    /// <summary>Begins an array of values that the caller writes.</summary>
    public void Array(long count) => Number((byte)'*', count);

    /// <summary>Begins a set.</summary>
    public void Set(long count) => Number((byte)'~', count);

    /// <summary>Begins a map.</summary>
    /// <param name="count">Number of pairs.</param>
    public void Map(long count) => Number((byte)'%', count);

    private void Number(byte kind, long value)
    {
        var span = Output.GetSpan(MaxNumberBytes);
        span[0] = kind;
        Utf8Formatter.TryFormat(value, span[1..], out int length);
        "\r\n"u8.CopyTo(span[(1 + length)..]);
        Output.Advance(1 + length + 2);
    }
}
