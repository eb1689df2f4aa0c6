using System.Buffers;
using System.Globalization;
using Rookery.Platform;

namespace Rookery.Redis.Protocol;

/// <summary>
/// Replies that are not sent yet, in the protocol's version of their client. Its owner calls
/// <see cref="Release"/> before it drops the buffer.
/// </summary>
/// <param name="memory">
/// Share from which memory over <see cref="MemoryShare.BytesWithoutReservation"/> is reserved; null for a buffer of
/// short replies. Without memory, a method that appends throws <see cref="ReplyMemoryException"/>.
/// </param>
internal sealed class ReplyBuffer(MemoryShare? memory = null) : IBufferWriter<byte>
{
    /// <summary>The error of a command for which there is no memory.</summary>
    public const string NoMemory = "OOM " + NoMemoryReason;

    private const string NoMemoryReason =
        "command not allowed: the memory of the node for Redis clients (--memory) is in use. Use smaller values, or "
        + "try again later.";

    private readonly PooledBytes _bytes = new();
    private long _reservedBytes;
    private long _clearings;

    /// <summary>Whether memory is reserved beyond the bound, for the replies to what was carried out.</summary>
    public bool MustTake { get; set; }

    /// <summary>Version of the protocol: 2 or 3.</summary>
    public int Version { get; set; } = 2;

    /// <summary>Number of bytes.</summary>
    public int Length => _bytes.Length;

    /// <summary>The end of the bytes now, for <see cref="ReturnTo"/>.</summary>
    public ReplyMark Mark => new(Length, _clearings);

    /// <summary>The bytes; valid until the next change.</summary>
    public ReadOnlySpan<byte> Written => _bytes.Written;

    /// <inheritdoc/>
    public void Advance(int count) => _bytes.Advance(count);

    /// <inheritdoc/>
    public Span<byte> GetSpan(int sizeHint = 0) => Reserve(Math.Max(sizeHint, 1));

    /// <inheritdoc/>
    public Memory<byte> GetMemory(int sizeHint = 0) => throw new NotSupportedException("Replies are written as spans.");

    /// <summary>Removes the bytes after a length.</summary>
    public void Truncate(int length) => _bytes.Truncate(length);

    /// <summary>
    /// Removes the bytes after a mark. A command that waits sends and clears what was appended before it, so the bytes
    /// after its mark then begin at the start.
    /// </summary>
    public void ReturnTo(ReplyMark mark) => Truncate(mark.Clearings == _clearings ? mark.Length : 0);

    /// <summary>Removes all bytes, and returns large memory.</summary>
    public void Clear()
    {
        _clearings++;
        _bytes.Clear();
        ReleaseReservation();
    }

    /// <summary>Removes all bytes and returns the memory.</summary>
    public void Release()
    {
        _bytes.Release();
        ReleaseReservation();
    }

    /// <summary>Appends bytes of the protocol.</summary>
    public void Append(ReadOnlySpan<byte> encoded)
    {
        encoded.CopyTo(Reserve(encoded.Length));
        _bytes.Advance(encoded.Length);
    }

    /// <summary>Appends a simple string without line ends.</summary>
    public void Simple(ReadOnlySpan<byte> text) => Line((byte)'+', text);

    /// <summary>Appends <c>+OK</c>.</summary>
    public void Ok() => Append("+OK\r\n"u8);

    /// <summary>Appends an error.</summary>
    /// <param name="error">Code and sentence ("ERR …"); line ends in it become spaces.</param>
    public void Error(string error)
    {
        var line = Reserve(error.Length + 3);
        line[0] = (byte)'-';
        for (int i = 0; i < error.Length; i++)
        {
            char unit = error[i];
            line[i + 1] =
                unit is '\r' or '\n' ? (byte)' '
                : unit < 0x80 ? (byte)unit
                : (byte)'?';
        }

        "\r\n"u8.CopyTo(line[(error.Length + 1)..]);
        _bytes.Advance(error.Length + 3);
    }

    /// <summary>Appends an integer.</summary>
    public void Integer(long value) => Number((byte)':', value);

    /// <summary>Appends a string of any bytes.</summary>
    public void Bulk(ReadOnlySpan<byte> value)
    {
        Number((byte)'$', value.Length);
        Append(value);
        Append("\r\n"u8);
    }

    /// <summary>Appends a text.</summary>
    public void Bulk(string value)
    {
        int length = System.Text.Encoding.UTF8.GetByteCount(value);
        Number((byte)'$', length);
        System.Text.Encoding.UTF8.GetBytes(value, Reserve(length));
        _bytes.Advance(length);
        Append("\r\n"u8);
    }

    /// <summary>Appends null instead of a string.</summary>
    public void Null() => Append(Version == 2 ? "$-1\r\n"u8 : "_\r\n"u8);

    /// <summary>Appends null instead of an array.</summary>
    public void NullArray() => Append(Version == 2 ? "*-1\r\n"u8 : "_\r\n"u8);

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
        Append("txt:"u8);
        Append(System.Text.Encoding.UTF8.GetBytes(text));
        Append("\r\n"u8);
    }

    private void Line(byte type, ReadOnlySpan<byte> text)
    {
        Append([type]);
        Append(text);
        Append("\r\n"u8);
    }

    private void Number(byte type, long value)
    {
        const int MaxDigits = 20;
        var line = Reserve(MaxDigits + 3);
        line[0] = type;
        value.TryFormat(line[1..], out int digits, default, CultureInfo.InvariantCulture);
        line[digits + 1] = (byte)'\r';
        line[digits + 2] = (byte)'\n';
        _bytes.Advance(digits + 3);
    }

    private Span<byte> Reserve(int count)
    {
        long needed = (long)_bytes.Length + count;
        if (needed > MemoryShare.BytesWithoutReservation && needed > _reservedBytes && memory is not null)
        {
            ReserveMemory(memory, needed);
        }

        return _bytes.Reserve(count);
    }

    private void ReserveMemory(MemoryShare share, long needed)
    {
        long grown = needed + (needed / 2); // as the bytes grow
        if (MustTake)
        {
            share.Reserve(grown - _reservedBytes);
        }
        else if (!share.TryReserveFromCaches(grown - _reservedBytes))
        {
            throw new ReplyMemoryException(NoMemoryReason);
        }

        _reservedBytes = grown;
    }

    private void ReleaseReservation()
    {
        if (_reservedBytes > 0)
        {
            memory!.Release(_reservedBytes);
            _reservedBytes = 0;
        }
    }
}

/// <summary>A place between two replies in a <see cref="ReplyBuffer"/>.</summary>
/// <param name="Length">Bytes before it.</param>
/// <param name="Clearings">How often the buffer had been cleared.</param>
internal readonly record struct ReplyMark(int Length, long Clearings);
