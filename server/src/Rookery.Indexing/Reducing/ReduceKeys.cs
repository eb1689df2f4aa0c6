using System.Buffers.Binary;
using System.Security.Cryptography;
using Rookery.Storage;

namespace Rookery.Indexing.Reducing;

/// <summary>The tables and keys of the store of a map/reduce index.</summary>
internal static class ReduceKeys
{
    internal const int GroupIdBytes = 16;
    internal const int NumberBytes = 16;
    internal const int PageKeyBytes = PrefixBytes + GroupIdBytes + 1 + NumberBytes;
    internal const int GroupKeyBytes = PrefixBytes + GroupIdBytes;

    /// <summary>Bytes before the id: the keyspace (4 bytes) and the table.</summary>
    internal const int PrefixBytes = 5;

    private const byte Documents = 1;
    private const byte Groups = 2;
    private const byte Pages = 3;
    private const byte Changed = 4;
    private const byte State = 5;

    /// <summary>The tables. Their numbers and merge groups are part of the stored format.</summary>
    internal static IReadOnlyList<TableDefinition> Tables { get; } =
    [
        new(Documents, "mapped documents", 1),
        new(Groups, "reduced groups", 2),
        new(Pages, "pages of reduce trees", 2),
        new(Changed, "changed groups", 3, IsWalkedOnly: true),
        new(State, "state of the reduce", 3),
    ];

    /// <summary>The key of the store's state: its format, watermark and next row number.</summary>
    internal static byte[] StateKey { get; } = [0, 0, 0, 1, State];

    /// <summary>The least key of the table of changed groups.</summary>
    internal static byte[] FirstChanged { get; } = [0, 0, 0, 1, Changed];

    /// <summary>The first key after the table of changed groups.</summary>
    internal static byte[] AfterChanged { get; } = [0, 0, 0, 1, Changed + 1];

    /// <summary>
    /// Returns the id of a group: the first half of the SHA-256 of its key. The key is stored with the group and
    /// compared.
    /// </summary>
    internal static UInt128 GroupId(ReadOnlySpan<byte> key)
    {
        Span<byte> hash = stackalloc byte[SHA256.HashSizeInBytes];
        SHA256.HashData(key, hash);
        return BinaryPrimitives.ReadUInt128BigEndian(hash);
    }

    /// <summary>
    /// Returns the number of a row, by which the rows of a group are ordered. If the order of rows matters, it is a
    /// hash of the document's id, which is the same on each node. Otherwise it is the order of arrival.
    /// </summary>
    /// <param name="documentId">The lower-cased id of the document; empty if the order of rows does not matter.</param>
    /// <param name="count">One more than the number of rows ever stored. It distinguishes rows of the same
    /// document.</param>
    internal static UInt128 RowNumber(ReadOnlySpan<byte> documentId, long count)
    {
        if (documentId.IsEmpty)
        {
            return (UInt128)count;
        }

        Span<byte> hash = stackalloc byte[SHA256.HashSizeInBytes];
        SHA256.HashData(documentId, hash);
        return new UInt128(BinaryPrimitives.ReadUInt64BigEndian(hash), (ulong)count);
    }

    /// <summary>Returns the key of a document's record.</summary>
    /// <param name="id">The lower-cased id of the document.</param>
    /// <param name="key">Receives the key; at least <see cref="PrefixBytes"/> longer than the id.</param>
    internal static ReadOnlySpan<byte> Document(ReadOnlySpan<byte> id, Span<byte> key)
    {
        WritePrefix(key, Documents);
        id.CopyTo(key[PrefixBytes..]);
        return key[..(PrefixBytes + id.Length)];
    }

    /// <summary>Returns the key of a group's record.</summary>
    internal static ReadOnlySpan<byte> Group(UInt128 group, Span<byte> key) => OfGroup(Groups, group, key);

    /// <summary>Returns the key that marks a group as changed.</summary>
    internal static ReadOnlySpan<byte> ChangedGroup(UInt128 group, Span<byte> key) => OfGroup(Changed, group, key);

    /// <summary>Returns the key of a page.</summary>
    internal static ReadOnlySpan<byte> Page(UInt128 group, int level, UInt128 fence, Span<byte> key)
    {
        OfGroup(Pages, group, key);
        key[GroupKeyBytes] = (byte)level;
        BinaryPrimitives.WriteUInt128BigEndian(key[(GroupKeyBytes + 1)..], fence);
        return key[..PageKeyBytes];
    }

    /// <summary>Returns the group of a key made by <see cref="ChangedGroup"/>.</summary>
    internal static UInt128 GroupOf(ReadOnlySpan<byte> changedKey) =>
        BinaryPrimitives.ReadUInt128BigEndian(changedKey[PrefixBytes..]);

    private static ReadOnlySpan<byte> OfGroup(byte table, UInt128 group, Span<byte> key)
    {
        WritePrefix(key, table);
        BinaryPrimitives.WriteUInt128BigEndian(key[PrefixBytes..], group);
        return key[..GroupKeyBytes];
    }

    private static void WritePrefix(Span<byte> key, byte table)
    {
        StateKey.CopyTo(key);
        key[PrefixBytes - 1] = table;
    }
}
