using Rookery.Search.Segments.Format;
using Rookery.Storage;

namespace Rookery.Indexing.Indexes;

/// <summary>Distinguishes damage of an index's files from other failures.</summary>
public static class IndexDamage
{
    /// <summary>
    /// Returns whether an exception of the store means that files are damaged (segments, or rows of a map/reduce
    /// index).
    /// </summary>
    public static bool Is(Exception thrown) =>
        thrown is SegmentDamagedException or InvalidDataException or DamagedException or StorageFormatException;
}
