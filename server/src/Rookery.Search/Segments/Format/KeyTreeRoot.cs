using Rookery.Platform;

namespace Rookery.Search.Segments.Format;

/// <summary>The root of a key tree.</summary>
/// <param name="Address">The address of the root block; undefined if the tree is empty.</param>
/// <param name="Height">Number of blocks from the root to a leaf, both included; 0 if the tree is empty.</param>
/// <param name="Count">Number of keys.</param>
internal readonly record struct KeyTreeRoot(long Address, int Height, long Count)
{
    /// <summary>Maximum height of a valid tree, as each block has at least four children.</summary>
    public const int HeightLimit = 24;

    /// <summary>Appends the root to a footer.</summary>
    public void Write(GrowableBytes sink)
    {
        sink.AppendVarint((ulong)Address);
        sink.AppendVarint((ulong)Height);
        sink.AppendVarint((ulong)Count);
    }

    /// <summary>Reads what <see cref="Write"/> wrote.</summary>
    public static KeyTreeRoot Read(ReadOnlySpan<byte> from, ref int at)
    {
        var root = new KeyTreeRoot(
            (long)Varint.Read(from, ref at),
            Varint.ReadInt(from, ref at),
            (long)Varint.Read(from, ref at)
        );
        bool isValid =
            root.Height <= HeightLimit
            && root.Count >= 0
            && root.Address >= 0
            && (root.Height == 0) == (root.Count == 0);
        return isValid ? root : throw SegmentFormat.Malformed();
    }
}
