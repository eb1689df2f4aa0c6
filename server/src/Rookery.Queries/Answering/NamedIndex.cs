using Rookery.Documents.Databases;
using Rookery.Indexing.Automatic;
using Rookery.Indexing.Definitions;
using Rookery.Indexing.Mapping;
using Rookery.Queries.Conditions;
using Rookery.Queries.Execution;
using Rookery.Queries.Language;

namespace Rookery.Queries.Answering;

/// <summary>The index that a query names: <c>from index 'Users/ByAge'</c>.</summary>
/// <param name="Name">Its name, in the case it was defined with.</param>
/// <param name="Automatic">What it holds, when it is an automatic one; null otherwise.</param>
/// <param name="Rows">What it holds, when somebody defined it; null otherwise.</param>
internal sealed record NamedIndex(string Name, AutoIndexDefinition? Automatic, RowSource? Rows)
{
    /// <summary>Finds the index. Of one that was defined anew the definition counts that answers now.</summary>
    /// <exception cref="QueryException">There is none, or it was defined by a newer version.</exception>
    public static NamedIndex Find(Database database, IndexedQueries indexes, Source source)
    {
        using var reader = database.OpenReader();
        var record =
            reader.FindIndex(source.Name)
            ?? throw new QueryException(QueryFault.IndexMissing, $"There is no index '{source.Name}'.");
        try
        {
            return AutoIndexDefinition.TryRead(record.Definition) is { } automatic
                    ? new NamedIndex(record.Name, automatic, null)
                : indexes.ReadRows(database, record.Name) is { } rows ? new NamedIndex(record.Name, null, rows)
                : AutoReduceDefinition.TryRead(record.Definition) is not null
                    ? throw new QueryException(
                        QueryFault.NotSupported,
                        $"The index '{record.Name}' is of groups: ask its collection with 'group by', and it answers.",
                        source.Position
                    )
                : StaticIndexDefinition.TryRead(record.Definition) is { } defined
                    ? new NamedIndex(record.Name, null, RowSource.Of(record.Name, record.Number, defined))
                : throw new QueryException(
                    QueryFault.NotSupported,
                    $"The index '{record.Name}' is of a kind that this version does not have.",
                    source.Position
                );
        }
        catch (IndexDefinitionException newer)
        {
            throw new QueryException(
                QueryFault.NotSupported,
                $"The index '{record.Name}' cannot be asked: {newer.Message}",
                source.Position
            );
        }
    }

    /// <summary>The documents that it is of.</summary>
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
