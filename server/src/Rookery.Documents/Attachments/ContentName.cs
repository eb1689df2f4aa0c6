using Rookery.Documents.Apply;
using Rookery.Documents.Commands;
using Rookery.Journal;
using Rookery.Platform;

namespace Rookery.Documents.Attachments;

/// <summary>A content that a log entry or a row names.</summary>
/// <param name="Database">Number of the database.</param>
/// <param name="Hash">The hash.</param>
/// <param name="Size">Size in bytes.</param>
public readonly record struct ContentName(uint Database, ContentHash Hash, long Size)
{
    internal ContentPlace Place => new(Database, Hash);

    /// <summary>Adds the contents that a command names.</summary>
    /// <exception cref="CommandFormatException">The command does not decode.</exception>
    public static void AddOfCommand(ReadOnlySpan<byte> command, ICollection<ContentName> names)
    {
        var reader = new CommandReader(command);
        while (reader.NamesContents && reader.TryReadOperation(out var operation))
        {
            if (operation.Kind == OperationKind.AttachmentPut)
            {
                var attachment = operation.Attachment;
                names.Add(new ContentName(reader.Database, attachment.Hash, attachment.Size));
            }
            else if (operation.Kind == OperationKind.Version)
            {
                var list = new AttachmentList(operation.Version.Attachments);
                while (list.TryRead(out var ofRevision))
                {
                    names.Add(new ContentName(reader.Database, ofRevision.Hash, ofRevision.Size));
                }
            }
        }
    }

    /// <summary>Adds the contents that the commands of an entry name.</summary>
    /// <param name="content">The entry, decoded.</param>
    /// <param name="names">Receives the contents.</param>
    /// <exception cref="CommandFormatException">The entry does not decode.</exception>
    public static void AddOfEntry(ReadOnlySpan<byte> content, ICollection<ContentName> names)
    {
        var entry = new EntryContent(content);
        for (int i = 0; i < entry.Count; i++)
        {
            AddOfCommand(entry.Next(), names);
        }
    }

    /// <summary>
    /// Adds the contents that an entry names. An entry whose payload is not marked names none and is not decoded. An
    /// entry that does not decode adds none, because apply stops at it.
    /// </summary>
    /// <param name="payload">The entry as in the journal.</param>
    /// <param name="names">Receives the contents.</param>
    public static void AddOfPayload(ReadOnlySpan<byte> payload, ICollection<ContentName> names)
    {
        if (!Payload.IsMarked(payload) || Payload.ContentLength(payload) is not (>= 0 and var length))
        {
            return;
        }

        var content = PooledMemory.Rent(length);
        try
        {
            if (Payload.TryDecode(payload, content.Span[..length]))
            {
                AddOfEntry(content.Span[..length], names);
            }
        }
        catch (CommandFormatException)
        {
            // A newer version wrote it, or it is damaged.
        }
        finally
        {
            content.Return();
        }
    }
}
