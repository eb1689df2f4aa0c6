using Rookery.Documents.Apply;
using Rookery.Documents.Commands;
using Rookery.Documents.Stored;
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
        : this(row, isHeadOnly: false) { }

    private RevisionBytes(in Row row, bool isHeadOnly)
    {
        _row = row;
        if (row.IsLarge)
        {
            long length = isHeadOnly
                ? Math.Min(RevisionRow.PrefixBytes + StoredDocument.MaxHeadBytes, row.Length)
                : row.Length;
            _whole = CommandBuffer.Rent(checked((int)length));
            try
            {
                row.CopyTo(_whole, 0, length);
                if (isHeadOnly)
                {
                    int headLength = DocumentView.ReadHeadLength(_whole.Written.Span[RevisionRow.PrefixBytes..]);
                    long end = RevisionRow.PrefixBytes + (long)headLength;
                    if (end > row.Length)
                    {
                        throw DocumentView.Broken();
                    }

                    row.CopyTo(_whole, length, Math.Max(0, end - length));
                }
            }
            catch
            {
                _whole.Dispose();
                row.Dispose();
                throw;
            }
        }
    }

    /// <summary>
    /// Takes ownership of a row, and reads of a large value at least the head, but not the chunks after it.
    /// </summary>
    /// <exception cref="DamagedException">A chunk of the head is damaged.</exception>
    public static RevisionBytes OfHead(in Row row) => new(row, isHeadOnly: true);

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
