using Rookery.Platform;
using Rookery.Search.Segments.Store;

namespace Rookery.Indexing.Reducing;

/// <summary>Buffers changed documents with their current rows, in order of arrival, until they are applied.</summary>
internal sealed class PendingDocuments
{
    // Limits of the cache of group ids. Without the cache, hashing the keys with SHA-256 took a tenth of a build.
    private const int MaximumCachedGroupIds = 1024;
    private const int MaximumCachedKeyBytes = 256;

    // Estimated memory of a buffered document and of a row, without their bytes.
    private const long DocumentBytes = 16;
    private const long RowBytes = 48;

    private readonly Dictionary<byte[], UInt128> _groupIds = new(BytesComparer.Instance);
    private readonly PooledBytes _bytes = new();
    private readonly List<PendingDocument> _documents = [];
    private readonly List<PendingRow> _rows = [];
    private bool _isInOrder = true;

    internal int Count => _documents.Count;

    /// <summary>Memory that the buffer takes, in bytes; 0 when it is empty.</summary>
    internal long HeldBytes => _bytes.Length + (_documents.Count * DocumentBytes) + (_rows.Count * RowBytes);

    /// <summary>
    /// Ids, keys and rows, to which <see cref="PendingDocument"/> and <see cref="PendingRow"/> refer by offset.
    /// </summary>
    internal ReadOnlySpan<byte> Bytes => _bytes.Written;

    internal PendingDocument this[int index] => _documents[index];

    /// <summary>
    /// Adds a changed document. <paramref name="mapped"/> contains its current rows; null or empty if the document was
    /// deleted or maps to none.
    /// </summary>
    internal void Add(ReadOnlySpan<byte> id, MappedRows? mapped)
    {
        _isInOrder = _isInOrder && (_documents.Count == 0 || Id(_documents.Count - 1).SequenceCompareTo(id) <= 0);
        _documents.Add(new PendingDocument(_bytes.Length, id.Length, _rows.Count, mapped?.Count ?? 0));
        _bytes.Append(id);
        for (int row = 0; row < (mapped?.Count ?? 0); row++)
        {
            var key = mapped!.Key(row);
            _rows.Add(new PendingRow(GroupOf(key), row, _bytes.Length, key.Length, mapped.Row(row).Length));
            _bytes.Append(key);
            _bytes.Append(mapped.Row(row));
        }

        // Sorted by group, as in document records, so that old and new rows are merged in one pass.
        _rows.Sort(_documents[^1].FirstRow, _documents[^1].RowCount, PendingRowOrder.Instance);
    }

    internal ReadOnlySpan<byte> Id(int index) =>
        _bytes.Written.Slice(_documents[index].IdOffset, _documents[index].IdLength);

    /// <summary>
    /// Returns the positions of the documents in order of their ids; the changes of one document in order of arrival.
    /// </summary>
    internal IEnumerable<int> InOrderOfIds()
    {
        var numbers = Enumerable.Range(0, Count);
        return _isInOrder ? numbers : numbers.Order(Comparer<int>.Create(CompareIds));
    }

    internal PendingRow Row(int row) => _rows[row];

    internal ReadOnlySpan<byte> Key(in PendingRow row) => _bytes.Written.Slice(row.Offset, row.KeyLength);

    internal void Clear()
    {
        _bytes.Clear();
        _documents.Clear();
        _rows.Clear();
        _isInOrder = true;
    }

    internal void Release()
    {
        _bytes.Release();
        _groupIds.Clear();
    }

    private int CompareIds(int x, int y)
    {
        int order = Id(x).SequenceCompareTo(Id(y));
        return order != 0 ? order : x.CompareTo(y);
    }

    private UInt128 GroupOf(ReadOnlySpan<byte> key)
    {
        var lookup = _groupIds.GetAlternateLookup<ReadOnlySpan<byte>>();
        if (lookup.TryGetValue(key, out var group))
        {
            return group;
        }

        group = ReduceKeys.GroupId(key);
        if (key.Length <= MaximumCachedKeyBytes)
        {
            if (_groupIds.Count == MaximumCachedGroupIds)
            {
                _groupIds.Clear();
            }

            lookup[key] = group;
        }

        return group;
    }

    private sealed class PendingRowOrder : IComparer<PendingRow>
    {
        internal static readonly PendingRowOrder Instance = new();

        public int Compare(PendingRow x, PendingRow y) =>
            x.Group != y.Group ? x.Group.CompareTo(y.Group) : x.Order.CompareTo(y.Order);
    }
}

/// <summary>A changed document.</summary>
/// <param name="IdOffset">The offset of its lower-cased id in the buffered bytes.</param>
/// <param name="IdLength">Length of the id in bytes.</param>
/// <param name="FirstRow">The position of its first row in the buffered rows.</param>
/// <param name="RowCount">Number of its rows; 0 if the document was deleted.</param>
internal readonly record struct PendingDocument(int IdOffset, int IdLength, int FirstRow, int RowCount);

/// <summary>A row of a changed document. Its reduce key and then the row itself are in the buffered bytes.</summary>
/// <param name="Group">The id of the row's group.</param>
/// <param name="Order">The position of the row among the rows of its document, as mapped.</param>
/// <param name="Offset">The offset of the key in the buffered bytes.</param>
/// <param name="KeyLength">Length of the key in bytes.</param>
/// <param name="RowLength">Length of the row in bytes.</param>
internal readonly record struct PendingRow(UInt128 Group, int Order, int Offset, int KeyLength, int RowLength);
