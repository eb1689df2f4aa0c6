namespace Rookery.Storage;

/// <summary>Unsigned integers in 7-bit groups, lowest first (LEB128), as the run format stores them.</summary>
internal static unsafe class Varint
{
    /// <summary>The longest encoding, in bytes.</summary>
    public const int LimitBytes = 10;

    /// <summary>Writes <paramref name="value"/> and gives the bytes used.</summary>
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

    /// <summary>The length of the encoding of <paramref name="value"/>, in bytes.</summary>
    public static int Length(ulong value)
    {
        int length = 1;
        while (value >= 0x80)
        {
            value >>= 7;
            length++;
        }

        return length;
    }

    /// <summary>Reads where the bytes have been checked before.</summary>
    public static ulong ReadChecked(ref byte* from)
    {
        ulong value = *from++;
        if (value < 0x80)
        {
            return value;
        }

        value &= 0x7f;
        for (int shift = 7; ; shift += 7)
        {
            ulong group = *from++;
            value |= (group & 0x7f) << shift;
            if (group < 0x80)
            {
                return value;
            }
        }
    }

    /// <summary>Reads from bytes that nobody has checked; false when they end early or are too many.</summary>
    public static bool TryRead(ref byte* from, byte* end, out ulong value)
    {
        value = 0;
        for (int shift = 0; shift < 64; shift += 7)
        {
            if (from == end)
            {
                return false;
            }

            ulong group = *from++;
            value |= (group & 0x7f) << shift;
            if (group < 0x80)
            {
                return true;
            }
        }

        return false;
    }
}
