using System.Buffers.Binary;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Rookery.Storage.Runs;

namespace Rookery.Storage.Memory;

/// <summary>
/// A row version in a memtable's arena: this header, then <see cref="Height"/> links, the key and the value. Everything
/// but the links is written before the node is linked and never changes, except <see cref="Batch"/> of a version that
/// its batch takes back, which no reader may see yet.
/// </summary>
[StructLayout(LayoutKind.Sequential)]
internal unsafe struct MemtableNode
{
    /// <summary>
    /// Bytes of a key that name its keyspace: database number and table. Equal in all keys of a list.
    /// </summary>
    public const int KeyspaceBytes = 5;

    /// <summary>
    /// The eight key bytes after the keyspace as a number, so that most comparisons touch no further line of memory.
    /// </summary>
    public ulong Prefix;

    public long Sequence;

    /// <summary>Which batch of the memtable wrote it: readers see batches up to theirs.</summary>
    public int Batch;

    public int ValueLength;
    public ushort KeyLength;
    public RowKind Kind;
    public byte Height;

    /// <summary>A batch number that no reader ever reaches: the version was taken back.</summary>
    public const int TakenBack = int.MaxValue;

    public static int BytesOf(int height, int keyLength, int valueLength) =>
        sizeof(MemtableNode) + (height * sizeof(nint)) + keyLength + valueLength;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static nint* Links(MemtableNode* node) => (nint*)(node + 1);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static MemtableNode* Next(MemtableNode* node, int level) =>
        (MemtableNode*)Volatile.Read(ref Links(node)[level]);

    public static ReadOnlySpan<byte> Key(MemtableNode* node) => new(KeyStart(node), node->KeyLength);

    public static ReadOnlySpan<byte> Value(MemtableNode* node) => new(ValueStart(node), node->ValueLength);

    public static byte* ValueStart(MemtableNode* node) => KeyStart(node) + node->KeyLength;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static byte* KeyStart(MemtableNode* node) => (byte*)(node + 1) + (node->Height * sizeof(nint));

    /// <summary>
    /// The prefix of a key: shorter keys are filled up with zeros, which orders them as their bytes do except where
    /// prefixes are equal.
    /// </summary>
    public static ulong PrefixOf(ReadOnlySpan<byte> key)
    {
        if (key.Length >= KeyspaceBytes + sizeof(ulong))
        {
            return BinaryPrimitives.ReadUInt64BigEndian(key[KeyspaceBytes..]);
        }

        Span<byte> padded = stackalloc byte[sizeof(ulong)];
        padded.Clear();
        if (key.Length > KeyspaceBytes)
        {
            key[KeyspaceBytes..].CopyTo(padded);
        }

        return BinaryPrimitives.ReadUInt64BigEndian(padded);
    }

    /// <summary>
    /// The keyspace of a key as a number; keys that are too short to have one get that of the first key at or after
    /// them.
    /// </summary>
    public static ulong KeyspaceOf(ReadOnlySpan<byte> key)
    {
        if (key.Length >= KeyspaceBytes)
        {
            return ((ulong)BinaryPrimitives.ReadUInt32BigEndian(key) << 8) | key[4];
        }

        Span<byte> padded = stackalloc byte[KeyspaceBytes];
        padded.Clear();
        key.CopyTo(padded);
        return KeyspaceOf(padded);
    }

    /// <summary>Whether the node's key is lower than a key of the same keyspace.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static bool IsBefore(MemtableNode* node, ulong prefix, ReadOnlySpan<byte> key) =>
        node->Prefix != prefix ? node->Prefix < prefix : Key(node).SequenceCompareTo(key) < 0;
}
