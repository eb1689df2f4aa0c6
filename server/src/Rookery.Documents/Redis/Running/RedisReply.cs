using System.Buffers;
using System.Buffers.Text;
using System.Text;
using Rookery.Platform;

namespace Rookery.Documents.Redis.Running;

/// <summary>Writes replies in RESP3 (https://github.com/redis/redis-specifications, protocol/RESP3.md).</summary>
internal sealed class RedisReply
{
    private const int MaxNumberBytes = 24;
    private const int MaxQuotedBytes = 128;

    private IBufferWriter<byte>? _output;
    private long _bytesLeft;
    private long _mostBytes;

    /// <summary>Receives the bytes.</summary>
    public IBufferWriter<byte> Output
    {
        private get => _output ?? throw new InvalidOperationException("a reply has an output");
        set => _output = value;
    }

    /// <summary>Limits the bytes that are written from now on.</summary>
    /// <param name="left">Number of bytes.</param>
    /// <param name="most">Number of bytes for the error, with those written before.</param>
    public void SetLimit(long left, long most) => (_bytesLeft, _mostBytes) = (left, most);

    /// <summary>Releases the output.</summary>
    public void Detach() => _output = null;

    /// <summary>Writes <c>+OK</c>.</summary>
    public void Ok() => Raw("+OK\r\n"u8);

    /// <summary>Writes a short text without line breaks.</summary>
    public void Simple(ReadOnlySpan<byte> text)
    {
        Raw("+"u8);
        Raw(text);
        Raw("\r\n"u8);
    }

    /// <summary>Writes an error, which begins with its code.</summary>
    public void Error(ReadOnlySpan<byte> text)
    {
        Raw("-"u8);
        Raw(text);
        Raw("\r\n"u8);
    }

    /// <summary>Writes an error, which begins with its code.</summary>
    public void Error(string text) => Error(Encoding.UTF8.GetBytes(text.ReplaceLineEndings(" ")));

    /// <summary>Returns an argument for an error, at most its first 128 bytes.</summary>
    public static string Quote(ReadOnlySpan<byte> argument) =>
        Encoding.UTF8.GetString(argument[..Math.Min(argument.Length, MaxQuotedBytes)]);

    /// <summary>Writes a number.</summary>
    public void Integer(long value) => Number((byte)':', value);

    /// <summary>Writes 1 or 0, as Redis answers most questions.</summary>
    public void Integer(bool value) => Raw(value ? ":1\r\n"u8 : ":0\r\n"u8);

    /// <summary>Writes a string of any bytes.</summary>
    public void Bulk(ReadOnlySpan<byte> value)
    {
        Number((byte)'$', value.Length);
        Raw(value);
        Raw("\r\n"u8);
    }

    /// <summary>Writes a number as a string.</summary>
    public void BulkNumber(long value)
    {
        Span<byte> text = stackalloc byte[MaxNumberBytes];
        Utf8Formatter.TryFormat(value, text, out int length);
        Bulk(text[..length]);
    }

    /// <summary>Writes bytes of replies.</summary>
    /// <exception cref="RedisLimitException">The reply is too long.</exception>
    public void Raw(ReadOnlySpan<byte> bytes)
    {
        Spend(bytes.Length);
        Output.Write(bytes);
    }

    /// <summary>Checks that the reply has room for the bytes that the caller has collected.</summary>
    /// <exception cref="RedisLimitException">The reply is too long.</exception>
    public void Limit(int collectedBytes)
    {
        if (collectedBytes > _bytesLeft)
        {
            throw new RedisLimitException(
                $"The replies take more than {Amount.Bytes(_mostBytes)}. Nothing of the commands was carried out; "
                    + "read less at once."
            );
        }
    }

    /// <summary>Writes null.</summary>
    public void Null() => Raw("_\r\n"u8);

    /// <summary>Begins an array of values that the caller writes.</summary>
    public void Array(long count) => Number((byte)'*', count);

    /// <summary>Begins a set.</summary>
    public void Set(long count) => Number((byte)'~', count);

    /// <summary>Begins a map.</summary>
    /// <param name="count">Number of pairs.</param>
    public void Map(long count) => Number((byte)'%', count);

    private void Spend(int bytes)
    {
        Limit(bytes);
        _bytesLeft -= bytes;
    }

    private void Number(byte kind, long value)
    {
        Spend(MaxNumberBytes);
        var span = Output.GetSpan(MaxNumberBytes);
        span[0] = kind;
        Utf8Formatter.TryFormat(value, span[1..], out int length);
        "\r\n"u8.CopyTo(span[(1 + length)..]);
        Output.Advance(1 + length + 2);
    }
}
