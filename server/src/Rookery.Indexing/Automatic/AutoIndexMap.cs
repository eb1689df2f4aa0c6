using Rookery.Indexing.Mapping;
using Rookery.Indexing.Values;
using Rookery.Search.Analysis;
using Rookery.Search.Segments.Store;

namespace Rookery.Indexing.Automatic;

/// <summary>
/// Maps a document to the entry of an automatic index: the values of its fields. A document with too many values gets a
/// mark instead (<see cref="UnheldNumber"/>). While such a mark exists, queries scan the documents.
/// </summary>
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
    /// The number under which the entry of a document that the index cannot hold has the term
    /// <see cref="MappedField.AnyValue"/>. No field of a document has this number.
    /// </summary>
    public int UnheldNumber => MappedField.PresenceOf(Fields.Count);

    /// <summary>
    /// 3, or 4 with full-text fields. Since version 4, stop words take no position. Since version 3, documents that the
    /// index cannot hold are marked (in version 2 they were silently missing), and paths that end in a part of a time
    /// span have values. Since version 2, paths that end in a member of .NET values, such as <c>Length</c> of a string,
    /// have values.
    /// </summary>
    public int ContentVersion => MappedField.DropStopWords(Fields) ? 4 : 3;

    /// <inheritdoc/>
    public void Map(in QueriedDocument document, IndexEntry entry)
    {
        _writer.Write(document, entry);

        // A document without any of the fields gets an entry, too, because some conditions match missing fields.
        entry.EndEntry();
    }

    /// <inheritdoc/>
    public void MarkUnheld(IndexEntry entry)
    {
        entry.Add(UnheldNumber, MappedField.AnyValue);
        entry.EndEntry();
    }
}
