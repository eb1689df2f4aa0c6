using Rookery.Search.Segments.Store;

namespace Rookery.Indexing.Reducing;

/// <summary>Makes the entries of reduced rows. One thread at a time.</summary>
internal interface IReducedRowWriter
{
    /// <summary>Writes a reduced row as an entry.</summary>
    /// <param name="key">What its rows were reduced by.</param>
    /// <param name="row">The row.</param>
    /// <param name="entry">Takes it.</param>
    void Write(ReadOnlySpan<byte> key, ReadOnlySpan<byte> row, IndexEntry entry);
}
