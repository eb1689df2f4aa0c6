using Rookery.Indexing.Values;
using Rookery.Search.Segments.Store;

namespace Rookery.Indexing.Mapping;

/// <summary>Says which documents an index is of, and what it holds of each. Used by one thread at a time.</summary>
public interface IIndexMap
{
    /// <summary>The collections whose documents it is of; empty for all.</summary>
    IReadOnlyList<string> Collections { get; }

    /// <summary>The fields that it holds; the place of a field gives its numbers.</summary>
    IReadOnlyList<MappedField> Fields { get; }

    /// <summary>
    /// The collections of the documents that it loads while it maps others; mapped again are those that loaded one
    /// which changed.
    /// </summary>
    IReadOnlyList<string> LoadedCollections { get; }

    /// <summary>
    /// Which version of the rules says what it holds. What was written by another one is built again.
    /// </summary>
    int ContentVersion => 1;

    /// <summary>Writes what is held of a document.</summary>
    /// <param name="document">The document.</param>
    /// <param name="entry">Takes it; empty before.</param>
    /// <exception cref="IndexEntryException">The document cannot be taken.</exception>
    void Map(in QueriedDocument document, IndexEntry entry);
}
