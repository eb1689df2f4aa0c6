using System.Buffers;
using Rookery.Documents.Commands;
using Rookery.Documents.Stored;
using Rookery.Storage;

namespace Rookery.Documents.Databases;

/// <summary>
/// A document that was read. It keeps memory alive: dispose it once, when the answer is written. The default value is
/// no document.
/// </summary>
public readonly struct Document : IDisposable
{
    private readonly Row _row;
    private readonly LargeDocument? _large;

    /// <summary>Takes over <paramref name="row"/>.</summary>
    internal Document(in Row row)
    {
        _row = row;
        Exists = true;
        _large = row.IsLarge ? InChunks(row) : null;
    }

    /// <summary>Whether there is one.</summary>
    public bool Exists { get; }

    /// <summary>The etag of the operation that wrote this version.</summary>
    public long Etag => Exists ? _row.Sequence : 0;

    /// <summary>Bytes it is stored in, before compression.</summary>
    public long Length => Exists ? _row.Length : 0;

    /// <summary>
    /// Its stored bytes, read in place: valid until it is disposed. A large document is put together for it, in as much
    /// memory again.
    /// </summary>
    public DocumentView View => new(Bytes);

    /// <summary>The same without the body of a large document, which costs little.</summary>
    public DocumentView Head => new(_large is null ? _row.Value : _large.Head);

    internal ReadOnlySpan<byte> Bytes => _large is null ? _row.Value : _large.Whole;

    /// <summary>
    /// Writes it as clients read it. The body of a large document goes chunk by chunk to the output, each checked.
    /// </summary>
    /// <param name="output">Where to.</param>
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

    /// <summary>A copy of its stored bytes, which the caller owns.</summary>
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

    /// <summary>Gives back the chunks of a large document that <paramref name="batch"/> replaces.</summary>
    internal void ReleaseLarge(WriteBatch batch, long sequence) => batch.ReleaseLarge(_row, sequence);

    private static LargeDocument InChunks(Row row) =>
        new(row.Length, (target, offset, count) => row.CopyTo(target, offset, count));
}
