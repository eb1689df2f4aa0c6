namespace Rookery.Documents.Json;

/// <summary>Unsigned LEB128: lengths in stored documents and commands.</summary>
internal static class Varint
{
    /// <summary>Bytes a 32-bit value can take.</summary>
    public const int MaxBytes = 5;

    /// <summary>Writes a value; returns its bytes.</summary>
    public static int Write(Span<byte> destination, uint value)
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

    /// <summary>Bytes a value takes.</summary>
    public static int Size(uint value)
    {
        int size = 1;
        while (value >= 0x80)
        {
            value >>= 7;
            size++;
        }

        return size;
    }

    /// <summary>
    /// Reads a value at <paramref name="position"/> and steps behind it; false when the bytes end or are no such value.
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
                return value >= 0;
            }
        }

        return false;
    }

    /// <summary>Reads a length at <paramref name="position"/> and the bytes it counts.</summary>
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
}
