using Rookery.Documents.Apply;
using Rookery.Platform;
using Rookery.Storage;

namespace Rookery.Documents.Databases;

/// <summary>
/// Reads which documents of a snapshot are absent for clients because they have expired, although the log has not
/// deleted them yet and the statistics count them. In a database without documents that expire, this costs a
/// comparison.
/// </summary>
public static class ExpiredDocuments
{
    /// <summary>
    /// Returns whether a document of the snapshot is absent. Reads one row at most; true if that row is damaged.
    /// </summary>
    public static bool HasAny(in DatabaseReader reader)
    {
        if (reader.Hidden.Ticks == 0)
        {
            return false;
        }

        try
        {
            using var rows = SeekHidden(reader);
            return rows.MoveNext();
        }
        catch (DamagedException)
        {
            return true;
        }
    }

    /// <summary>
    /// Returns the ids, in lower case, of all documents of the snapshot that are absent. Reads one row for each. Null
    /// if there are more than <paramref name="max"/>, or if a row is damaged.
    /// </summary>
    public static IReadOnlySet<byte[]>? TryReadIds(in DatabaseReader reader, int max)
    {
        var ids = new HashSet<byte[]>(BytesComparer.Instance);
        if (reader.Hidden.Ticks == 0)
        {
            return ids;
        }

        try
        {
            using var rows = SeekHidden(reader);
            while (rows.MoveNext())
            {
                if (ids.Count == max)
                {
                    return null;
                }

                ids.Add(rows.Value.ToArray());
            }

            return ids;
        }
        catch (DamagedException)
        {
            return null;
        }
    }

    /// <summary>
    /// Returns when the next of the documents that are present in the snapshot expires, in UTC ticks; 0 if none
    /// expires. While the returned time and the database's last etag stay the same, so do the documents that clients
    /// find. Reads one row at most. If that row is damaged, returns the negative time up to which documents are hidden.
    /// </summary>
    public static long ReadNextExpiry(in DatabaseReader reader)
    {
        var database = reader.Database;
        if (!database.HasExpiring || database.Configurations.KeepsExpired)
        {
            return 0;
        }

        Span<byte> from = stackalloc byte[Key.MaxBytes];
        Span<byte> to = stackalloc byte[Key.MaxBytes];
        try
        {
            using var rows = reader.Snapshot.Seek(
                Key.WriteNumber(from, database.Number, Table.Expiry, reader.Hidden.Ticks + 1),
                Key.WritePrefix(to, database.Number, Table.Expiry + 1)
            );
            return rows.MoveNext() ? Key.NumberOf(rows.Key) : 0;
        }
        catch (DamagedException)
        {
            return -reader.Hidden.Ticks;
        }
    }

    /// <summary>
    /// Opens the rows of the documents that are absent, in the order of their expiry. A row is removed together with
    /// the version of the document that expires.
    /// </summary>
    /// <param name="reader">The snapshot.</param>
    /// <param name="afterKey">The key of the last row to skip; empty to begin with the first.</param>
    internal static RowCursor SeekHidden(in DatabaseReader reader, ReadOnlySpan<byte> afterKey = default)
    {
        uint number = reader.Database.Number;
        Span<byte> from = stackalloc byte[Key.MaxBytes + 1];
        Span<byte> to = stackalloc byte[Key.MaxBytes];
        var end = Key.WriteNumber(to, number, Table.Expiry, reader.Hidden.Ticks + 1);
        if (afterKey.IsEmpty)
        {
            return reader.Snapshot.Seek(Key.WritePrefix(from, number, Table.Expiry), end);
        }

        // The smallest key after a key is the key and a zero byte.
        afterKey.CopyTo(from);
        from[afterKey.Length] = 0;
        return reader.Snapshot.Seek(from[..(afterKey.Length + 1)], end);
    }
}
