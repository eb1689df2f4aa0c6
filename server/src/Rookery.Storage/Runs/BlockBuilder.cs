using System.Buffers.Binary;
using System.Runtime.InteropServices;
using Rookery.Platform;

namespace Rookery.Storage.Runs;

/// <summary>Collects the rows of one block and encodes it. The prefix that all keys share is stored once.</summary>
internal sealed class BlockBuilder(int targetBytes)
{
    // Estimated overhead of a row: the varints of suffix length, value length and sequence, plus its entry in the
    // in-memory directory. It is counted, so that a full block fits the cache's 4 KiB units.
    private const int RowOverheadBytes = 2 + 2 + 3 + BlockView.DirectoryBytesPerRow;

    private readonly List<PendingRow> _rows = [];
    private readonly GrowableBytes _pending = new(); // keys and values of the rows
    private int _sharedPrefix;
    private long _smallestSequence;

    public int Rows => _rows.Count;

    /// <summary>The first key; valid until <see cref="Clear"/>.</summary>
    public ReadOnlySpan<byte> FirstKey => _pending.Written[.._rows[0].KeyLength];

    /// <summary>Estimated length of the block.</summary>
    public int EstimatedBytes => Estimate(_rows.Count, _pending.Length, _sharedPrefix);

    /// <summary>Returns whether another row would exceed the target size. An empty block accepts any row.</summary>
    public bool IsFullFor(ReadOnlySpan<byte> key, int valueLength)
    {
        if (_rows.Count == 0)
        {
            return false;
        }

        int prefix = FirstKey[.._sharedPrefix].CommonPrefixLength(key);
        return Estimate(_rows.Count + 1, _pending.Length + key.Length + valueLength, prefix) > targetBytes;
    }

    public void Add(ReadOnlySpan<byte> key, long sequence, RowKind kind, ReadOnlySpan<byte> value)
    {
        bool isFirst = _rows.Count == 0;
        _sharedPrefix = isFirst ? key.Length : FirstKey[.._sharedPrefix].CommonPrefixLength(key);
        _smallestSequence = isFirst ? sequence : Math.Min(_smallestSequence, sequence);
        _rows.Add(new PendingRow(_pending.Length, key.Length, value.Length, sequence, kind));
        _pending.Append(key);
        _pending.Append(value);
    }

    /// <summary>
    /// Encodes the raw block into <paramref name="target"/>, which has <see cref="EncodedLimitBytes"/>, and returns its
    /// length.
    /// </summary>
    public int Encode(Span<byte> target)
    {
        BinaryPrimitives.WriteUInt16LittleEndian(target, (ushort)_sharedPrefix);
        BinaryPrimitives.WriteInt64LittleEndian(target[2..], _smallestSequence);
        FirstKey[.._sharedPrefix].CopyTo(target[RunFormat.RawHeaderBytes..]);
        int at = RunFormat.RawHeaderBytes + _sharedPrefix;
        var pending = _pending.Written;
        foreach (ref readonly var row in CollectionsMarshal.AsSpan(_rows))
        {
            at += Varint.Write(target[at..], (ulong)(row.KeyLength - _sharedPrefix));
            at += Varint.Write(target[at..], ((ulong)row.ValueLength << 2) | (byte)row.Kind);
            at += Varint.Write(target[at..], (ulong)(row.Sequence - _smallestSequence));
            var suffixAndValue = pending.Slice(
                row.Offset + _sharedPrefix,
                row.KeyLength - _sharedPrefix + row.ValueLength
            );
            suffixAndValue.CopyTo(target[at..]);
            at += suffixAndValue.Length;
        }

        return at;
    }

    /// <summary>Maximum length of the encoded block.</summary>
    public int EncodedLimitBytes =>
        RunFormat.RawHeaderBytes + _pending.Length + _sharedPrefix + (_rows.Count * 3 * Varint.MaxBytes64);

    public void Clear()
    {
        _rows.Clear();
        _pending.Clear();
        _sharedPrefix = 0;
    }

    private static int Estimate(int rows, int bytes, int prefix) =>
        RunFormat.RawHeaderBytes + prefix + bytes - (rows * prefix) + (rows * RowOverheadBytes);

    private readonly record struct PendingRow(int Offset, int KeyLength, int ValueLength, long Sequence, RowKind Kind);
}
