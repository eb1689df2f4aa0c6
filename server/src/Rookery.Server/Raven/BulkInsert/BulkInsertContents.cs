using System.Buffers;
using Rookery.Documents.Attachments;
using Rookery.Documents.Commands;
using Rookery.Documents.Databases;
using Rookery.Documents.Parsing;
using Rookery.Server.Raven.Attachments;

namespace Rookery.Server.Raven.BulkInsert;

/// <summary>
/// Receives the contents of the attachments in a bulk insert: each goes to a file while it arrives, and is pinned until
/// the chunk with its attachment is applied. Not thread-safe.
/// </summary>
internal sealed class BulkInsertContents(ServerContext context, Database database) : IDisposable
{
    // Each content of a chunk is pinned, with its hash.
    private const int MaxContents = 256;

    // Maximum bytes that an attachment adds to the list in its document, besides its name and type.
    private const int EntryBytes = 1024;

    private readonly ReceivedContents _received = new(context);
    private ContentUpload? _upload;
    private List<PinnedContent> _pins = [];
    private long _rewrittenBytes;

    /// <summary>Whether a content has arrived in part.</summary>
    public bool IsReceiving => _upload is not null;

    /// <summary>Whether the chunk must end: apply stores a document anew for each of its attachments.</summary>
    public bool IsFull => _pins.Count >= MaxContents || _rewrittenBytes >= ReplacedNames.MaxBytesOfCommand;

    /// <summary>Receives the bytes that the reader has, and adds the attachment to the chunk at the last one.</summary>
    /// <param name="documents">The reader.</param>
    /// <param name="chunk">The chunk.</param>
    /// <param name="unappliedBytes">Bytes for rewriting the document if it is not stored yet, or an upper
    /// bound.</param>
    /// <returns>Whether the content is complete; otherwise more bytes must be fed.</returns>
    /// <exception cref="RefusedException">The content was not accepted.</exception>
    public async ValueTask<bool> ReceiveAsync(BulkInsertReader documents, BatchWriter chunk, long unappliedBytes)
    {
        try
        {
            _upload ??= await _received.RequireSupport().BeginAsync(database.Number, documents.ContentLeft);
            await _upload.WriteAsync(new ReadOnlySequence<byte>(documents.TakeContent()));
            if (documents.ContentLeft > 0)
            {
                return false;
            }

            _pins.Add(await _upload.CompleteAsync());
        }
        catch (Exception failure) when (_received.Explain(failure) is not null)
        {
            throw _received.Explain(failure)!;
        }

        _upload.Dispose();
        _upload = null;
        Add(documents, chunk);
        _rewrittenBytes += Math.Max(unappliedBytes, ReplacedNames.BytesOf(database, documents.AttachedId)) + EntryBytes;
        return true;
    }

    /// <summary>Returns the pins of the chunk's contents, for the caller to dispose, and begins another
    /// chunk.</summary>
    public IReadOnlyList<PinnedContent> TakePins()
    {
        var pins = _pins;
        (_pins, _rewrittenBytes) = ([], 0);
        return pins;
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _upload?.Dispose();
        Release(_pins);
    }

    /// <summary>Releases pins.</summary>
    public static void Release(IReadOnlyList<PinnedContent> pins)
    {
        foreach (var pin in pins)
        {
            pin.Dispose();
        }
    }

    private void Add(BulkInsertReader documents, BatchWriter chunk) =>
        chunk.PutAttachment(
            documents.AttachedId,
            ExpectedChangeVector.None,
            new AttachmentEntry
            {
                Name = documents.AttachmentName,
                ContentType = documents.AttachmentType,
                Hash = _pins[^1].Hash,
                Size = _pins[^1].Size,
            }
        );
}
