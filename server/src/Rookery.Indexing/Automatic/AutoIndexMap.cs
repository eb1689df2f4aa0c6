using Rookery.Indexing.Mapping;
using Rookery.Indexing.Values;
using Rookery.Search.Analysis;
using Rookery.Search.Segments.Store;

namespace Rookery.Indexing.Automatic;

/// <summary>What an automatic index holds of a document: the values of its fields.</summary>
public sealed class AutoIndexMap : IIndexMap
{
    private readonly FieldEntryWriter _writer;

    /// <summary>The map of a definition.</summary>
    public AutoIndexMap(AutoIndexDefinition definition)
    {
        Definition = definition;
        Fields =
        [
            .. definition.Fields.Select(static field => new MappedField(
                field.Path,
                field.Uses.HasFlag(AutoIndexFieldUses.Exact),
                field.Uses.HasFlag(AutoIndexFieldUses.Search) ? Analyzer : null
            )),
        ];
        _writer = new FieldEntryWriter(Fields);
    }

    /// <summary>With what the words of all automatic indexes are made.</summary>
    public static Analyzer Analyzer { get; } = AnalyzerCatalog.Make(AnalyzerCatalog.DefaultName);

    /// <summary>What it is made by.</summary>
    public AutoIndexDefinition Definition { get; }

    /// <inheritdoc/>
    public IReadOnlyList<string> Collections => Definition.Collection is { } collection ? [collection] : [];

    /// <inheritdoc/>
    public IReadOnlyList<MappedField> Fields { get; }

    /// <inheritdoc/>
    public IReadOnlyList<string> LoadedCollections => [];

    /// <summary>
    /// 2 where a field ends in a member that values have which are no objects, of which there was nothing before.
    /// </summary>
    public int ContentVersion =>
        Fields.Any(static mapped => mapped.Path.Count > 1 && PseudoMember.Of(mapped.Path[^1]) is not null) ? 2 : 1;

    /// <inheritdoc/>
    public void Map(in QueriedDocument document, IndexEntry entry)
    {
        _writer.Write(document, entry);

        // Also where the document has none of the fields: that is what some conditions look for.
        entry.EndEntry();
    }
}
