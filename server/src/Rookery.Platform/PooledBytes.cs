namespace Rookery.Platform;

/// <summary>
/// Bytes that grow, in pooled memory that its owner gives back (<see cref="Release"/>): for what may be large for a
/// while. Long bytes lie outside the managed heap, and only this object keeps them there: a span of them does not.
/// </summary>
public sealed class PooledBytes
{
    /// <summary>
    /// What stays rented between uses; larger memory goes back to the pool, which frees it when memory is short.
    /// </summary>
    private const int IdleBytes = 64 * 1024;

    private PooledMemory _memory;

    /// <summary>Bytes in use.</summary>
    public int Length { get; private set; }

    /// <summary>The bytes in use; valid until the next change.</summary>
    public ReadOnlySpan<byte> Written => _memory.Span[..Length];

    /// <summary>The same, as memory.</summary>
    public Memory<byte> WrittenMemory => _memory.Memory[..Length];

    /// <summary>Room for <paramref name="count"/> more bytes behind those in use.</summary>
    public Span<byte> Reserve(int count)
    {
        if (_memory.Length - Length < count)
        {
            _memory.Grow(Length, Math.Max(256, Math.Max(Length + count, Length + (Length / 2))));
        }

        return _memory.Span[Length..];
    }

    /// <summary>Takes reserved bytes into use.</summary>
    public void Advance(int count)
    {
        ArgumentOutOfRangeException.ThrowIfGreaterThan((uint)count, (uint)(_memory.Length - Length));
        Length += count;
    }

    /// <summary>Appends a copy.</summary>
    public void Append(ReadOnlySpan<byte> source)
    {
        source.CopyTo(Reserve(source.Length));
        Length += source.Length;
    }

    /// <summary>Appends one byte.</summary>
    public void Append(byte value)
    {
        Reserve(1)[0] = value;
        Length++;
    }

    /// <summary>Removes all bytes behind <paramref name="length"/>.</summary>
    public void Truncate(int length) => Length = Math.Min(Length, length);

    /// <summary>Forgets the bytes, and gives large memory back.</summary>
    public void Clear()
    {
        Length = 0;
        if (_memory.Length > IdleBytes)
        {
            Release();
        }
    }

    /// <summary>Gives the memory back; the bytes can be filled again.</summary>
    public void Release()
    {
        Length = 0;
        _memory.Return();
    }
}
