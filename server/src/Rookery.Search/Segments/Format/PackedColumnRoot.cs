using Rookery.Platform;

namespace Rookery.Search.Segments.Format;

/// <summary>Where a column begins.</summary>
/// <param name="Directory">The address of its directory; 0 when there is no column.</param>
/// <param name="Count">Its values.</param>
internal readonly record struct PackedColumnRoot(long Directory, int Count)
{
    /// <summary>Values of a chunk.</summary>
    public const int ChunkLength = 1024;

    /// <summary>Bytes of a chunk in the directory: u64 address, u64 smallest value, u8 bits.</summary>
    public const int ChunkBytes = 17;

    /// <summary>The widest difference within a chunk, in bits: eight bytes anywhere hold it.</summary>
    public const int BitsLimit = 56;

    /// <summary>Whether there is a column.</summary>
    public bool Exists => Directory != 0;

    /// <summary>Chunks of it.</summary>
    public int Chunks => (Count + ChunkLength - 1) / ChunkLength;

    /// <summary>Appends it to a footer.</summary>
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
