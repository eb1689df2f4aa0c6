using System.Buffers.Binary;
using Rookery.Search.Segments.Format;

namespace Rookery.Search.Segments.Reading;

/// <summary>A column of numbers by index. Its directory (17 bytes per 1024 values) is in memory. Thread-safe.</summary>
public sealed class PackedColumn
{
    private readonly SegmentPages _pages;
    private readonly long[] _addresses;
    private readonly ulong[] _smallest;
    private readonly byte[] _bits;

    /// <summary>Reads the directory.</summary>
    internal PackedColumn(SegmentPages pages, PackedColumnRoot root)
    {
        _pages = pages;
        Count = root.Count;
        _addresses = new long[root.Chunks];
        _smallest = new ulong[root.Chunks];
        _bits = new byte[root.Chunks];
        byte[] scratch = [];
        for (int i = 0; i < _addresses.Length; i++)
        {
            var entry = pages.Read(
                root.Directory + ((long)i * PackedColumnRoot.ChunkBytes),
                PackedColumnRoot.ChunkBytes,
                ref scratch
            );
            _addresses[i] = BinaryPrimitives.ReadInt64LittleEndian(entry);
            _smallest[i] = BinaryPrimitives.ReadUInt64LittleEndian(entry[sizeof(long)..]);
            byte bits = entry[sizeof(long) + sizeof(ulong)];
            _bits[i] = bits <= PackedColumnRoot.BitsLimit ? bits : throw SegmentFormat.Malformed();
        }
    }

    /// <summary>Number of values.</summary>
    public int Count { get; }

    /// <summary>The value at an index below <see cref="Count"/>.</summary>
    public ulong this[int index]
    {
        get
        {
            int chunk = index / PackedColumnRoot.ChunkLength;
            int width = _bits[chunk];
            if (width == 0)
            {
                return _smallest[chunk];
            }

            int bit = index % PackedColumnRoot.ChunkLength * width;
            byte[] page = _pages.PageOf(_addresses[chunk], out int offset);
            ulong word = BinaryPrimitives.ReadUInt64LittleEndian(page.AsSpan(offset + (bit >> 3)));
            return _smallest[chunk] + ((word >> (bit & 7)) & ((1UL << width) - 1));
        }
    }

    /// <summary>
    /// Reads single values. Remembers the chunk of the last value, so that further reads from this chunk look up
    /// neither the page nor the directory entry. Not thread-safe.
    /// </summary>
    public sealed class Reader(PackedColumn column)
    {
        private byte[] _page = [];
        private int _chunk = -1;
        private int _offset;
        private int _width;
        private ulong _mask;
        private ulong _smallest;

        /// <summary>The value at an index below the column's <see cref="PackedColumn.Count"/>.</summary>
        public ulong this[int index]
        {
            get
            {
                int chunk = index / PackedColumnRoot.ChunkLength;
                if (chunk != _chunk)
                {
                    Open(chunk);
                }

                if (_width == 0)
                {
                    return _smallest;
                }

                int bit = index % PackedColumnRoot.ChunkLength * _width;
                ulong word = BinaryPrimitives.ReadUInt64LittleEndian(_page.AsSpan(_offset + (bit >> 3)));
                return _smallest + ((word >> (bit & 7)) & _mask);
            }
        }

        private void Open(int chunk)
        {
            _chunk = -1; // until the page is read, which may fail
            _width = column._bits[chunk];
            _page = _width == 0 ? [] : column._pages.PageOf(column._addresses[chunk], out _offset);
            _smallest = column._smallest[chunk];
            _mask = (1UL << _width) - 1;
            _chunk = chunk;
        }
    }
}
