using System.Buffers.Binary;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Rookery.Storage.Runs;

namespace Rookery.Storage.Memory;

/// <summary>
/// A row version in a memtable's arena: this header, followed by <see cref="Height"/> links, the key and the value.
/// Everything except the links is written before the node is linked, and does not change. One exception: a batch that
/// rolls back changes <see cref="Batch"/> of its own versions, which no reader can see yet.
/// </summary>
[StructLayout(LayoutKind.Sequential)]
internal unsafe struct MemtableNode
{
    /// <summary>
    /// Length of a key's keyspace: database number and table. All keys of a list have the same keyspace.
    /// </summary>
    public const int KeyspaceBytes = 5;

    /// <summary>
    /// The eight key bytes after the keyspace as a number, so that most comparisons touch no further cache line.
    /// </summary>
    public ulong Prefix;

    public long Sequence;

    /// <summary>Number of the batch that wrote the version; a reader sees the batches up to a number.</summary>
    public int Batch;

    public int ValueLength;
    public ushort KeyLength;
    public RowKind Kind;
    public byte Height;

    /// <summary>Batch number of a version that was rolled back; no reader ever reaches it.</summary>
    public const int RolledBack = int.MaxValue;

    /// <summary>The highest number of a batch that was not rolled back.</summary>
    public const int MaxBatch = RolledBack - 1;

    /// <summary>Returns the size of a node with its links, key and value, in bytes.</summary>
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
    /// Returns the <see cref="Prefix"/> of a key; shorter keys are padded with zeros. If two prefixes differ, their
    /// keys have the same order.
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

    /// <summary>Returns the keyspace of a key as a number; shorter keys are padded with zeros.</summary>
    public static ulong KeyspaceOf(ReadOnlySpan<byte> key)
    {
        if (key.Length >= KeyspaceBytes)
        {
            return ((ulong)BinaryPrimitives.ReadUInt32BigEndian(key) << 8) | key[KeyspaceBytes - 1];
        }

        Span<byte> padded = stackalloc byte[KeyspaceBytes];
        padded.Clear();
        key.CopyTo(padded);
        return KeyspaceOf(padded);
    }

    /// <summary>Returns whether the node's key is lower than a key of the same keyspace.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static bool IsBefore(MemtableNode* node, ulong prefix, ReadOnlySpan<byte> key) =>
        node->Prefix != prefix ? node->Prefix < prefix : Key(node).SequenceCompareTo(key) < 0;
}
