using System.Buffers.Binary;
using System.Security.Cryptography;
using Rookery.Storage;

namespace Rookery.Indexing.Reducing;

/// <summary>The keys under which the state of a map/reduce index lies in its store.</summary>
internal static class ReduceKeys
{
    internal const int GroupIdBytes = 16;
    internal const int NumberBytes = 16;
    internal const int PageKeyBytes = PrefixBytes + GroupIdBytes + 1 + NumberBytes;
    internal const int GroupKeyBytes = PrefixBytes + GroupIdBytes;
    internal const int PrefixBytes = 5;

    private const byte Documents = 1;
    private const byte Groups = 2;
    private const byte Pages = 3;
    private const byte Changed = 4;
    private const byte State = 5;

    /// <summary>The tables. Numbers and groups are part of the format.</summary>
    internal static IReadOnlyList<TableDefinition> Tables { get; } =
    [
        new(Documents, "mapped documents", 1),
        new(Groups, "reduced groups", 2),
        new(Pages, "pages of reduce trees", 2),
        new(Changed, "changed groups", 3),
        new(State, "state of the reduce", 3),
    ];

    internal static byte[] StateKey { get; } = [0, 0, 0, 1, State];

    internal static byte[] FirstChanged { get; } = [0, 0, 0, 1, Changed];

    internal static byte[] AfterChanged { get; } = [0, 0, 0, 1, Changed + 1];

    /// <summary>
    /// Names a group: the first half of the SHA-256 of its key. The key is stored with the group and compared.
    /// </summary>
    internal static UInt128 GroupId(ReadOnlySpan<byte> key)
    {
        Span<byte> hash = stackalloc byte[SHA256.HashSizeInBytes];
        SHA256.HashData(key, hash);
        return BinaryPrimitives.ReadUInt128BigEndian(hash);
    }

    /// <summary>
    /// The number of a row. Rows of a group are in this order: where it counts, that of a hash of their documents'
    /// ids, on each node and whenever they came.
    /// </summary>
    /// <param name="documentId">The document, in lower case; empty where the order of rows does not count.</param>
    /// <param name="count">Rows that there were before: it tells apart rows of one document.</param>
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

    /// <summary>The key of a document's record.</summary>
    /// <param name="id">Its id.</param>
    /// <param name="key">At least <see cref="PrefixBytes"/> more than the id.</param>
    internal static ReadOnlySpan<byte> Document(ReadOnlySpan<byte> id, Span<byte> key)
    {
        WritePrefix(key, Documents);
        id.CopyTo(key[PrefixBytes..]);
        return key[..(PrefixBytes + id.Length)];
    }

    /// <summary>The key of a group's record.</summary>
    internal static ReadOnlySpan<byte> Group(UInt128 group, Span<byte> key) => OfGroup(Groups, group, key);

    /// <summary>The key that says that a group has changed.</summary>
    internal static ReadOnlySpan<byte> ChangedGroup(UInt128 group, Span<byte> key) => OfGroup(Changed, group, key);

    /// <summary>The key of a page.</summary>
    internal static ReadOnlySpan<byte> Page(UInt128 group, int level, UInt128 fence, Span<byte> key)
    {
        OfGroup(Pages, group, key);
        key[GroupKeyBytes] = (byte)level;
        BinaryPrimitives.WriteUInt128BigEndian(key[(GroupKeyBytes + 1)..], fence);
        return key[..PageKeyBytes];
    }

    /// <summary>The group that a changed key names.</summary>
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
