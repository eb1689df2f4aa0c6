using System.Buffers;
using Rookery.Documents.Commands;
using Rookery.Documents.Stored;
using Rookery.Storage;

namespace Rookery.Documents.Databases;

/// <summary>
/// A document that was read. It pins memory. Dispose it once, after use. The default value stands for no document.
/// </summary>
public readonly struct Document : IDisposable
{
    private const int LargeChunkBytes = 64 << 10;

    private readonly Row _row;
    private readonly LargeDocument? _large;

    /// <summary>Takes ownership of <paramref name="row"/>.</summary>
    internal Document(in Row row)
    {
        _row = row;
        Exists = true;
        _large = row.IsLarge ? InChunks(row) : null;
    }

    /// <summary>Whether the document exists.</summary>
    public bool Exists { get; }

    /// <summary>Etag of the operation that wrote this version; 0 without a document.</summary>
    public long Etag => Exists ? _row.Sequence : 0;

    /// <summary>Stored size before compression, in bytes.</summary>
    public long Length => Exists ? _row.Length : 0;

    /// <summary>
    /// The stored bytes, valid until Dispose. A large document is first assembled from its chunks, which takes
    /// additional memory of its length.
    /// </summary>
    public DocumentView View => new(Bytes);

    /// <summary>Like <see cref="View"/>, but without the body of a large document, which makes it cheap.</summary>
    public DocumentView Head => new(_large is null ? _row.Value : _large.Head);

    /// <summary>
    /// Bytes that reading <see cref="Head"/> takes, for charges: what stands before the body, and for a large document
    /// at least a chunk; 0 without a document.
    /// </summary>
    public long HeadLength =>
        !Exists ? 0
        : _large is null ? Length - Head.Body.Length
        : Math.Max(_large.Head.Length, LargeChunkBytes);

    /// <summary>Whether the document has a time of expiry. Costs one comparison unless the document is large.</summary>
    internal bool MayExpire => StoredDocument.MayExpire(_large is null ? _row.Value : _large.Head);

    internal ReadOnlySpan<byte> Bytes => _large is null ? _row.Value : _large.Whole;

    /// <summary>
    /// Writes the document in its form for clients. The body of a large document is checked and written chunk by chunk.
    /// </summary>
    /// <param name="output">Receives the JSON.</param>
    /// <param name="historyId">The database's history id, 22 ASCII characters.</param>
    public void Write(IBufferWriter<byte> output, ReadOnlySpan<byte> historyId)
    {
        if (_large is null)
        {
            DocumentWriter.Write(output, View, Etag, historyId);
        }
        else
        {
            DocumentWriter.Write(output, Length, _large, Etag, historyId);
        }
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        if (Exists)
        {
            _large?.Dispose();
            _row.Dispose();
        }
    }

    /// <summary>Copies the stored bytes. The caller owns the copy.</summary>
    internal CommandBuffer Copy()
    {
        var copy = CommandBuffer.Rent(checked((int)Length));
        if (_large is null)
        {
            copy.Write(_row.Value);
        }
        else
        {
            _row.CopyTo(copy, 0, Length);
        }

        return copy;
    }

    /// <summary>Releases the chunks of a large document that <paramref name="batch"/> replaces or deletes.</summary>
    internal void ReleaseLarge(WriteBatch batch, long sequence) => batch.ReleaseLarge(_row, sequence);

    private static LargeDocument InChunks(Row row) =>
        new(row.Length, (target, offset, count) => row.CopyTo(target, offset, count));
}
