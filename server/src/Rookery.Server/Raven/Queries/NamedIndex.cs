using Rookery.Documents;
using Rookery.Indexing.Indexes;
using Rookery.Indexing.Language;
using Rookery.Server.Raven.Indexes;

namespace Rookery.Server.Raven.Queries;

/// <summary>The index that a query names: <c>from index 'Auto/Users/ByAge'</c>.</summary>
/// <param name="Name">Its name, in the case it was defined with.</param>
/// <param name="Definition">What it holds.</param>
internal sealed record NamedIndex(string Name, AutoIndexDefinition Definition)
{
    /// <summary>Finds the index.</summary>
    /// <exception cref="RefusedException">There is none.</exception>
    /// <exception cref="QueryException">Queries by its name are not supported.</exception>
    public static NamedIndex Find(Database database, Source source)
    {
        using var reader = database.OpenReader();
        var record = reader.FindIndex(source.Name) ?? throw IndexCommand.Missing(source.Name);
        return AutoIndexDefinition.TryRead(record.Definition) is { } definition
            ? new NamedIndex(record.Name, definition)
            : throw new QueryException(QueryFault.NotSupported, $"'from index' is supported of automatic indexes only, and '{record.Name}' is none.", source.Position);
    }

    /// <summary>The documents that it is of.</summary>
    public Source SourceOf(Source named) => Definition.Collection is { } collection
        ? named with { Kind = SourceKind.Collection, Name = collection }
        : named with { Kind = SourceKind.AllDocuments, Name = AutoIndexDefinition.AllDocuments };
}
