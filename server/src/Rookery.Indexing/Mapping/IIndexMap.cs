using Rookery.Indexing.Values;
using Rookery.Search.Segments.Store;

namespace Rookery.Indexing.Mapping;

/// <summary>Maps documents to index entries. Not thread-safe.</summary>
public interface IIndexMap
{
    /// <summary>The collections whose documents the map indexes; empty for all.</summary>
    IReadOnlyList<string> Collections { get; }

    /// <summary>The fields of the index. The position of a field determines its field numbers.</summary>
    IReadOnlyList<MappedField> Fields { get; }

    /// <summary>
    /// The collections of the documents that the map loads. When a loaded document changes, the documents that loaded
    /// it are mapped again.
    /// </summary>
    IReadOnlyList<string> LoadedCollections { get; }

    /// <summary>
    /// Whether the map reads values of counters. When a counter changes, its document is mapped again.
    /// </summary>
    bool ReadsCounters => false;

    /// <summary>The fields that documents name; null if the map has none.</summary>
    NamedFields? Named => null;

    /// <summary>
    /// The version of the rules by which this kind of map writes entries. An index that another version wrote is
    /// rebuilt.
    /// </summary>
    int ContentVersion => 1;

    /// <summary>Maps a document.</summary>
    /// <param name="document">The document.</param>
    /// <param name="entry">Receives the entries; empty before.</param>
    /// <exception cref="IndexEntryException">The document cannot be indexed.</exception>
    void Map(in QueriedDocument document, IndexEntry entry);

    /// <summary>
    /// Writes an entry for a document that <see cref="Map"/> could not index. By default writes none, so the document
    /// is missing from the index.
    /// </summary>
    /// <param name="entry">Receives the entry; has no content before.</param>
    void MarkUnheld(IndexEntry entry) { }
}
