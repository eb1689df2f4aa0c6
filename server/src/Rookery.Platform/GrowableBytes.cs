namespace Rookery.Platform;

/// <summary>
/// A growing byte buffer in a managed array. It need not be released. For small content, or a buffer that is reused.
/// Use <see cref="PooledBytes"/> for content that may be large.
/// </summary>
public sealed class GrowableBytes
{
    private const int MinBytes = 256;

    private byte[] _bytes = [];

    /// <summary>Number of bytes written.</summary>
    public int Length { get; private set; }

    /// <summary>Number of bytes allocated.</summary>
    public int Capacity => _bytes.Length;

    /// <summary>The written bytes; valid until the next change.</summary>
    public ReadOnlySpan<byte> Written => _bytes.AsSpan(0, Length);

    /// <summary>Appends <paramref name="count"/> bytes for the caller to fill.</summary>
    public Span<byte> Take(int count)
    {
        Reserve(count);
        var reserved = _bytes.AsSpan(Length, count);
        Length += count;
        return reserved;
    }

    /// <summary>Appends a number as a varint.</summary>
    public void AppendVarint(ulong value)
    {
        Reserve(Varint.MaxBytes64);
        Length += Varint.Write(_bytes.AsSpan(Length), value);
    }

    /// <summary>Appends a copy of bytes.</summary>
    public void Append(ReadOnlySpan<byte> source) => source.CopyTo(Take(source.Length));

    /// <summary>Appends one byte.</summary>
    public void Append(byte value)
    {
        Reserve(1);
        _bytes[Length++] = value;
    }

    /// <summary>Removes all bytes after <paramref name="length"/>.</summary>
    public void Truncate(int length) => Length = Math.Min(Length, length);

    /// <summary>Removes all bytes and keeps the memory.</summary>
    public void Clear() => Length = 0;

    private void Reserve(int more)
    {
        if (_bytes.Length - Length < more)
        {
            Array.Resize(ref _bytes, Math.Max(MinBytes, Math.Max(_bytes.Length * 2, Length + more)));
        }
    }
}
