namespace Rookery.Platform;

/// <summary>
/// A growing byte buffer in pooled memory, for content that may be large. Its owner calls <see cref="Release"/>. Large
/// content is outside the managed heap, and stays valid only while this object is reachable; a span does not keep it
/// alive.
/// </summary>
public sealed class PooledBytes
{
    /// <summary>The maximum number of bytes that stay rented between uses. Larger memory returns to the pool.</summary>
    private const int IdleBytes = 64 * 1024;

    private PooledMemory _memory;

    /// <summary>Number of bytes written.</summary>
    public int Length { get; private set; }

    /// <summary>The written bytes; valid until the next change.</summary>
    public ReadOnlySpan<byte> Written => _memory.Span[..Length];

    /// <summary>The written bytes as memory.</summary>
    public Memory<byte> WrittenMemory => _memory.Memory[..Length];

    /// <summary>
    /// Returns room for at least <paramref name="count"/> more bytes after the written ones; <see cref="Advance"/>
    /// counts them as written.
    /// </summary>
    public Span<byte> Reserve(int count)
    {
        if (_memory.Length - Length < count)
        {
            _memory.Grow(Length, Math.Max(256, Math.Max(Length + count, Length + (Length / 2))));
        }

        return _memory.Span[Length..];
    }

    /// <summary>Counts reserved bytes as written.</summary>
    public void Advance(int count)
    {
        ArgumentOutOfRangeException.ThrowIfGreaterThan((uint)count, (uint)(_memory.Length - Length));
        Length += count;
    }

    /// <summary>Appends a copy of bytes.</summary>
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

    /// <summary>Removes all bytes after <paramref name="length"/>.</summary>
    public void Truncate(int length) => Length = Math.Min(Length, length);

    /// <summary>Removes all bytes and releases large memory.</summary>
    public void Clear()
    {
        Length = 0;
        if (_memory.Length > IdleBytes)
        {
            Release();
        }
    }

    /// <summary>Removes all bytes and releases the memory; the buffer can be used again.</summary>
    public void Release()
    {
        Length = 0;
        _memory.Return();
    }
}
