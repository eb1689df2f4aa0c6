using System.Runtime.CompilerServices;

namespace Rookery.Platform;

/// <summary>
/// Reads and writes unsigned integers as varints: groups of 7 bits, lowest first (LEB128). All of Rookery's formats
/// encode lengths and numbers in this way.
/// </summary>
public static unsafe class Varint
{
    /// <summary>The maximum encoded length of a 32-bit number, in bytes.</summary>
    public const int MaxBytes32 = 5;

    /// <summary>The maximum encoded length of a 64-bit number, in bytes.</summary>
    public const int MaxBytes64 = 10;

    /// <summary>Writes a number.</summary>
    /// <param name="destination">At least <see cref="Size"/> bytes.</param>
    /// <param name="value">The number.</param>
    /// <returns>Number of bytes written.</returns>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static int Write(Span<byte> destination, ulong value)
    {
        int at = 0;
        while (value >= 0x80)
        {
            destination[at++] = (byte)(value | 0x80);
            value >>= 7;
        }

        destination[at++] = (byte)value;
        return at;
    }

    /// <summary>Writes bytes preceded by their length.</summary>
    /// <returns>Number of bytes written.</returns>
    public static int WriteBytes(Span<byte> destination, ReadOnlySpan<byte> bytes)
    {
        int at = Write(destination, (uint)bytes.Length);
        bytes.CopyTo(destination[at..]);
        return at + bytes.Length;
    }

    /// <summary>Returns the encoded length of a number in bytes.</summary>
    public static int Size(ulong value)
    {
        int size = 1;
        while (value >= 0x80)
        {
            value >>= 7;
            size++;
        }

        return size;
    }

    /// <summary>Reads a number and advances the position.</summary>
    /// <exception cref="InvalidDataException">The bytes end early, or are too many for 64 bits.</exception>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static ulong Read(ReadOnlySpan<byte> source, ref int position) =>
        (uint)position < (uint)source.Length && source[position] < 0x80
            ? source[position++]
            : ReadMultipleBytes(source, ref position);

    /// <summary>Reads a number up to <see cref="int.MaxValue"/> and advances the position.</summary>
    /// <exception cref="InvalidDataException">The bytes end early, or the number is too large.</exception>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static int ReadInt(ReadOnlySpan<byte> source, ref int position)
    {
        ulong value = Read(source, ref position);
        return value <= int.MaxValue ? (int)value : throw Malformed();
    }

    /// <summary>
    /// Reads a number up to <see cref="int.MaxValue"/> and advances the position; returns false when the bytes end
    /// early or the number is larger.
    /// </summary>
    public static bool TryRead(ReadOnlySpan<byte> source, scoped ref int position, out int value)
    {
        uint result = 0;
        value = 0;
        for (int shift = 0; shift < 32; shift += 7)
        {
            if ((uint)position >= (uint)source.Length)
            {
                return false;
            }

            byte next = source[position++];
            result |= (uint)(next & 0x7F) << shift;
            if (next < 0x80)
            {
                value = (int)result;
                return value >= 0 && Fits(next, shift, bits: 32);
            }
        }

        return false;
    }

    /// <summary>
    /// Reads bytes preceded by their length and advances the position; returns false when the bytes end early.
    /// </summary>
    public static bool TryReadBytes(ReadOnlySpan<byte> source, scoped ref int position, out ReadOnlySpan<byte> bytes)
    {
        bytes = default;
        if (!TryRead(source, ref position, out int length) || length > source.Length - position)
        {
            return false;
        }

        bytes = source.Slice(position, length);
        position += length;
        return true;
    }

    /// <summary>
    /// Reads a number and advances the pointer. The caller has checked that the bytes contain a valid number.
    /// </summary>
    public static ulong ReadChecked(ref byte* source)
    {
        ulong value = *source++;
        if (value < 0x80)
        {
            return value;
        }

        value &= 0x7f;
        for (int shift = 7; ; shift += 7)
        {
            ulong group = *source++;
            value |= (group & 0x7f) << shift;
            if (group < 0x80)
            {
                return value;
            }
        }
    }

    /// <summary>
    /// Reads a number of up to 64 bits and advances the pointer; returns false when the bytes end early or are too
    /// many.
    /// </summary>
    public static bool TryRead(ref byte* source, byte* end, out ulong value)
    {
        value = 0;
        for (int shift = 0; shift < 64; shift += 7)
        {
            if (source == end)
            {
                return false;
            }

            ulong group = *source++;
            value |= (group & 0x7f) << shift;
            if (group < 0x80)
            {
                return Fits(group, shift, bits: 64);
            }
        }

        return false;
    }

    // Returns whether the last group has only bits that the type has room for. The shift would drop the other bits, so
    // that a number that is too large would be read as a small one.
    private static bool Fits(ulong lastGroup, int shift, int bits) =>
        shift + 7 <= bits || lastGroup >> (bits - shift) == 0;

    private static ulong ReadMultipleBytes(ReadOnlySpan<byte> source, ref int position)
    {
        ulong value = 0;
        for (int shift = 0; shift < 64 && (uint)position < (uint)source.Length; shift += 7)
        {
            ulong group = source[position++];
            value |= (group & 0x7f) << shift;
            if (group < 0x80)
            {
                return Fits(group, shift, bits: 64) ? value : throw Malformed();
            }
        }

        throw Malformed();
    }

    private static InvalidDataException Malformed() =>
        new("A number in a file ends early or is too large, although its bytes passed their checksum.");
}
