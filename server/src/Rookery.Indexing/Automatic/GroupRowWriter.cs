using Rookery.Indexing.Grouping;
using Rookery.Indexing.Mapping;
using Rookery.Indexing.Reducing;
using Rookery.Indexing.Values;
using Rookery.Platform;
using Rookery.Search.Segments.Store;

namespace Rookery.Indexing.Automatic;

/// <summary>
/// Converts the reduced rows of an automatic map/reduce index into index entries. A row becomes the object that a scan
/// would return for the group, and its members become the fields. Not thread-safe.
/// </summary>
public sealed class GroupRowWriter : IReducedRowWriter
{
    private readonly AutoReduceDefinition _definition;
    private readonly FieldEntryWriter _fields;
    private readonly Accumulator _aggregate = new();
    private readonly Range[] _values;
    private readonly PooledBytes _row = new();

    /// <summary>Makes a writer for the rows of a definition.</summary>
    public GroupRowWriter(AutoReduceDefinition definition)
    {
        // The members of a row have short names, see GroupRow: k0, k1 … for the keys, a0, a1 … for the aggregates.
        _definition = definition;
        _values = new Range[definition.Keys.Count + definition.Aggregates.Count];
        _fields = new FieldEntryWriter([
            .. definition.Keys.Select(
                static (_, number) => new MappedField([$"k{number}"], HasExactValues: false, Analyzer: null)
            ),
            .. definition.Aggregates.Select(
                static (_, number) => new MappedField([$"a{number}"], HasExactValues: false, Analyzer: null)
            ),
        ]);
    }

    /// <summary>
    /// Returns the number of the field that marks special groups, see <see cref="ReducedGroup.ExcludedTerm"/>.
    /// </summary>
    public static int MarksOf(AutoReduceDefinition definition) =>
        MappedField.PresenceOf(definition.Keys.Count + definition.Aggregates.Count);

    /// <inheritdoc/>
    public void Write(ReadOnlySpan<byte> key, ReadOnlySpan<byte> row, IndexEntry entry)
    {
        if (ReducedGroup.IsExcluded(row))
        {
            entry.Add(MarksOf(_definition), ReducedGroup.ExcludedTerm);
            entry.EndEntry();
            return;
        }

        ReducedGroup.Find(row, _values);
        int keys = _definition.Keys.Count;
        _row.Clear();
        _row.Append(row[.._values[keys - 1].End]);
        for (int i = 0; i < _definition.Aggregates.Count; i++)
        {
            GroupRow.AppendName((byte)'a', i, _row);
            Append(_definition.Aggregates[i].Kind, row[_values[keys + i]]);
        }

        _row.Append((byte)'}');
        _fields.Write(new QueriedDocument(_row.Written[1..^1]), entry);
        if (GroupIdentity.IsTruncated(key))
        {
            entry.Add(MarksOf(_definition), ReducedGroup.ShortenedTerm);
        }

        entry.SetStored(_row.Written);
        entry.EndEntry();
    }

    private void Append(AggregateKind kind, ReadOnlySpan<byte> part)
    {
        if (kind == AggregateKind.Count)
        {
            _row.Append(part);
            return;
        }

        _aggregate.Clear();
        _aggregate.AddPart(kind, part);
        _aggregate.Append(kind, entries: 0, _row);
    }
}
