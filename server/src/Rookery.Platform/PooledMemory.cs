using System.Buffers;

namespace Rookery.Platform;

/// <summary>
/// Memory of any length that its one owner can let grow, and gives back: an array of the shared pool while it is short,
/// one of the <see cref="LargeBuffers"/> from there on. The default value has no bytes. Not to be copied while it is
/// used.
/// </summary>
public struct PooledMemory
{
    private byte[]? _array;
    private LargeBuffer? _large;

    /// <summary>Bytes there is room for.</summary>
    public readonly int Length =>
        _array is not null ? _array.Length
        : _large is null ? 0
        : _large.Length;

    /// <summary>All of it; its content is arbitrary where nothing was written.</summary>
    public readonly Span<byte> Span => _large is null ? _array : _large.GetSpan();

    /// <summary>The same, as memory.</summary>
    public readonly Memory<byte> Memory => _large is null ? _array : _large.Memory;

    /// <summary>Memory of at least <paramref name="bytes"/> bytes.</summary>
    /// <exception cref="OutOfMemoryException">There is none.</exception>
    public static PooledMemory Rent(int bytes)
    {
        PooledMemory memory = default;
        if (bytes > LargeBuffers.SmallestBytes)
        {
            memory._large = LargeBuffers.Rent(bytes);
        }
        else
        {
            memory._array = ArrayPool<byte>.Shared.Rent(bytes);
        }

        return memory;
    }

    /// <summary>
    /// Makes room for at least <paramref name="bytes"/> bytes. Spans from before are not to be used any more.
    /// </summary>
    /// <param name="keptBytes">How many of the first bytes keep their content.</param>
    /// <param name="bytes">Bytes wanted in all.</param>
    /// <exception cref="OutOfMemoryException">There is none; nothing changed.</exception>
    public void Grow(int keptBytes, int bytes)
    {
        if (bytes <= Length || (_large is not null && LargeBuffers.TryGrow(_large, bytes)))
        {
            return;
        }

        var longer = Rent(bytes);
        Span[..keptBytes].CopyTo(longer.Span);
        Return();
        this = longer;
    }

    /// <summary>Gives the memory back; there are no bytes any more.</summary>
    public void Return()
    {
        if (_array is not null)
        {
            ArrayPool<byte>.Shared.Return(_array);
        }
        else if (_large is not null)
        {
            LargeBuffers.Return(_large);
        }

        this = default;
    }
}
