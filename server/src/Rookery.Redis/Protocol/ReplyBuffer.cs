using System.Buffers;
using System.Globalization;
using Rookery.Platform;

namespace Rookery.Redis.Protocol;

/// <summary>
/// Replies that are not sent yet, in the protocol's version of their client. Its owner calls
/// <see cref="Release"/> before it drops the buffer.
/// </summary>
internal sealed class ReplyBuffer : IBufferWriter<byte>
{
    private readonly PooledBytes _bytes = new();

    /// <summary>Version of the protocol: 2 or 3.</summary>
    public int Version { get; set; } = 2;

    /// <summary>Number of bytes.</summary>
    public int Length => _bytes.Length;

    /// <summary>The bytes; valid until the next change.</summary>
    public ReadOnlySpan<byte> Written => _bytes.Written;

    /// <inheritdoc/>
    public void Advance(int count) => _bytes.Advance(count);

    /// <inheritdoc/>
    public Span<byte> GetSpan(int sizeHint = 0) => _bytes.Reserve(Math.Max(sizeHint, 1));

    /// <inheritdoc/>
    public Memory<byte> GetMemory(int sizeHint = 0) => throw new NotSupportedException("Replies are written as spans.");

    /// <summary>Removes the bytes after a length.</summary>
    public void Truncate(int length) => _bytes.Truncate(length);

    /// <summary>Removes all bytes.</summary>
    public void Clear() => _bytes.Clear();

    /// <summary>Removes all bytes and returns the memory.</summary>
    public void Release() => _bytes.Release();

    /// <summary>Appends bytes of the protocol.</summary>
    public void Append(ReadOnlySpan<byte> encoded) => _bytes.Append(encoded);

    /// <summary>Appends a simple string without line ends.</summary>
    public void Simple(ReadOnlySpan<byte> text) => Line((byte)'+', text);

    /// <summary>Appends <c>+OK</c>.</summary>
    public void Ok() => _bytes.Append("+OK\r\n"u8);

    /// <summary>Appends an error.</summary>
    /// <param name="error">Code and sentence ("ERR …"); line ends in it become spaces.</param>
    public void Error(string error)
    {
        _bytes.Append((byte)'-');
        foreach (char unit in error)
        {
            _bytes.Append(
                unit is '\r' or '\n' ? (byte)' '
                : unit < 0x80 ? (byte)unit
                : (byte)'?'
            );
        }

        _bytes.Append("\r\n"u8);
    }

    /// <summary>Appends an integer.</summary>
    public void Integer(long value) => Number((byte)':', value);

    /// <summary>Appends a string of any bytes.</summary>
    public void Bulk(ReadOnlySpan<byte> value)
    {
        Number((byte)'$', value.Length);
        _bytes.Append(value);
        _bytes.Append("\r\n"u8);
    }

    /// <summary>Appends a text.</summary>
    public void Bulk(string value)
    {
        int length = System.Text.Encoding.UTF8.GetByteCount(value);
        Number((byte)'$', length);
        System.Text.Encoding.UTF8.GetBytes(value, _bytes.Reserve(length));
        _bytes.Advance(length);
        _bytes.Append("\r\n"u8);
    }

    /// <summary>Appends null instead of a string.</summary>
    public void Null() => _bytes.Append(Version == 2 ? "$-1\r\n"u8 : "_\r\n"u8);

    /// <summary>Appends null instead of an array.</summary>
    public void NullArray() => _bytes.Append(Version == 2 ? "*-1\r\n"u8 : "_\r\n"u8);

    /// <summary>Begins an array.</summary>
    public void Array(int count) => Number((byte)'*', count);

    /// <summary>Begins a map of so many pairs; in version 2, an array of twice as many items.</summary>
    public void Map(int pairs) => Number(Version == 2 ? (byte)'*' : (byte)'%', Version == 2 ? 2 * pairs : pairs);

    /// <summary>Begins a set; in version 2, an array.</summary>
    public void Set(int count) => Number(Version == 2 ? (byte)'*' : (byte)'~', count);

    /// <summary>Begins a message that is no reply; in version 2, an array.</summary>
    public void Push(int count) => Number(Version == 2 ? (byte)'*' : (byte)'>', count);

    /// <summary>Appends a text that people read; in version 2, a string.</summary>
    public void Verbatim(string text)
    {
        if (Version == 2)
        {
            Bulk(text);
            return;
        }

        Number((byte)'=', System.Text.Encoding.UTF8.GetByteCount(text) + 4);
        _bytes.Append("txt:"u8);
        _bytes.Append(System.Text.Encoding.UTF8.GetBytes(text));
        _bytes.Append("\r\n"u8);
    }

    private void Line(byte type, ReadOnlySpan<byte> text)
    {
        _bytes.Append(type);
        _bytes.Append(text);
        _bytes.Append("\r\n"u8);
    }

    private void Number(byte type, long value)
    {
        const int MaxDigits = 20;
        var line = _bytes.Reserve(MaxDigits + 3);
        line[0] = type;
        value.TryFormat(line[1..], out int digits, default, CultureInfo.InvariantCulture);
        line[digits + 1] = (byte)'\r';
        line[digits + 2] = (byte)'\n';
        _bytes.Advance(digits + 3);
    }
}
