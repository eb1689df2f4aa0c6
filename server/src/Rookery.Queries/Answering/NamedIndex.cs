using Rookery.Documents.Databases;
using Rookery.Indexing.Automatic;
using Rookery.Indexing.Definitions;
using Rookery.Indexing.Mapping;
using Rookery.Queries.Conditions;
using Rookery.Queries.Execution;
using Rookery.Queries.Language;

namespace Rookery.Queries.Answering;

/// <summary>The index that a query names: <c>from index 'Users/ByAge'</c>.</summary>
/// <param name="Name">Its name, in the casing of its definition.</param>
/// <param name="Automatic">The definition of an automatic index; null for a static one.</param>
/// <param name="Rows">The rows of a static index; null for an automatic one.</param>
internal sealed record NamedIndex(string Name, AutoIndexDefinition? Automatic, RowSource? Rows)
{
    /// <summary>
    /// Finds the index. While an index with a new definition is being built, the old index answers, so its definition
    /// is returned.
    /// </summary>
    /// <exception cref="QueryException">The index does not exist, holds groups, or was defined by a newer
    /// version.</exception>
    public static NamedIndex Find(Database database, IndexedQueries indexes, Source source)
    {
        using var reader = database.OpenReader();
        var record =
            reader.FindIndex(source.Name)
            ?? throw new QueryException(QueryFault.IndexMissing, $"There is no index '{source.Name}'.");
        try
        {
            if (AutoIndexDefinition.TryRead(record.Definition) is { } automatic)
            {
                return new NamedIndex(record.Name, automatic, Rows: null);
            }
            if (indexes.FindRowSource(database, record.Name) is { } rows)
            {
                return new NamedIndex(record.Name, Automatic: null, rows);
            }
            if (AutoReduceDefinition.TryRead(record.Definition) is not null)
            {
                throw new QueryException(
                    QueryFault.NotSupported,
                    $"The index '{record.Name}' holds groups: query its collection with 'group by' instead.",
                    source.Position
                );
            }
            // A static index that this node has not opened yet.
            return StaticIndexDefinition.TryRead(record.Definition) is { } defined
                ? new NamedIndex(record.Name, Automatic: null, RowSource.Of(record.Name, record.Number, defined))
                : throw new QueryException(
                    QueryFault.NotSupported,
                    $"The index '{record.Name}' is of a kind that this version does not support.",
                    source.Position
                );
        }
        catch (IndexDefinitionException newer)
        {
            throw new QueryException(
                QueryFault.NotSupported,
                $"The index '{record.Name}' cannot be queried: {newer.Message}",
                source.Position
            );
        }
    }

    /// <summary>
    /// Returns the documents that the index covers, as a source at the position of <paramref name="named"/>.
    /// </summary>
    public Source SourceOf(Source named) =>
        Automatic?.Collection is { } collection
            ? named with
            {
                Kind = SourceKind.Collection,
                Name = collection,
            }
            : named with
            {
                Kind = SourceKind.AllDocuments,
                Name = AutoIndexDefinition.AllDocuments,
            };
}
