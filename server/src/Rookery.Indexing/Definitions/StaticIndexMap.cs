using Rookery.Documents.Databases;
using Rookery.Indexing.Mapping;
using Rookery.Indexing.Reducing;
using Rookery.Indexing.Values;
using Rookery.Search.Segments.Store;

namespace Rookery.Indexing.Definitions;

/// <summary>
/// What a static index holds of a document: an entry for each row that its maps make of it. Of a map/reduce index, the
/// rows with the keys that they are reduced by.
/// </summary>
public sealed class StaticIndexMap : IIndexMap, IMappedRows, IDisposable
{
    private readonly StaticRowWriter _rows;
    private readonly MapRunner _maps;
    private readonly ReduceRunner? _reduce;
    private readonly TrackedLoads _loads;
    private IndexEntry? _entry;

    /// <summary>The map of a definition.</summary>
    /// <param name="definition">The definition.</param>
    /// <param name="database">Where maps find the documents that they load.</param>
    /// <param name="isTried">Whether this version tried its reduce before, and it passed.</param>
    /// <exception cref="IndexDefinitionException">An older version took a reduce that has no one answer.</exception>
    public StaticIndexMap(StaticIndexDefinition definition, Database database, bool isTried)
    {
        if (!isTried)
        {
            definition.RequireOneAnswer();
        }

        Definition = definition;
        Fields = StaticRowWriter.FieldsOf(definition);
        _rows = new StaticRowWriter(definition, Fields);
        _loads = new TrackedLoads(database, definition.LoadedCollections);
        _reduce = definition.CompiledReduce is { } reduce ? new ReduceRunner(reduce) : null;
        _maps = new MapRunner(definition.CompiledMaps, _loads);
        if (definition.CompiledReduce is { } reduced)
        {
            _maps.RefuseNonFinite(reduced.ReadMembers);
        }
    }

    /// <summary>What it is made by.</summary>
    public StaticIndexDefinition Definition { get; }

    /// <inheritdoc/>
    public IReadOnlyList<string> Collections => Definition.Collections;

    /// <inheritdoc/>
    public IReadOnlyList<MappedField> Fields { get; }

    /// <inheritdoc/>
    public IReadOnlyList<string> LoadedCollections => Definition.LoadedCollections;

    /// <summary>
    /// 4: NaN of JavaScript is refused where rows are reduced. 3: rows of a group have an order of their own. 2: reduce
    /// keys have one form, values of C# are those of its types, and documents that are loaded from collections that the
    /// map does not name are followed.
    /// </summary>
    public int ContentVersion => 4;

    /// <inheritdoc/>
    public void Map(in QueriedDocument document, IndexEntry entry)
    {
        _entry = _loads.Entry = entry;
        _maps.Run(document, this);
    }

    /// <inheritdoc/>
    public void Take(ReadOnlySpan<byte> row)
    {
        if (_reduce is null)
        {
            _rows.Write(row, _entry!);
            return;
        }

        try
        {
            _entry!.Rows.Add(ReduceKey.Of(_reduce.KeyOf(row)), row);
        }
        catch (ReduceException failed)
        {
            throw new IndexEntryException(failed.Message);
        }
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _maps.Dispose();
        _reduce?.Dispose();
    }
}
