using System.Buffers.Binary;
using Rookery.Platform;

namespace Rookery.Indexing.Reducing;

/// <summary>
/// Entries of one page of a reduce tree, or of several that are about to be written. In a leaf an entry is a mapped row
/// under its number; above, it is a page below, under the least number that may be in it, with that page's reduced row,
/// which is empty when it could not be reduced.
/// </summary>
internal sealed class ReducePage
{
    /// <summary>
    /// Entries of a page. An edit reads, reduces and writes one page of each level, so that few are quick; with fewer
    /// still, levels and what a page costs by itself weigh more.
    /// </summary>
    internal const int MostEntries = 16;

    /// <summary>Bytes of a page of more than two entries.</summary>
    internal const int MostBytes = 8 * 1024;

    private const int EntriesAt = ReduceKeys.NumberBytes;
    private const int BytesAt = EntriesAt + sizeof(int);
    private const int LengthAt = BytesAt + sizeof(int);
    private const int HeaderBytes = LengthAt + sizeof(int);

    private readonly PooledBytes _bytes = new();
    private readonly List<Place> _places = [];

    /// <summary>Entries.</summary>
    internal int Count => _places.Count;

    /// <summary>Bytes of all entries.</summary>
    internal int Bytes => _bytes.Length;

    /// <summary>The number of an entry.</summary>
    internal UInt128 Number(int entry) => BinaryPrimitives.ReadUInt128LittleEndian(Header(entry));

    /// <summary>What the page below an entry holds; nothing in a leaf.</summary>
    internal (int Entries, int Bytes) Child(int entry) =>
        (
            BinaryPrimitives.ReadInt32LittleEndian(Header(entry)[EntriesAt..]),
            BinaryPrimitives.ReadInt32LittleEndian(Header(entry)[BytesAt..])
        );

    /// <summary>The row of an entry.</summary>
    internal ReadOnlySpan<byte> Row(int entry) =>
        _bytes.Written.Slice(_places[entry].Offset + HeaderBytes, _places[entry].RowLength);

    /// <summary>Bytes of an entry.</summary>
    internal int EntryBytes(int entry) => HeaderBytes + _places[entry].RowLength;

    /// <summary>The entries of a range, as they are stored.</summary>
    internal ReadOnlySpan<byte> Stored(int first, int count)
    {
        int start = _places[first].Offset;
        int end = _places[first + count - 1].Offset + EntryBytes(first + count - 1);
        return _bytes.Written[start..end];
    }

    /// <summary>Whether two pages have an entry that is the same in all.</summary>
    internal bool HasSame(int entry, ReducePage other, int otherEntry) =>
        Stored(entry, 1).SequenceEqual(other.Stored(otherEntry, 1));

    internal void Clear()
    {
        _bytes.Clear();
        _places.Clear();
    }

    /// <summary>Adds the entries of a stored page behind those that are there.</summary>
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

    /// <summary>Adds an entry.</summary>
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

    /// <summary>Adds an entry of another page.</summary>
    internal void Copy(ReducePage from, int entry) => Append(from.Stored(entry, 1), from._places[entry].RowLength);

    /// <summary>How many entries from <paramref name="first"/> on one page takes.</summary>
    internal int CountOfPage(int first)
    {
        int size = 0;
        int entry = first;
        for (; entry < Count && entry - first < MostEntries; entry++)
        {
            size += EntryBytes(entry);
            if (size > MostBytes && entry - first >= 2)
            {
                break;
            }
        }

        return entry - first;
    }

    /// <summary>Gives its memory back.</summary>
    internal void Release() => _bytes.Release();

    private void Append(ReadOnlySpan<byte> entry, int rowLength)
    {
        _places.Add(new Place(_bytes.Length, rowLength));
        _bytes.Append(entry);
    }

    private ReadOnlySpan<byte> Header(int entry) => _bytes.Written.Slice(_places[entry].Offset, HeaderBytes);

    private readonly record struct Place(int Offset, int RowLength);
}
