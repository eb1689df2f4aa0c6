using System.Text;
using Rookery.Documents.Apply;
using Rookery.Documents.Ids;
using Rookery.Documents.Parsing;
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
    /// Counts the documents that clients find in the snapshot. Reads one row for each absent document. If such a row is
    /// damaged, reads all documents instead.
    /// </summary>
    /// <param name="reader">The snapshot.</param>
    /// <param name="rowRead">Called for each row that is read; may throw to end the count. Null if unused.</param>
    /// <exception cref="DamagedException">Both a row and a document are damaged.</exception>
    public static long CountPresent(in DatabaseReader reader, Action? rowRead = null)
    {
        long count = reader.ReadStatistics().Documents;
        if (reader.Hidden.Ticks == 0)
        {
            return count;
        }

        try
        {
            using var rows = SeekHidden(reader);
            while (rows.MoveNext())
            {
                count--;
                rowRead?.Invoke();
            }

            return count;
        }
        catch (DamagedException)
        {
            return CountByReading(reader.SeekByEtag(afterEtag: 0), rowRead);
        }
    }

    /// <summary>
    /// Counts the documents of one collection that clients find in the snapshot. Reads the head of each absent document
    /// of any collection. If one is damaged, reads all documents of the collection instead.
    /// </summary>
    /// <param name="reader">The snapshot.</param>
    /// <param name="collection">The name, in any casing; <c>@empty</c> for the documents without a collection.</param>
    /// <param name="documentRead">Called for each document that is read; may throw to end the count. Null if
    /// unused.</param>
    /// <exception cref="DamagedException">Documents are damaged.</exception>
    public static long CountPresentIn(in DatabaseReader reader, string collection, Action? documentRead = null)
    {
        long count = CountStored(reader, collection);
        if (reader.Hidden.Ticks == 0 || count == 0)
        {
            return count;
        }

        // A collection with documents has a name of a valid length.
        Span<byte> lower = stackalloc byte[DocumentLimits.MaxCollectionBytes];
        Span<byte> lowerOfDocument = stackalloc byte[DocumentLimits.MaxCollectionBytes];
        byte[] name = Encoding.UTF8.GetBytes(collection);
        var expected = lower[..Key.LowerCollection(name, lower)];
        try
        {
            using var rows = SeekHidden(reader);
            while (rows.MoveNext())
            {
                documentRead?.Invoke();
                if (reader.TryGetVersion(rows.Value, rows.Sequence, out var document))
                {
                    using (document)
                    {
                        int length = Key.LowerCollection(document.Head.Collection, lowerOfDocument);
                        count -= lowerOfDocument[..length].SequenceEqual(expected) ? 1 : 0;
                    }
                }
            }

            return count;
        }
        catch (DamagedException)
        {
            return CountByReading(reader.SeekByCollection(name), documentRead);
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

    private static long CountStored(in DatabaseReader reader, string collection)
    {
        foreach (var counted in reader.ReadCollections())
        {
            if (IgnoredCase.OfCollections.Equals(counted.Name, collection))
            {
                return counted.Documents;
            }
        }

        return 0;
    }

    private static long CountByReading(DocumentCursor documents, Action? documentRead)
    {
        using (documents)
        {
            long count = 0;
            while (documents.MoveNext())
            {
                count++;
                documentRead?.Invoke();
            }

            return count;
        }
    }

    // A row of this table is removed together with the version of the document that expires.
    private static RowCursor SeekHidden(in DatabaseReader reader)
    {
        uint number = reader.Database.Number;
        Span<byte> from = stackalloc byte[Key.MaxBytes];
        Span<byte> to = stackalloc byte[Key.MaxBytes];
        return reader.Snapshot.Seek(
            Key.WritePrefix(from, number, Table.Expiry),
            Key.WriteNumber(to, number, Table.Expiry, reader.Hidden.Ticks + 1)
        );
    }
}
