using Rookery.Platform;

namespace Rookery.Search.Segments.Store;

/// <summary>
/// The rows that the maps of a map/reduce index compute from one document, each with its reduce key. One object is
/// reused for all documents.
/// </summary>
public sealed class MappedRows
{
    /// <summary>Maximum rows of a document. It bounds the record of the document's groups to 72 KiB.</summary>
    public const int MaxRows = 2048;

    /// <summary>Maximum bytes of a key.</summary>
    public const int MaxKeyBytes = 32 * 1024;

    /// <summary>Maximum bytes of a mapped or reduced row, so that two fit in one store row of 64 KiB.</summary>
    public const int MaxRowBytes = 31 * 1024;

    private readonly PooledBytes _bytes = new();
    private readonly List<(int Offset, int KeyLength, int RowLength)> _rows = [];

    /// <summary>Number of rows.</summary>
    public int Count => _rows.Count;

    /// <summary>Removes all rows.</summary>
    public void Clear()
    {
        _bytes.Clear();
        _rows.Clear();
    }

    /// <summary>Adds a row.</summary>
    /// <param name="key">The reduce key. Equal keys have equal bytes.</param>
    /// <param name="row">The row, a JSON object.</param>
    /// <exception cref="IndexEntryException">There are too many rows, or the row or its key is too long.</exception>
    public void Add(ReadOnlySpan<byte> key, ReadOnlySpan<byte> row)
    {
        Invariant.Holds(!row.IsEmpty, "a row is a JSON object");
        if (_rows.Count == MaxRows)
        {
            throw new IndexEntryException($"A document gives at most {MaxRows} rows to a reduce.");
        }

        if (key.Length > MaxKeyBytes || row.Length > MaxRowBytes)
        {
            throw new IndexEntryException(
                $"A row for a reduce has at most {Amount.Bytes(MaxRowBytes)} and its key "
                    + $"{Amount.Bytes(MaxKeyBytes)}; this row has {Amount.Number(row.Length)} B, its key "
                    + $"{Amount.Number(key.Length)} B."
            );
        }

        _rows.Add((_bytes.Length, key.Length, row.Length));
        _bytes.Append(key);
        _bytes.Append(row);
    }

    /// <summary>Returns the key of a row, valid until the next change.</summary>
    public ReadOnlySpan<byte> Key(int index) => _bytes.Written.Slice(_rows[index].Offset, _rows[index].KeyLength);

    /// <summary>Returns a row, valid until the next change.</summary>
    public ReadOnlySpan<byte> Row(int index) =>
        _bytes.Written.Slice(_rows[index].Offset + _rows[index].KeyLength, _rows[index].RowLength);
}
