using Rookery.Search.Segments.Store;

namespace Rookery.Indexing.Reducing;

/// <summary>Converts reduced rows to index entries. Not thread-safe.</summary>
internal interface IReducedRowWriter
{
    /// <summary>Writes a reduced row as an entry.</summary>
    /// <param name="key">The reduce key of the row.</param>
    /// <param name="row">The reduced row.</param>
    /// <param name="entry">Receives the entry.</param>
    void Write(ReadOnlySpan<byte> key, ReadOnlySpan<byte> row, IndexEntry entry);
}
