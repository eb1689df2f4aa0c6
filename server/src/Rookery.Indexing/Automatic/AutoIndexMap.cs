using Rookery.Indexing.Mapping;
using Rookery.Indexing.Values;
using Rookery.Search.Analysis;
using Rookery.Search.Segments.Store;

namespace Rookery.Indexing.Automatic;

/// <summary>Maps a document to the entry of an automatic index: the values of its fields.</summary>
public sealed class AutoIndexMap : IIndexMap
{
    private readonly FieldEntryWriter _writer;

    /// <summary>Makes the map of a definition.</summary>
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

    /// <summary>The analyzer of all automatic indexes.</summary>
    public static Analyzer Analyzer { get; } = AnalyzerCatalog.Make(AnalyzerCatalog.DefaultName);

    /// <summary>The definition of the index.</summary>
    public AutoIndexDefinition Definition { get; }

    /// <inheritdoc/>
    public IReadOnlyList<string> Collections => Definition.Collection is { } collection ? [collection] : [];

    /// <inheritdoc/>
    public IReadOnlyList<MappedField> Fields { get; }

    /// <inheritdoc/>
    public IReadOnlyList<string> LoadedCollections => [];

    /// <summary>
    /// 2 if a path ends in a member of .NET values, such as <c>Length</c> of a string; otherwise 1. Version 1 indexed
    /// nothing for such a path.
    /// </summary>
    public int ContentVersion =>
        Fields.Any(static mapped => mapped.Path.Count > 1 && PseudoMember.Of(mapped.Path[^1]) is not null) ? 2 : 1;

    /// <inheritdoc/>
    public void Map(in QueriedDocument document, IndexEntry entry)
    {
        _writer.Write(document, entry);

        // A document without any of the fields gets an entry, too, because some conditions match missing fields.
        entry.EndEntry();
    }
}
