using Rookery.Documents.Apply;
using Rookery.Documents.Commands;
using Rookery.Documents.Databases;

namespace Rookery.Documents.Subscriptions;

/// <summary>Reads the subscriptions of a database from a snapshot.</summary>
public static class SubscriptionRows
{
    /// <summary>Finds a subscription by name, in any casing; returns null if there is none.</summary>
    public static SubscriptionRecord? Find(in DatabaseReader reader, string name) =>
        SubscriptionRecord.NameProblem(name) is null ? Find(reader, SubscriptionRecord.LowerBytes(name)) : null;

    /// <summary>Finds a subscription by its number; returns null if there is none.</summary>
    public static SubscriptionRecord? Find(in DatabaseReader reader, long number)
    {
        Span<byte> key = stackalloc byte[Key.MaxBytes];
        if (!reader.Snapshot.TryGet(SubscriptionKey.WriteProgress(key, reader.Database.Number, number), out var row))
        {
            return null;
        }

        using (row)
        {
            return Find(reader, SubscriptionProgress.Read(row.Value).LowerName);
        }
    }

    /// <summary>
    /// Reads the next subscription in the order of lower-cased names; returns null at the end.
    /// </summary>
    /// <param name="reader">The snapshot.</param>
    /// <param name="skipped">Number of subscriptions to skip first.</param>
    /// <param name="after">The key of the previous one; null to begin. Afterwards that of the returned one.</param>
    public static SubscriptionRecord? ReadNext(in DatabaseReader reader, long skipped, ref byte[]? after)
    {
        Span<byte> from = stackalloc byte[Key.MaxBytes];
        Span<byte> to = stackalloc byte[Key.MaxBytes];
        using var rows = reader.Snapshot.Seek(
            after is null ? SubscriptionKey.WriteFirstDefinition(from, reader.Database.Number) : (byte[])[.. after, 0],
            Key.WritePrefix(to, reader.Database.Number, Table.Subscriptions + 1)
        );
        while (rows.MoveNext())
        {
            if (skipped-- > 0)
            {
                continue;
            }

            after = rows.Key.ToArray();
            using var value = CommandBuffer.Rent();
            rows.CopyTo(value, 0, rows.Length);
            return ToRecord(reader, SubscriptionValue.Read(value.Written.Span), rows.Sequence);
        }

        return null;
    }

    private static SubscriptionRecord? Find(in DatabaseReader reader, ReadOnlySpan<byte> lowerName)
    {
        Span<byte> key = stackalloc byte[Key.MaxBytes];
        if (
            !reader.Snapshot.TryGet(
                Key.WriteText(key, reader.Database.Number, Table.Subscriptions, lowerName),
                out var row
            )
        )
        {
            return null;
        }

        using var value = new Document(row);
        return ToRecord(reader, SubscriptionValue.Read(value.Bytes), value.Etag);
    }

    private static SubscriptionRecord ToRecord(in DatabaseReader reader, SubscriptionValue value, long version)
    {
        Span<byte> key = stackalloc byte[Key.MaxBytes];
        if (
            !reader.Snapshot.TryGet(
                SubscriptionKey.WriteProgress(key, reader.Database.Number, value.Number),
                out var row
            )
        )
        {
            return value.ToRecord(version, default);
        }

        using (row)
        {
            return value.ToRecord(version, SubscriptionProgress.Read(row.Value));
        }
    }
}
