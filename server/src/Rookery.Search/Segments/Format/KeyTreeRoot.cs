using Rookery.Platform;

namespace Rookery.Search.Segments.Format;

/// <summary>Where a tree begins.</summary>
/// <param name="Address">Its root's address; meaningless when it is empty.</param>
/// <param name="Height">Blocks from the root to a leaf, the root included; 0 when it is empty.</param>
/// <param name="Count">Its keys.</param>
internal readonly record struct KeyTreeRoot(long Address, int Height, long Count)
{
    /// <summary>More blocks above each other are no tree of ours: each has at least four below it.</summary>
    public const int HeightLimit = 24;

    /// <summary>Appends it to a footer.</summary>
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
        return
            root.Height <= HeightLimit && root.Count >= 0 && root.Address >= 0 && root.Height == 0 == (root.Count == 0)
            ? root
            : throw SegmentFormat.Malformed();
    }
}
