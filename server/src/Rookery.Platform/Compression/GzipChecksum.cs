namespace Rookery.Platform.Compression;

/// <summary>
/// Computes the CRC-32 of gzip (RFC 1952, section 8), eight bytes at a time ("slicing by 8"). The journal and the runs
/// use another checksum: <see cref="Checksum"/>.
/// </summary>
internal static class GzipChecksum
{
    private const int Slices = 8;
    private const int TableLength = 256;

    private static readonly uint[] Table = CreateTable();

    /// <summary>Returns the checksum of bytes, given the checksum of the bytes before; 0 for none.</summary>
    public static uint Append(uint checksum, ReadOnlySpan<byte> bytes)
    {
        uint state = ~checksum;
        while (bytes.Length >= Slices)
        {
            state ^= System.Buffers.Binary.BinaryPrimitives.ReadUInt32LittleEndian(bytes);
            state =
                Table[(7 * TableLength) + (int)(state & 0xFF)]
                ^ Table[(6 * TableLength) + (int)((state >> 8) & 0xFF)]
                ^ Table[(5 * TableLength) + (int)((state >> 16) & 0xFF)]
                ^ Table[(4 * TableLength) + (int)(state >> 24)]
                ^ Table[(3 * TableLength) + bytes[4]]
                ^ Table[(2 * TableLength) + bytes[5]]
                ^ Table[TableLength + bytes[6]]
                ^ Table[bytes[7]];
            bytes = bytes[Slices..];
        }

        foreach (byte value in bytes)
        {
            state = Table[(int)((state ^ value) & 0xFF)] ^ (state >> 8);
        }

        return ~state;
    }

    private static uint[] CreateTable()
    {
        const uint Polynomial = 0xEDB88320;
        uint[] table = new uint[Slices * TableLength];
        for (int value = 0; value < TableLength; value++)
        {
            uint state = (uint)value;
            for (int bit = 0; bit < 8; bit++)
            {
                state = (state & 1) != 0 ? (state >> 1) ^ Polynomial : state >> 1;
            }

            table[value] = state;
        }

        // Each further table is the one before it, advanced by one zero byte.
        for (int at = TableLength; at < table.Length; at++)
        {
            uint state = table[at - TableLength];
            table[at] = table[(int)(state & 0xFF)] ^ (state >> 8);
        }

        return table;
    }
}
