using Rookery.Documents.Commands;
using Rookery.Documents.Json;
using Rookery.Storage;

namespace Rookery.Documents;

/// <summary>A document that was read. It keeps memory alive: dispose it once, when the answer is written. The default value is no document.</summary>
public readonly struct Document : IDisposable
{
    private readonly Row _row;
    private readonly CommandBuffer? _copy;

    /// <summary>Takes over <paramref name="row"/>. The chunks of a large one are put together, each checked.</summary>
    internal Document(in Row row)
    {
        _row = row;
        Exists = true;
        if (!row.IsLarge)
        {
            return;
        }

        _copy = CommandBuffer.Rent(checked((int)row.Length));
        try
        {
            row.CopyTo(_copy, 0, row.Length);
        }
        catch
        {
            Dispose();
            throw;
        }
    }

    /// <summary>Whether there is one.</summary>
    public bool Exists { get; }

    /// <summary>The etag of the operation that wrote this version.</summary>
    public long Etag => Exists ? _row.Sequence : 0;

    /// <summary>Bytes it is stored in, before compression.</summary>
    public long Length => Exists ? _row.Length : 0;

    /// <summary>Its stored bytes, read in place: valid until it is disposed.</summary>
    public DocumentView View => new(Bytes);

    internal ReadOnlySpan<byte> Bytes => _copy is null ? _row.Value : _copy.Written.Span;

    /// <inheritdoc/>
    public void Dispose()
    {
        if (Exists)
        {
            _copy?.Dispose();
            _row.Dispose();
        }
    }

    /// <summary>A copy of its stored bytes.</summary>
    internal byte[] Copy() => Bytes.ToArray();

    /// <summary>Gives back the chunks of a large document that <paramref name="batch"/> replaces.</summary>
    internal void ReleaseLarge(WriteBatch batch, long sequence) => batch.ReleaseLarge(_row, sequence);
}
