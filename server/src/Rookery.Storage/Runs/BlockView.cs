using System.Runtime.CompilerServices;
using Rookery.Platform;

namespace Rookery.Storage.Runs;

/// <summary>One row in a block in memory.</summary>
internal readonly unsafe struct BlockRow(
    byte* suffix,
    int suffixLength,
    byte* value,
    int valueLength,
    long sequence,
    RowKind kind
)
{
    public readonly byte* ValueAddress = value;
    public readonly int ValueLength = valueLength;
    public readonly long Sequence = sequence;
    public readonly RowKind Kind = kind;

    public ReadOnlySpan<byte> Suffix => new(suffix, suffixLength);
}

/// <summary>
/// A raw block in memory, followed by its directory: the head of every key's suffix (4 bytes each), then the offset of
/// every row (2 bytes each). The directory is built when the block is read. Building it also proves that no length in
/// the block exceeds its end, so that later reads need no checks.
/// </summary>
internal readonly unsafe struct BlockView(byte* raw, int rawLength, int rows)
{
    public const int DirectoryBytesPerRow = sizeof(uint) + sizeof(ushort);

    /// <summary>Number of rows in the block.</summary>
    public int Rows => rows;

    /// <summary>The common prefix of all keys.</summary>
    public ReadOnlySpan<byte> Prefix => new(raw + RunFormat.RawHeaderBytes, PrefixLength);

    private int PrefixLength => Unsafe.ReadUnaligned<ushort>(raw);

    private uint* Heads => (uint*)(raw + DirectoryOffset(rawLength));

    private ushort* Offsets => (ushort*)(Heads + rows);

    /// <summary>Returns the memory for a block and its directory, in bytes.</summary>
    public static int MemoryBytes(int rawLength, int rows) =>
        DirectoryOffset(rawLength) + (rows * DirectoryBytesPerRow);

    /// <summary>
    /// Builds the directory after the raw block. Returns false if the block is malformed; it must not be used then.
    /// </summary>
    public bool TryBuildDirectory()
    {
        if (rawLength < RunFormat.RawHeaderBytes || PrefixLength > rawLength - RunFormat.RawHeaderBytes)
        {
            return false;
        }

        byte* end = raw + rawLength;
        byte* at = raw + RunFormat.RawHeaderBytes + PrefixLength;
        for (int row = 0; row < rows; row++)
        {
            long offset = at - raw;
            if (
                offset > ushort.MaxValue
                || !Varint.TryRead(ref at, end, out ulong suffixLength)
                || !Varint.TryRead(ref at, end, out ulong lengthAndKind)
                || !Varint.TryRead(ref at, end, out _)
                || suffixLength > (ulong)(end - at)
                || ValueLength(lengthAndKind) > (ulong)(end - at) - suffixLength
                || Kind(lengthAndKind) > RowKind.LargeReference
            )
            {
                return false;
            }

            Heads[row] = KeyHead.Of4(new ReadOnlySpan<byte>(at, (int)suffixLength));
            Offsets[row] = (ushort)offset;
            at += suffixLength + ValueLength(lengthAndKind);
        }

        return at == end && rows > 0;
    }

    /// <summary>
    /// Returns the number of the first row whose key is not below <paramref name="key"/>; <see cref="Rows"/> if there
    /// is none.
    /// </summary>
    public int LowerBound(ReadOnlySpan<byte> key, out bool isEqual)
    {
        isEqual = false;
        var prefix = Prefix;
        if (!key.StartsWith(prefix))
        {
            return key.SequenceCompareTo(prefix) < 0 ? 0 : rows;
        }

        var suffix = key[prefix.Length..];
        uint head = KeyHead.Of4(suffix);
        uint* heads = Heads;
        int low = 0;
        int high = rows;
        while (low < high)
        {
            int middle = (low + high) >> 1;
            int order = heads[middle].CompareTo(head);
            if (order == 0)
            {
                order = Read(middle).Suffix.SequenceCompareTo(suffix);
            }

            isEqual |= order == 0;
            if (order < 0)
            {
                low = middle + 1;
            }
            else
            {
                high = middle;
            }
        }

        return low;
    }

    /// <summary>Returns the row with this number.</summary>
    public BlockRow Read(int row)
    {
        byte* at = raw + Offsets[row];
        int suffixLength = (int)Varint.ReadChecked(ref at);
        ulong lengthAndKind = Varint.ReadChecked(ref at);
        // The block's smallest sequence follows the two bytes of the prefix length.
        long sequence = Unsafe.ReadUnaligned<long>(raw + 2) + (long)Varint.ReadChecked(ref at);
        return new BlockRow(
            at,
            suffixLength,
            at + suffixLength,
            (int)ValueLength(lengthAndKind),
            sequence,
            Kind(lengthAndKind)
        );
    }

    // A row's second number contains the length of its value and, in the two lowest bits, its kind.
    private static ulong ValueLength(ulong lengthAndKind) => lengthAndKind >> 2;

    private static RowKind Kind(ulong lengthAndKind) => (RowKind)(lengthAndKind & 3);

    // The next multiple of 4, so that the heads are aligned.
    private static int DirectoryOffset(int rawLength) => (rawLength + 3) & ~3;
}
