using System.Buffers.Binary;
using Rookery.Documents.Apply;
using Rookery.Documents.Nodes;

namespace Rookery.Documents.Tests.Nodes;

/// <summary>Reads a database's stored idempotency keys as numbers. In tests, both halves of a key are equal.</summary>
internal static class IdempotencyRows
{
    /// <summary>Returns the keys that have an outcome, in their order.</summary>
    public static List<ulong> KeysOf(NodeStore store, string database) =>
        Read(store, database, Table.Idempotency, static (key, _) => (ulong)Key.NumberOf(key));

    /// <summary>Returns the keys in the order of their use.</summary>
    public static List<ulong> OrderOf(NodeStore store, string database) =>
        Read(store, database, Table.IdempotencyOrder, static (_, value) => BinaryPrimitives.ReadUInt64BigEndian(value));

    private static List<ulong> Read(
        NodeStore store,
        string name,
        byte table,
        Func<ReadOnlySpan<byte>, ReadOnlySpan<byte>, ulong> numberOf
    )
    {
        Assert.True(store.Databases.TryGet(name, out var database));
        Span<byte> from = stackalloc byte[Key.MaxBytes];
        Span<byte> to = stackalloc byte[Key.MaxBytes];
        using var snapshot = store.Storage.OpenSnapshot();
        using var rows = snapshot.Seek(
            Key.WritePrefix(from, database.Number, table),
            Key.WritePrefix(to, database.Number, (byte)(table + 1))
        );
        var numbers = new List<ulong>();
        while (rows.MoveNext())
        {
            numbers.Add(numberOf(rows.Key, rows.Value));
        }

        return numbers;
    }
}
