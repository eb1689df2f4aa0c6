using Rookery.Documents.Json;
using Rookery.Indexing.Values;

namespace Rookery.Indexing.Reducing;

/// <summary>Documents that changed and the rows they have now, in the order in which they came, until they are applied.</summary>
internal sealed class PendingDocuments
{
    // A group of many rows is named once: SHA-256 of each row's key was a tenth of a build.
    private const int KnownGroups = 1024;
    private const int LongestKnownKey = 256;

    private readonly Dictionary<byte[], UInt128> known = new(KeyComparer.Instance);
    private readonly PooledBytes bytes = new();
    private readonly List<PendingDocument> documents = [];
    private readonly List<PendingRow> rows = [];
    private bool isInOrder = true;

    internal int Count => documents.Count;

    /// <summary>Memory they take, in bytes.</summary>
    internal long HeldBytes => bytes.Length + (documents.Count * 16L) + (rows.Count * 48L);

    /// <summary>The bytes that rows and operations speak of.</summary>
    internal ReadOnlySpan<byte> Bytes => bytes.Written;

    internal PendingDocument this[int index] => documents[index];

    /// <summary>Adds a document; without rows it has none any more.</summary>
    internal void Add(ReadOnlySpan<byte> id, MappedRows? mapped)
    {
        isInOrder = isInOrder && (documents.Count == 0 || Id(documents.Count - 1).SequenceCompareTo(id) <= 0);
        documents.Add(new PendingDocument(bytes.Length, id.Length, rows.Count, mapped?.Count ?? 0));
        bytes.Append(id);
        for (int row = 0; row < (mapped?.Count ?? 0); row++)
        {
            var key = mapped!.Key(row);
            rows.Add(new PendingRow(GroupOf(key), row, bytes.Length, key.Length, mapped.Row(row).Length));
            bytes.Append(key);
            bytes.Append(mapped.Row(row));
        }

        // Ascending by group, as records are: old and new are compared in one walk.
        rows.Sort(documents[^1].FirstRow, documents[^1].RowCount, PendingRowOrder.Instance);
    }

    internal ReadOnlySpan<byte> Id(int index) => bytes.Written.Slice(documents[index].IdOffset, documents[index].IdLength);

    /// <summary>The documents by their ids; one that came several times as it came.</summary>
    internal IEnumerable<int> InOrderOfIds()
    {
        var numbers = Enumerable.Range(0, Count);
        return isInOrder ? numbers : numbers.Order(Comparer<int>.Create(CompareIds));
    }

    internal PendingRow Row(int row) => rows[row];

    internal ReadOnlySpan<byte> Key(in PendingRow row) => bytes.Written.Slice(row.Offset, row.KeyLength);

    internal void Clear()
    {
        bytes.Clear();
        documents.Clear();
        rows.Clear();
        isInOrder = true;
    }

    internal void Release()
    {
        bytes.Release();
        known.Clear();
    }

    private int CompareIds(int x, int y)
    {
        int order = Id(x).SequenceCompareTo(Id(y));
        return order != 0 ? order : x.CompareTo(y);
    }

    private UInt128 GroupOf(ReadOnlySpan<byte> key)
    {
        var found = known.GetAlternateLookup<ReadOnlySpan<byte>>();
        if (found.TryGetValue(key, out var group))
        {
            return group;
        }

        group = ReduceKeys.GroupId(key);
        if (key.Length <= LongestKnownKey)
        {
            if (known.Count == KnownGroups)
            {
                known.Clear();
            }

            found[key] = group;
        }

        return group;
    }

    private sealed class PendingRowOrder : IComparer<PendingRow>
    {
        internal static readonly PendingRowOrder Instance = new();

        public int Compare(PendingRow x, PendingRow y) => x.Group != y.Group ? x.Group.CompareTo(y.Group) : x.Order.CompareTo(y.Order);
    }
}

/// <summary>A document that changed.</summary>
internal readonly record struct PendingDocument(int IdOffset, int IdLength, int FirstRow, int RowCount);

/// <summary>A row of it: key, then row, from an offset.</summary>
internal readonly record struct PendingRow(UInt128 Group, int Order, int Offset, int KeyLength, int RowLength);
