using System.Buffers;

namespace Rookery.Disk;

/// <summary>
/// Memory of any length that its one owner can let grow, and gives back: an array of the shared pool while it is short, one of the <see cref="LargeBuffers"/> from there on. The
/// default value has no bytes. Not to be copied while it is used.
/// </summary>
public struct PooledMemory
{
    private byte[]? array;
    private LargeBuffer? large;

    /// <summary>Bytes there is room for.</summary>
    public readonly int Length => array is not null ? array.Length : large is null ? 0 : large.Length;

    /// <summary>All of it; its content is arbitrary where nothing was written.</summary>
    public readonly Span<byte> Span => large is null ? array : large.GetSpan();

    /// <summary>The same, as memory.</summary>
    public readonly Memory<byte> Memory => large is null ? array : large.Memory;

    /// <summary>Memory of at least <paramref name="bytes"/> bytes.</summary>
    /// <exception cref="OutOfMemoryException">There is none.</exception>
    public static PooledMemory Rent(int bytes)
    {
        PooledMemory memory = default;
        if (bytes > LargeBuffers.SmallestBytes)
        {
            memory.large = LargeBuffers.Rent(bytes);
        }
        else
        {
            memory.array = ArrayPool<byte>.Shared.Rent(bytes);
        }

        return memory;
    }

    /// <summary>Makes room for at least <paramref name="bytes"/> bytes. Spans from before are not to be used any more.</summary>
    /// <param name="keptBytes">How many of the first bytes keep their content.</param>
    /// <param name="bytes">Bytes wanted in all.</param>
    /// <exception cref="OutOfMemoryException">There is none; nothing changed.</exception>
    public void Grow(int keptBytes, int bytes)
    {
        if (bytes <= Length || (large is not null && LargeBuffers.TryGrow(large, bytes)))
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
        if (array is not null)
        {
            ArrayPool<byte>.Shared.Return(array);
        }
        else if (large is not null)
        {
            LargeBuffers.Return(large);
        }

        this = default;
    }
}
