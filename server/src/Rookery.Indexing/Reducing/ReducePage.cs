using System.Buffers.Binary;
using Rookery.Platform;

namespace Rookery.Indexing.Reducing;

/// <summary>
/// The entries of a page of a reduce tree, or of several pages about to be written. In a leaf, an entry is a mapped row
/// with its number. In a higher page, an entry stands for a child page. It has the child's fence (the least row number
/// that the child may contain) and its reduced row, which is empty if the rows could not be reduced.
/// </summary>
internal sealed class ReducePage
{
    /// <summary>
    /// Maximum entries of a page. A change reads, reduces and writes one page of each level, so small pages are fast.
    /// With even smaller pages, the number of levels and the fixed cost of a page dominate.
    /// </summary>
    internal const int MaxEntries = 16;

    /// <summary>Maximum bytes of a page with more than two entries.</summary>
    internal const int MaxBytes = 8 * 1024;

    // An entry begins with a header: its row number or fence, the entries and the bytes of the child page (zeros in a
    // leaf), and the length of the row. The row follows.
    private const int EntriesAt = ReduceKeys.NumberBytes;
    private const int BytesAt = EntriesAt + sizeof(int);
    private const int LengthAt = BytesAt + sizeof(int);
    private const int HeaderBytes = LengthAt + sizeof(int);

    private readonly PooledBytes _bytes = new();
    private readonly List<Place> _places = [];

    /// <summary>Number of entries.</summary>
    internal int Count => _places.Count;

    /// <summary>Bytes of all entries.</summary>
    internal int Bytes => _bytes.Length;

    /// <summary>Returns the row number or fence of an entry.</summary>
    internal UInt128 Number(int entry) => BinaryPrimitives.ReadUInt128LittleEndian(Header(entry));

    /// <summary>Returns the number of entries and bytes in the child page of an entry; zeros in a leaf.</summary>
    internal (int Entries, int Bytes) Child(int entry) =>
        (
            BinaryPrimitives.ReadInt32LittleEndian(Header(entry)[EntriesAt..]),
            BinaryPrimitives.ReadInt32LittleEndian(Header(entry)[BytesAt..])
        );

    /// <summary>Returns the row of an entry.</summary>
    internal ReadOnlySpan<byte> Row(int entry) =>
        _bytes.Written.Slice(_places[entry].Offset + HeaderBytes, _places[entry].RowLength);

    /// <summary>Returns the size of an entry in bytes.</summary>
    internal int EntryBytes(int entry) => HeaderBytes + _places[entry].RowLength;

    /// <summary>Returns the stored bytes of a range of entries.</summary>
    internal ReadOnlySpan<byte> Stored(int first, int count)
    {
        int start = _places[first].Offset;
        int end = _places[first + count - 1].Offset + EntryBytes(first + count - 1);
        return _bytes.Written[start..end];
    }

    /// <summary>Returns whether an entry equals an entry of another page in all its bytes.</summary>
    internal bool HasSame(int entry, ReducePage other, int otherEntry) =>
        Stored(entry, count: 1).SequenceEqual(other.Stored(otherEntry, count: 1));

    internal void Clear()
    {
        _bytes.Clear();
        _places.Clear();
    }

    /// <summary>Appends the entries of a stored page.</summary>
    internal void Load(ReadOnlySpan<byte> stored)
    {
        while (!stored.IsEmpty)
        {
            bool isWhole = stored.Length >= HeaderBytes;
            int rowLength = isWhole ? BinaryPrimitives.ReadInt32LittleEndian(stored[LengthAt..]) : -1;
            Invariant.Holds(rowLength >= 0 && rowLength <= stored.Length - HeaderBytes, "a page holds whole entries");
            Append(stored[..(HeaderBytes + rowLength)], rowLength);
            stored = stored[(HeaderBytes + rowLength)..];
        }
    }

    /// <summary>Appends an entry. Its number must be greater than the number of the last entry.</summary>
    internal void Add(UInt128 number, ReadOnlySpan<byte> row, int childEntries = 0, int childBytes = 0)
    {
        Invariant.Holds(
            Count is 0 || Number(Count - 1) < number,
            "entries of a page are in the order of their numbers"
        );
        Span<byte> header = stackalloc byte[HeaderBytes];
        BinaryPrimitives.WriteUInt128LittleEndian(header, number);
        BinaryPrimitives.WriteInt32LittleEndian(header[EntriesAt..], childEntries);
        BinaryPrimitives.WriteInt32LittleEndian(header[BytesAt..], childBytes);
        BinaryPrimitives.WriteInt32LittleEndian(header[LengthAt..], row.Length);
        _places.Add(new Place(_bytes.Length, row.Length));
        _bytes.Append(header);
        _bytes.Append(row);
    }

    /// <summary>Appends an entry of another page.</summary>
    internal void Copy(ReducePage from, int entry) =>
        Append(from.Stored(entry, count: 1), from._places[entry].RowLength);

    /// <summary>Returns how many entries, starting at <paramref name="first"/>, fit into one page.</summary>
    internal int CountOfPage(int first)
    {
        int size = 0;
        int entry = first;
        for (; entry < Count && entry - first < MaxEntries; entry++)
        {
            size += EntryBytes(entry);
            if (size > MaxBytes && entry - first >= 2)
            {
                break;
            }
        }

        return entry - first;
    }

    /// <summary>Releases the buffer.</summary>
    internal void Release() => _bytes.Release();

    private void Append(ReadOnlySpan<byte> entry, int rowLength)
    {
        _places.Add(new Place(_bytes.Length, rowLength));
        _bytes.Append(entry);
    }

    private ReadOnlySpan<byte> Header(int entry) => _bytes.Written.Slice(_places[entry].Offset, HeaderBytes);

    private readonly record struct Place(int Offset, int RowLength);
}
