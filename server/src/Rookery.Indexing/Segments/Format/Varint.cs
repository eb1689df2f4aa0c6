using System.Runtime.CompilerServices;

namespace Rookery.Indexing.Segments;

/// <summary>Unsigned integers in 7-bit groups, lowest first (LEB128).</summary>
internal static class Varint
{
    /// <summary>The longest encoding, in bytes.</summary>
    public const int LimitBytes = 10;

    /// <summary>Writes <paramref name="value"/> and gives the bytes used.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static int Write(Span<byte> target, ulong value)
    {
        int length = 0;
        while (value >= 0x80)
        {
            target[length++] = (byte)(value | 0x80);
            value >>= 7;
        }

        target[length++] = (byte)value;
        return length;
    }

    /// <summary>Reads at <paramref name="at"/> and moves it on.</summary>
    /// <exception cref="InvalidDataException">The bytes end early, or are too many.</exception>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static ulong Read(ReadOnlySpan<byte> from, ref int at)
    {
        if ((uint)at < (uint)from.Length && from[at] < 0x80)
        {
            return from[at++];
        }

        return ReadLong(from, ref at);
    }

    /// <summary>The same, of a number that is an index or a length.</summary>
    /// <exception cref="InvalidDataException">The bytes end early, or the number is too large.</exception>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static int ReadInt(ReadOnlySpan<byte> from, ref int at)
    {
        ulong value = Read(from, ref at);
        return value <= int.MaxValue ? (int)value : throw Malformed();
    }

    /// <summary>What a decoder throws on bytes that no encoder made.</summary>
    public static InvalidDataException Malformed() =>
        new("Bytes of an index passed their checksum and are not what a segment holds.");

    private static ulong ReadLong(ReadOnlySpan<byte> from, ref int at)
    {
        ulong value = 0;
        for (int shift = 0; shift < 64 && (uint)at < (uint)from.Length; shift += 7)
        {
            ulong group = from[at++];
            value |= (group & 0x7f) << shift;
            if (group < 0x80)
            {
                return value;
            }
        }

        throw Malformed();
    }
}
