using System.Buffers;

namespace Rookery.Platform;

/// <summary>
/// Growable pooled memory. Its owner returns it. Small memory is an array of the shared pool, large memory a buffer of
/// <see cref="LargeBuffers"/>. The default value is empty. Do not copy the struct while it is in use.
/// </summary>
public struct PooledMemory
{
    private byte[]? _array;
    private LargeBuffer? _large;

    /// <summary>The capacity in bytes.</summary>
    public readonly int Length
    {
        get
        {
            if (_array is not null)
            {
                return _array.Length;
            }

            if (_large is null)
            {
                return 0;
            }

            return _large.Length;
        }
    }

    /// <summary>All the memory; unwritten bytes are arbitrary.</summary>
    public readonly Span<byte> Span => _large is null ? _array : _large.GetSpan();

    /// <summary>All the memory, as <see cref="Memory{T}"/>.</summary>
    public readonly Memory<byte> Memory => _large is null ? _array : _large.Memory;

    /// <summary>Returns memory of at least <paramref name="bytes"/> bytes.</summary>
    /// <exception cref="OutOfMemoryException">The system has no memory.</exception>
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

    /// <summary>Grows to at least <paramref name="bytes"/> bytes. Earlier spans must not be used any more.</summary>
    /// <param name="keptBytes">Number of bytes at the start that keep their content.</param>
    /// <param name="bytes">The wanted capacity.</param>
    /// <exception cref="OutOfMemoryException">The system has no memory; nothing changed.</exception>
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

    /// <summary>Returns the memory to its pool; the capacity is 0 afterwards.</summary>
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
