using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Rookery.Platform;

/// <summary>
/// Items that grow in pooled memory. Many of them lie outside of the managed heap, where they grow without being copied
/// and do not meet its limit: an array of 8 MiB that doubled needed 24 of the 48 MiB that the smallest node has. Not to
/// be copied while it is used; its content is arbitrary where nothing was written.
/// </summary>
public struct PooledItems<T>
    where T : unmanaged
{
    private const int LeastItems = 16;

    private PooledMemory _memory;

    /// <summary>Bytes that are held.</summary>
    public readonly int Bytes => _memory.Length;

    /// <summary>Items there is room for.</summary>
    public readonly int Length => _memory.Length / Unsafe.SizeOf<T>();

    /// <summary>All of them; valid until they grow.</summary>
    public readonly Span<T> Span => MemoryMarshal.Cast<byte, T>(_memory.Span);

    /// <summary>
    /// Makes room for so many items, of which the first ones are kept. Spans and references from before are not to be
    /// used any more.
    /// </summary>
    public void Reserve(int keptItems, int items)
    {
        if (items > Length)
        {
            int wanted = Math.Max(Math.Max(items, LeastItems), keptItems + (keptItems / 2));
            _memory.Grow(keptItems * Unsafe.SizeOf<T>(), wanted * Unsafe.SizeOf<T>());
        }
    }

    /// <summary>Gives the memory back; there are no items any more.</summary>
    public void Return() => _memory.Return();
}
