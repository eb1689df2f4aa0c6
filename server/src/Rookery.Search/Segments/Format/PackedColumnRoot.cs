using Rookery.Platform;

namespace Rookery.Search.Segments.Format;

/// <summary>The location and length of a packed column.</summary>
/// <param name="Directory">The address of its directory; 0 if there is no column.</param>
/// <param name="Count">Number of values.</param>
internal readonly record struct PackedColumnRoot(long Directory, int Count)
{
    /// <summary>Number of values in a chunk.</summary>
    public const int ChunkLength = 1024;

    /// <summary>Bytes of a chunk's directory entry: u64 address, u64 smallest value, u8 bits.</summary>
    public const int ChunkBytes = 17;

    /// <summary>
    /// Maximum bits of a difference within a chunk, so that eight bytes contain it at any bit offset.
    /// </summary>
    public const int BitsLimit = 56;

    /// <summary>Whether the column exists.</summary>
    public bool Exists => Directory != 0;

    /// <summary>Number of chunks.</summary>
    public int Chunks => (Count + ChunkLength - 1) / ChunkLength;

    /// <summary>Appends the root to a footer.</summary>
    public void Write(GrowableBytes sink)
    {
        sink.AppendVarint((ulong)Directory);
        sink.AppendVarint((ulong)Count);
    }

    /// <summary>Reads what <see cref="Write"/> wrote.</summary>
    public static PackedColumnRoot Read(ReadOnlySpan<byte> from, ref int at)
    {
        var root = new PackedColumnRoot((long)Varint.Read(from, ref at), Varint.ReadInt(from, ref at));
        return root.Count <= SegmentFormat.EntryLimit && root.Directory >= 0 ? root : throw SegmentFormat.Malformed();
    }
}
