using System.Text.Json;
using Rookery.Documents.Attachments;
using Rookery.Documents.Databases;
using Rookery.Platform;

namespace Rookery.Server.Raven.Smuggler;

/// <summary>
/// Writes the bytes of attachments into a dump, each content before the first document or revision that names it.
/// </summary>
internal sealed class DumpContents(
    ServerContext context,
    Database database,
    SmugglerOperation operation,
    DocumentResponse answer,
    DumpWriter dump
)
{
    // Contents whose bytes were written. When there are more, some are written twice, which importers accept.
    private const int MaxRemembered = 64 << 10;

    private readonly HashSet<ContentHash> _written = [];
    private readonly HashSet<ContentHash> _missing = [];

    /// <summary>Returns the contents of a list of attachments that were not written yet.</summary>
    public List<(ContentHash Hash, long Size)> Take(ReadOnlySpan<byte> attachments)
    {
        var contents = new List<(ContentHash, long)>();
        var list = new AttachmentList(attachments);
        while (list.TryRead(out var attachment))
        {
            if (!_written.Contains(attachment.Hash))
            {
                contents.Add((attachment.Hash, attachment.Size));
            }
        }

        if (contents.Count > 0 && _written.Count > MaxRemembered)
        {
            _written.Clear();
            return Take(attachments);
        }

        return contents;
    }

    /// <summary>Counts the attachments of a document: those whose bytes are in the dump, and the others.</summary>
    public void Count(ReadOnlySpan<byte> attachments)
    {
        var list = new AttachmentList(attachments);
        while (list.TryRead(out var attachment))
        {
            if (_missing.Contains(attachment.Hash))
            {
                operation.Attachments.Fail();
            }
            else
            {
                operation.Attachments.Add();
            }
        }
    }

    /// <summary>Writes contents.</summary>
    /// <param name="contents">The contents.</param>
    /// <param name="pause">Called before a wait for the client.</param>
    public async Task WriteAsync(List<(ContentHash Hash, long Size)> contents, Action pause)
    {
        var buffer = PooledMemory.Rent(ContentFile.ChunkBytes);
        try
        {
            foreach (var (hash, size) in contents)
            {
                if (!_written.Add(hash))
                {
                    continue; // twice in this document
                }

                using var file = Open(hash);
                if (file is null)
                {
                    continue;
                }

                WriteHead(hash, size);
                for (int chunk = 0; chunk < file.ChunkCount; chunk++)
                {
                    operation.Killed.ThrowIfCancellationRequested();
                    dump.WriteRaw(buffer.Span[..file.ReadChunk(chunk, buffer.Span)]);
                    await answer.SendWhenDueAsync(pause);
                }
            }
        }
        catch (ContentDamagedException damaged)
        {
            // Bytes of the content are written already, so the dump cannot go on.
            throw new IOException(damaged.Message, damaged);
        }
        finally
        {
            buffer.Return();
        }
    }

    // A content can be deleted after the snapshot was taken. The importer then finds the document without it.
    private ContentFile? Open(ContentHash hash)
    {
        var stored =
            context.Node.Attachments
            ?? throw RefusedException.NotSupported(
                "This node reads no attachments, because its data is damaged. Export from another member, or leave "
                    + "'Attachments' out of 'OperateOnTypes'."
            );
        try
        {
            _missing.Remove(hash);
            return stored.Open(database.Number, hash);
        }
        catch (Exception failure) when (failure is ContentDamagedException or DiskException)
        {
            _missing.Add(hash);
            operation.Tell($"The content {hash} of attachments is not in the dump. {failure.Message}");
            return null;
        }
    }

    private void WriteHead(ContentHash hash, long size)
    {
        using (var json = new Utf8JsonWriter(dump.Element))
        {
            json.WriteStartObject();
            json.WriteStartObject("@metadata"u8);
            json.WriteString("@export-type"u8, "Attachment"u8);
            json.WriteEndObject();
            json.WriteString("Hash"u8, hash.ToString());
            json.WriteNumber("Size"u8, size);
            json.WriteString("Tag"u8, ""u8);
            json.WriteEndObject();
        }

        dump.WriteElement();
    }
}
