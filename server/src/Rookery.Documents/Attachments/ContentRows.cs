using System.Buffers.Binary;
using Rookery.Documents.Apply;
using Rookery.Storage;

namespace Rookery.Documents.Attachments;

/// <summary>
/// Counts how many attachments refer to a content (the bytes that attachments with the same hash share): hash →
/// <c>[format u8][references i64][size i64]</c>. A content without references has no row. Part of the format from
/// <see cref="Nodes.FormatLevel.Attachments"/> on.
/// </summary>
internal static class ContentRows
{
    private const byte Format = 1;
    private const int RowBytes = 1 + (2 * sizeof(long));

    /// <summary>Finds the row of a content.</summary>
    /// <exception cref="DamagedException">The row is damaged.</exception>
    public static bool TryRead(in Snapshot snapshot, uint database, ContentHash hash, out ContentRow content)
    {
        Span<byte> key = stackalloc byte[Key.MaxBytes];
        content = default;
        if (!snapshot.TryGet(WriteKey(key, database, hash), out var row))
        {
            return false;
        }

        using (row)
        {
            content = Decode(hash, row.Value);
            return true;
        }
    }

    /// <summary>
    /// Reads the row that a change of a reference needs, before the command is proposed: so damage refuses the command,
    /// and apply finds the row in memory.
    /// </summary>
    /// <exception cref="DamagedException">The row is damaged, so the change could not be applied.</exception>
    public static void Check(in Snapshot snapshot, uint database, ContentHash hash)
    {
        Span<byte> key = stackalloc byte[Key.MaxBytes];
        if (snapshot.TryLoadAhead(WriteKey(key, database, hash), out var row))
        {
            row.Dispose();
        }
    }

    /// <summary>Like <see cref="Check"/>, for all attachments of a document that is to be deleted.</summary>
    /// <exception cref="DamagedException">A row is damaged, so the document could not be deleted.</exception>
    public static void CheckAll(in Snapshot snapshot, uint database, ReadOnlySpan<byte> attachments)
    {
        var list = new AttachmentList(attachments);
        while (list.TryRead(out var attachment))
        {
            Check(snapshot, database, attachment.Hash);
        }
    }

    /// <summary>Returns the rows of a database after a content, in the order of their hashes.</summary>
    /// <param name="snapshot">The snapshot; it stays open while the cursor is used.</param>
    /// <param name="database">Number of the database.</param>
    /// <param name="after">The last content to skip; null to start with the first.</param>
    public static RowCursor Seek(in Snapshot snapshot, uint database, ContentHash? after)
    {
        Span<byte> from = stackalloc byte[Key.MaxBytes];
        Span<byte> to = stackalloc byte[Key.MaxBytes];
        return snapshot.Seek(
            WriteStart(from, database, after),
            Key.WritePrefix(to, database, Table.AttachmentContents + 1)
        );
    }

    /// <summary>Like <see cref="Seek"/>, without the rows that damage makes unreadable.</summary>
    public static RowCursor SeekReadable(in Snapshot snapshot, uint database, ContentHash? after)
    {
        Span<byte> from = stackalloc byte[Key.MaxBytes];
        Span<byte> to = stackalloc byte[Key.MaxBytes];
        return snapshot.SeekReadable(
            WriteStart(from, database, after),
            Key.WritePrefix(to, database, Table.AttachmentContents + 1),
            damageSkipped: static _ => { }
        );
    }

    /// <summary>Decodes a row that <see cref="Seek"/> found.</summary>
    public static ContentRow Decode(RowCursor rows) =>
        Decode(ContentHash.Read(rows.Key[Key.PrefixBytes..]), rows.Value);

    /// <summary>Adds a reference; the first reference creates the row.</summary>
    public static void Add(ApplyContext context, ContentHash hash, long size)
    {
        long references = Read(context, hash);
        ref var counters = ref context.Database.Counters;
        counters.Attachments++;
        if (references == 0)
        {
            counters.AttachmentContents++;
            counters.AttachmentBytes += size;
        }

        Write(context, hash, references + 1, size);
    }

    /// <summary>Removes a reference; removing the last one deletes the row.</summary>
    public static void Release(ApplyContext context, ContentHash hash, long size)
    {
        long references = Read(context, hash);
        ref var counters = ref context.Database.Counters;
        counters.Attachments--;
        if (references > 1)
        {
            Write(context, hash, references - 1, size);
            return;
        }

        if (references == 0)
        {
            // A bug, since every attachment has a reference. Other attachments may still use the content, so it stays.
            context.ReportMiscount(hash);
            return;
        }

        counters.AttachmentContents--;
        counters.AttachmentBytes -= size;
        Span<byte> key = stackalloc byte[Key.MaxBytes];
        context.Batch.Delete(WriteKey(key, context.Database.Number, hash), context.Etag);
        context.ContentReleased?.Invoke(context.Database.Number, hash);
    }

    private static long Read(ApplyContext context, ContentHash hash)
    {
        Span<byte> key = stackalloc byte[Key.MaxBytes];
        try
        {
            if (!context.Batch.TryGet(WriteKey(key, context.Database.Number, hash), out var row))
            {
                return 0;
            }

            using (row)
            {
                return Decode(hash, row.Value).References;
            }
        }
        catch (DamagedException) when (context.TreatsDamagedAsMissing)
        {
            return 0; // an export of damaged data needs no references
        }
    }

    private static ContentRow Decode(ContentHash hash, ReadOnlySpan<byte> value)
    {
        FormatGuard.Expect(value.Length == RowBytes && value[0] == Format, "references to an attachment");
        return new ContentRow(
            hash,
            BinaryPrimitives.ReadInt64LittleEndian(value[1..]),
            BinaryPrimitives.ReadInt64LittleEndian(value[(1 + sizeof(long))..])
        );
    }

    private static void Write(ApplyContext context, ContentHash hash, long references, long size)
    {
        Span<byte> key = stackalloc byte[Key.MaxBytes];
        Span<byte> value = stackalloc byte[RowBytes];
        value[0] = Format;
        BinaryPrimitives.WriteInt64LittleEndian(value[1..], references);
        BinaryPrimitives.WriteInt64LittleEndian(value[(1 + sizeof(long))..], size);
        context.Batch.Put(WriteKey(key, context.Database.Number, hash), context.Etag, value);
    }

    private static ReadOnlySpan<byte> WriteStart(Span<byte> buffer, uint database, ContentHash? after)
    {
        if (after is not { } hash)
        {
            return Key.WritePrefix(buffer, database, Table.AttachmentContents);
        }

        int length = WriteKey(buffer, database, hash).Length;
        buffer[length] = 0; // the next possible key
        return buffer[..(length + 1)];
    }

    private static ReadOnlySpan<byte> WriteKey(Span<byte> buffer, uint database, ContentHash hash)
    {
        Key.WritePrefix(buffer, database, Table.AttachmentContents);
        return buffer[..(Key.PrefixBytes + hash.Write(buffer[Key.PrefixBytes..]))];
    }
}

/// <summary>The references to a content.</summary>
/// <param name="Hash">The content's hash.</param>
/// <param name="References">Number of attachments with this content.</param>
/// <param name="Size">The content's size in bytes.</param>
internal readonly record struct ContentRow(ContentHash Hash, long References, long Size);

/// <summary>Totals of a database's attachments.</summary>
/// <param name="Attachments">Number of attachments of all documents.</param>
/// <param name="Contents">Number of different contents.</param>
/// <param name="Bytes">Size of the contents.</param>
public readonly record struct AttachmentTotals(long Attachments, long Contents, long Bytes);
