using Rookery.Platform;

namespace Rookery.Search.Segments.Store;

/// <summary>
/// What the maps of an index make of one document: rows, each with the key that it is reduced by. Reused from document
/// to document.
/// </summary>
public sealed class MappedRows
{
    /// <summary>Most rows per document: their groups fill one store row of at most 64 KiB.</summary>
    public const int MostRows = 2048;

    /// <summary>Bytes of a key.</summary>
    public const int LongestKeyBytes = 32 * 1024;

    /// <summary>Bytes of a row, mapped or reduced: two fit in a 64 KiB page.</summary>
    public const int LongestRowBytes = 31 * 1024;

    private readonly PooledBytes _bytes = new();
    private readonly List<(int Offset, int KeyLength, int RowLength)> _rows = [];

    /// <summary>Rows of the document.</summary>
    public int Count => _rows.Count;

    /// <summary>Forgets the document before.</summary>
    public void Clear()
    {
        _bytes.Clear();
        _rows.Clear();
    }

    /// <summary>Adds a row.</summary>
    /// <param name="key">What it is reduced by; equal keys are equal bytes.</param>
    /// <param name="row">A JSON object.</param>
    /// <exception cref="IndexEntryException">There are too many, or one is too long.</exception>
    public void Add(ReadOnlySpan<byte> key, ReadOnlySpan<byte> row)
    {
        Invariant.Holds(!row.IsEmpty, "a row is a JSON object");
        if (_rows.Count == MostRows)
        {
            throw new IndexEntryException($"A document gives at most {MostRows} rows to a reduce.");
        }

        if (key.Length > LongestKeyBytes || row.Length > LongestRowBytes)
        {
            throw new IndexEntryException(
                $"A row for a reduce has at most {Amount.Bytes(LongestRowBytes)} and its key "
                    + $"{Amount.Bytes(LongestKeyBytes)}; this row has {Amount.Number(row.Length)} B, its key "
                    + $"{Amount.Number(key.Length)} B."
            );
        }

        _rows.Add((_bytes.Length, key.Length, row.Length));
        _bytes.Append(key);
        _bytes.Append(row);
    }

    /// <summary>The key of a row, until the next change.</summary>
    public ReadOnlySpan<byte> Key(int index) => _bytes.Written.Slice(_rows[index].Offset, _rows[index].KeyLength);

    /// <summary>A row, until the next change.</summary>
    public ReadOnlySpan<byte> Row(int index) =>
        _bytes.Written.Slice(_rows[index].Offset + _rows[index].KeyLength, _rows[index].RowLength);
}
