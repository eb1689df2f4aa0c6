using Rookery.Documents.Apply;
using Rookery.Documents.Commands;
using Rookery.Documents.Databases;
using Rookery.Documents.Revisions;
using Rookery.Platform;

namespace Rookery.Documents.Attachments;

/// <summary>Compares the rows of contents with the files, and with the attachments of all documents.</summary>
internal static class ContentCheck
{
    private const int RowsPerRead = 256;

    /// <summary>
    /// Returns the contents that rows name and whose files are missing, have a damaged footer, or are in directories
    /// that could not be listed.
    /// </summary>
    public static IEnumerable<ContentPlace> FindUnreadable(
        AttachmentContents contents,
        Database database,
        IReadOnlySet<string> unlisted
    )
    {
        ContentHash? after = null;
        do
        {
            var rows = ReadRows(database, ref after);
            foreach (var row in rows)
            {
                var place = new ContentPlace(database.Number, row.Hash);
                if (contents.Files.IsIn(unlisted, place) || !IsReadable(contents, database.Number, row.Hash))
                {
                    yield return place;
                }
            }
        } while (after is not null);
    }

    /// <summary>
    /// Counts the attachments of all documents and revisions, and compares them with the references and the totals.
    /// </summary>
    /// <returns>What differs, in one sentence; null if nothing does.</returns>
    public static string? FindMiscount(in DatabaseReader reader)
    {
        var counted = new Dictionary<ContentHash, ContentRow>();
        using var documents = reader.SeekByIdPrefix(prefix: default);
        while (documents.MoveNext())
        {
            Count(counted, documents.Head.Attachments);
        }

        CountRevisions(reader, counted);

        var totals = new AttachmentTotals(
            counted.Values.Sum(static row => row.References),
            counted.Count,
            counted.Values.Sum(static row => row.Size)
        );
        if (reader.ReadStatistics().Attachments is var stored && stored != totals)
        {
            return $"Database {reader.Database.Name} has {totals} in its documents, and counts {stored}.";
        }

        using var rows = ContentRows.Seek(reader.Snapshot, reader.Database.Number, after: null);
        while (rows.MoveNext())
        {
            var row = ContentRows.Decode(rows);
            if (!counted.Remove(row.Hash, out var expected) || expected != row)
            {
                return $"Database {reader.Database.Name} has {expected} in its documents, and counts {row}.";
            }
        }

        return counted.Count == 0 ? null : $"Database {reader.Database.Name} lacks rows of {counted.Count} contents.";
    }

    private static void CountRevisions(in DatabaseReader reader, Dictionary<ContentHash, ContentRow> counted)
    {
        Span<byte> from = stackalloc byte[Key.MaxBytes];
        Span<byte> to = stackalloc byte[Key.MaxBytes];
        using var revisions = reader.Snapshot.Seek(
            Key.WritePrefix(from, reader.Database.Number, Table.Revisions),
            Key.WritePrefix(to, reader.Database.Number, Table.Revisions + 1)
        );
        while (revisions.MoveNext())
        {
            using var value = CommandBuffer.Rent();
            revisions.CopyTo(value, 0, revisions.Length);
            Count(counted, new RevisionRow(value.Written.Span).Attachments);
        }
    }

    private static void Count(Dictionary<ContentHash, ContentRow> counted, ReadOnlySpan<byte> attachments)
    {
        var list = new AttachmentList(attachments);
        while (list.TryRead(out var attachment))
        {
            var row = counted.GetValueOrDefault(attachment.Hash);
            counted[attachment.Hash] = new ContentRow(attachment.Hash, row.References + 1, attachment.Size);
        }
    }

    private static List<ContentRow> ReadRows(Database database, ref ContentHash? after)
    {
        var read = new List<ContentRow>();
        try
        {
            using var reader = database.OpenReader();
            using var rows = ContentRows.Seek(reader.Snapshot, database.Number, after);
            while (read.Count < RowsPerRead && rows.MoveNext())
            {
                read.Add(ContentRows.Decode(rows));
            }
        }
        catch (DatabaseGoneException)
        {
            read.Clear(); // deleted meanwhile
        }

        after = read.Count == RowsPerRead ? read[^1].Hash : null;
        return read;
    }

    private static bool IsReadable(AttachmentContents contents, uint database, ContentHash hash)
    {
        try
        {
            contents.Open(database, hash).Dispose();
            return true;
        }
        catch (Exception failure) when (failure is ContentDamagedException or DiskException)
        {
            return false;
        }
    }
}
