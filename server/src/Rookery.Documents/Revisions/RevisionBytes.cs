using Rookery.Documents.Apply;
using Rookery.Documents.Commands;
using Rookery.Storage;

namespace Rookery.Documents.Revisions;

/// <summary>The value of a row of a revision. Owns the row.</summary>
internal readonly ref struct RevisionBytes
{
    private readonly Row _row;
    private readonly CommandBuffer? _whole;

    /// <summary>Takes ownership of a row; assembles a large value from its chunks.</summary>
    /// <exception cref="DamagedException">A chunk is damaged.</exception>
    public RevisionBytes(in Row row)
    {
        _row = row;
        if (row.IsLarge)
        {
            _whole = CommandBuffer.Rent(checked((int)row.Length));
            try
            {
                row.CopyTo(_whole, 0, row.Length);
            }
            catch
            {
                _whole.Dispose();
                row.Dispose();
                throw;
            }
        }
    }

    /// <summary>The value.</summary>
    public ReadOnlySpan<byte> Span => _whole is null ? _row.Value : _whole.Written.Span;

    /// <summary>Reads the first bytes of the row at which a cursor stands.</summary>
    public static PeekedRevision Peek(RowCursor rows)
    {
        long etag = Key.LastNumberOf(rows.Key);
        if (!rows.IsLarge)
        {
            var peeked = RevisionRow.Peek(rows.Value);
            return peeked with { Etag = etag, IsCostly = peeked.HasAttachments };
        }

        using var first = CommandBuffer.Rent();
        rows.CopyTo(first, 0, Math.Min(RevisionRow.PeekedBytes, rows.Length));
        return RevisionRow.Peek(first.Written.Span) with { Etag = etag, IsCostly = true };
    }

    /// <summary>Releases the row.</summary>
    public void Dispose()
    {
        _whole?.Dispose();
        _row.Dispose();
    }
}
