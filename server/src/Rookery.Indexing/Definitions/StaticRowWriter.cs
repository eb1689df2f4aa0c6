using System.Buffers;
using System.Text;
using Rookery.Indexing.Mapping;
using Rookery.Indexing.Reducing;
using Rookery.Indexing.Values;
using Rookery.Json;
using Rookery.Search.Analysis;
using Rookery.Search.Segments.Store;

namespace Rookery.Indexing.Definitions;

/// <summary>Writes a row of a static index, mapped or reduced, as an index entry. Not thread-safe.</summary>
public sealed class StaticRowWriter : IReducedRowWriter
{
    private static readonly byte[] NamedMember = Encoding.UTF8.GetBytes(NamedFieldWriter.Member);

    private readonly FieldEntryWriter _writer;
    private readonly byte[][] _storedNames;
    private readonly bool _storesWhole;
    private readonly ArrayBufferWriter<byte> _stored = new();
    private readonly NamedFieldWriter? _named;
    private readonly MissingFields _missing;

    /// <summary>Makes a writer for the rows of a definition.</summary>
    /// <param name="definition">The definition.</param>
    /// <param name="fields">The result of <see cref="FieldsOf"/> for the definition.</param>
    /// <param name="named">The fields that documents name; null if there are none.</param>
    public StaticRowWriter(
        StaticIndexDefinition definition,
        IReadOnlyList<MappedField> fields,
        NamedFields? named = null
    )
    {
        _named = named is null ? null : new NamedFieldWriter(definition, named);
        _writer = new FieldEntryWriter(fields);
        _missing = new MissingFields(definition.Configuration, definition.Fields.Select(static field => field.Name));
        _storedNames =
        [
            .. definition
                .Fields.Where(field => field.IsStored || definition.IsOfCounters)
                .Select(static field => Encoding.UTF8.GetBytes(field.Name)),
        ];

        // Queries of a map/reduce index, or of an index over counters, return the rows themselves, so their entries
        // store whole rows.
        _storesWhole =
            definition.Reduce is not null
            || (definition.IsOfCounters && named is null)
            || (named is null && _storedNames.Length == definition.Fields.Count);
    }

    /// <summary>Returns the searchable fields of a definition, and how each is indexed.</summary>
    public static IReadOnlyList<MappedField> FieldsOf(StaticIndexDefinition definition) =>
        [
            .. definition
                .Fields.Where(static field => field.Indexing != FieldIndexing.No)
                .Select(field => new MappedField(
                    [field.Name],
                    field.Indexing == FieldIndexing.Exact,
                    field.Indexing == FieldIndexing.Search || field.HasSuggestions
                        ? AnalyzerCatalog.Make(field.Analyzer ?? AnalyzerCatalog.DefaultName, definition.Configuration)
                        : null
                )),
        ];

    /// <inheritdoc/>
    public void Write(ReadOnlySpan<byte> key, ReadOnlySpan<byte> row, IndexEntry entry) => Write(row, entry);

    /// <summary>Writes a row as an entry.</summary>
    /// <param name="row">A JSON object without whitespace between tokens.</param>
    /// <param name="entry">Receives the entry.</param>
    public void Write(ReadOnlySpan<byte> row, IndexEntry entry)
    {
        row = _missing.Complete(row);
        _writer.Write(new QueriedDocument(row[1..^1]), entry);
        if (_storesWhole)
        {
            entry.SetStored(row);
        }
        else if (_storedNames.Length > 0 || _named is not null)
        {
            WriteStoredPart(row);
            if (_named is not null && StoredJson.TryFindMember(row, container: 0, NamedMember, out _, out int at))
            {
                _named.Write(row[at..StoredJson.SkipValue(row, at)], entry, _stored);
            }

            _stored.Write("}"u8);
            entry.SetStored(_stored.WrittenSpan);
        }

        entry.EndEntry();
    }

    // Leaves out the closing brace.
    private void WriteStoredPart(ReadOnlySpan<byte> row)
    {
        _stored.ResetWrittenCount();
        _stored.Write("{"u8);
        foreach (byte[] name in _storedNames)
        {
            if (StoredJson.TryFindMember(row, container: 0, name, out _, out int at))
            {
                _stored.Write(_stored.WrittenCount > 1 ? ","u8 : default);
                JsonText.WriteString(_stored, name);
                _stored.Write(":"u8);
                _stored.Write(row[at..StoredJson.SkipValue(row, at)]);
            }
        }
    }
}
