using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Rookery.Platform;

/// <summary>
/// A growing array in pooled memory. Large arrays are outside the managed heap: there they grow without copying and do
/// not count towards the heap's limit. (Doubling a managed array of 8 MiB took 24 of the 48 MiB of the smallest node.)
/// Do not copy the struct while it is in use. Unwritten items are arbitrary.
/// </summary>
public struct PooledItems<T>
    where T : unmanaged
{
    private const int MinItems = 16;

    private PooledMemory _memory;

    /// <summary>The capacity in bytes.</summary>
    public readonly int Bytes => _memory.Length;

    /// <summary>The capacity in items.</summary>
    public readonly int Length => _memory.Length / Unsafe.SizeOf<T>();

    /// <summary>All items; valid until the array grows.</summary>
    public readonly Span<T> Span => MemoryMarshal.Cast<byte, T>(_memory.Span);

    /// <summary>
    /// Makes room for at least <paramref name="items"/> items and keeps the first <paramref name="keptItems"/>. Earlier
    /// spans and references must not be used any more.
    /// </summary>
    public void Reserve(int keptItems, int items)
    {
        if (items > Length)
        {
            int capacity = Math.Max(Math.Max(items, MinItems), keptItems + (keptItems / 2));
            _memory.Grow(keptItems * Unsafe.SizeOf<T>(), capacity * Unsafe.SizeOf<T>());
        }
    }

    /// <summary>Releases the memory; the array is empty afterwards.</summary>
    public void Return() => _memory.Return();
}
