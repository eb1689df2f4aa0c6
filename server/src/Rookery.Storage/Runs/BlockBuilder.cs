using System.Buffers.Binary;
using System.Runtime.InteropServices;

namespace Rookery.Storage;

/// <summary>Gathers the rows of one block and encodes it. Every key of a block leaves out the prefix that all of them share.</summary>
internal sealed class BlockBuilder(int targetBytes)
{
    // Varints of suffix, value and sequence as they usually are, and what the row adds to the directory in memory: a closed block fits its cache units.
    private const int RowOverheadBytes = 2 + 2 + 3 + BlockView.DirectoryBytesPerRow;

    private readonly List<PendingRow> rows = [];
    private byte[] pending = new byte[2 * targetBytes];
    private int pendingBytes;
    private int sharedPrefix;
    private long smallestSequence;

    public int Rows => rows.Count;

    /// <summary>The first key; valid until <see cref="Clear"/>.</summary>
    public ReadOnlySpan<byte> FirstKey => pending.AsSpan(0, rows[0].KeyLength);

    /// <summary>About how many bytes the block has now.</summary>
    public int EstimatedBytes => Estimate(rows.Count, pendingBytes, sharedPrefix);

    /// <summary>Whether one more row would make the block larger than it should be. An empty block takes any row.</summary>
    public bool IsFullFor(ReadOnlySpan<byte> key, int valueLength)
    {
        if (rows.Count == 0)
        {
            return false;
        }

        int prefix = FirstKey[..sharedPrefix].CommonPrefixLength(key);
        return Estimate(rows.Count + 1, pendingBytes + key.Length + valueLength, prefix) > targetBytes;
    }

    public void Add(ReadOnlySpan<byte> key, long sequence, RowKind kind, ReadOnlySpan<byte> value)
    {
        int needed = pendingBytes + key.Length + value.Length;
        if (needed > pending.Length)
        {
            Array.Resize(ref pending, Math.Max(needed, pending.Length * 2));
        }

        bool isFirst = rows.Count == 0;
        sharedPrefix = isFirst ? key.Length : FirstKey[..sharedPrefix].CommonPrefixLength(key);
        smallestSequence = isFirst ? sequence : Math.Min(smallestSequence, sequence);
        key.CopyTo(pending.AsSpan(pendingBytes));
        value.CopyTo(pending.AsSpan(pendingBytes + key.Length));
        rows.Add(new PendingRow(pendingBytes, key.Length, value.Length, sequence, kind));
        pendingBytes = needed;
    }

    /// <summary>Writes the raw block into <paramref name="target"/>, which has <see cref="EncodedLimitBytes"/>, and gives its length.</summary>
    public int Encode(Span<byte> target)
    {
        BinaryPrimitives.WriteUInt16LittleEndian(target, (ushort)sharedPrefix);
        BinaryPrimitives.WriteInt64LittleEndian(target[2..], smallestSequence);
        FirstKey[..sharedPrefix].CopyTo(target[RunFormat.RawHeaderBytes..]);
        int at = RunFormat.RawHeaderBytes + sharedPrefix;
        foreach (ref readonly var row in CollectionsMarshal.AsSpan(rows))
        {
            at += Varint.Write(target[at..], (ulong)(row.KeyLength - sharedPrefix));
            at += Varint.Write(target[at..], ((ulong)row.ValueLength << 2) | (byte)row.Kind);
            at += Varint.Write(target[at..], (ulong)(row.Sequence - smallestSequence));
            var suffixAndValue = pending.AsSpan(row.Offset + sharedPrefix, row.KeyLength - sharedPrefix + row.ValueLength);
            suffixAndValue.CopyTo(target[at..]);
            at += suffixAndValue.Length;
        }

        return at;
    }

    /// <summary>Room that is enough for <see cref="Encode"/>.</summary>
    public int EncodedLimitBytes => RunFormat.RawHeaderBytes + pendingBytes + sharedPrefix + (rows.Count * 3 * Varint.LimitBytes);

    public void Clear()
    {
        rows.Clear();
        pendingBytes = 0;
        sharedPrefix = 0;
    }

    private static int Estimate(int rows, int bytes, int prefix) =>
        RunFormat.RawHeaderBytes + prefix + bytes - (rows * prefix) + (rows * RowOverheadBytes);

    private readonly record struct PendingRow(int Offset, int KeyLength, int ValueLength, long Sequence, RowKind Kind);
}
