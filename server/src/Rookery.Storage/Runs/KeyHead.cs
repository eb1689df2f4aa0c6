using System.Buffers.Binary;
using System.Runtime.CompilerServices;

namespace Rookery.Storage.Runs;

/// <summary>
/// The first bytes of a key as a big-endian number, padded with zeros. If two heads differ, their keys have the same
/// order. A search therefore compares adjacent numbers, and reads a key (a cache miss) only if heads are equal.
/// </summary>
internal static class KeyHead
{
    /// <summary>Returns the first eight bytes.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static ulong Of8(ReadOnlySpan<byte> key) =>
        key.Length >= 8 ? BinaryPrimitives.ReadUInt64BigEndian(key) : OfShort(key, bytes: 8);

    /// <summary>Returns the first four bytes.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static uint Of4(ReadOnlySpan<byte> key) =>
        key.Length >= 4 ? BinaryPrimitives.ReadUInt32BigEndian(key) : (uint)OfShort(key, bytes: 4);

    private static ulong OfShort(ReadOnlySpan<byte> key, int bytes)
    {
        ulong head = 0;
        for (int index = 0; index < bytes; index++)
        {
            head = (head << 8) | (index < key.Length ? key[index] : 0UL);
        }

        return head;
    }
}
