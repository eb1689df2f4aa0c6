namespace Rookery.Platform;

/// <summary>
/// Bytes that grow, in an array of the managed heap that nobody needs to give back: for what is small, or used again
/// for the next piece. What may be large for a while is <see cref="PooledBytes"/>.
/// </summary>
public sealed class GrowableBytes
{
    private const int LeastBytes = 256;

    private byte[] _bytes = [];

    /// <summary>Bytes in use.</summary>
    public int Length { get; private set; }

    /// <summary>Bytes of memory that it holds.</summary>
    public int Capacity => _bytes.Length;

    /// <summary>The bytes in use; valid until the next change.</summary>
    public ReadOnlySpan<byte> Written => _bytes.AsSpan(0, Length);

    /// <summary>Appends <paramref name="count"/> bytes for the caller to fill.</summary>
    public Span<byte> Take(int count)
    {
        Reserve(count);
        var taken = _bytes.AsSpan(Length, count);
        Length += count;
        return taken;
    }

    /// <summary>Appends a number in 7-bit groups.</summary>
    public void AppendVarint(ulong value)
    {
        Reserve(Varint.MaxBytes64);
        Length += Varint.Write(_bytes.AsSpan(Length), value);
    }

    /// <summary>Appends a copy.</summary>
    public void Append(ReadOnlySpan<byte> source) => source.CopyTo(Take(source.Length));

    /// <summary>Appends one byte.</summary>
    public void Append(byte value)
    {
        Reserve(1);
        _bytes[Length++] = value;
    }

    /// <summary>Removes all bytes behind <paramref name="length"/>.</summary>
    public void Truncate(int length) => Length = Math.Min(Length, length);

    /// <summary>Forgets the bytes, and keeps the memory.</summary>
    public void Clear() => Length = 0;

    private void Reserve(int more)
    {
        if (_bytes.Length - Length < more)
        {
            Array.Resize(ref _bytes, Math.Max(LeastBytes, Math.Max(_bytes.Length * 2, Length + more)));
        }
    }
}
