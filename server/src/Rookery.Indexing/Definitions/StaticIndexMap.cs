using Rookery.Documents.Databases;
using Rookery.Indexing.Mapping;
using Rookery.Indexing.Reducing;
using Rookery.Indexing.Values;
using Rookery.Search.Segments.Store;

namespace Rookery.Indexing.Definitions;

/// <summary>
/// Maps a document to the entries of a static index, one for each row that its maps return. For a map/reduce index,
/// adds the rows with their reduce keys to the entry instead.
/// </summary>
public sealed class StaticIndexMap : IIndexMap, IMappedRows, IDisposable
{
    private readonly Database _database;
    private readonly StaticRowWriter _rows;
    private readonly MapRunner _maps;
    private readonly ReduceRunner? _reduce;
    private readonly TrackedLoads _loads;
    private IndexEntry? _entry;

    /// <summary>Makes the map of a definition.</summary>
    /// <param name="definition">The definition.</param>
    /// <param name="database">The database of the documents that maps load.</param>
    /// <param name="isTried">Whether the reduce has passed its trial with this version of Rookery.</param>
    /// <exception cref="IndexDefinitionException">An older version accepted the reduce, but its result depends on how
    /// rows are split into parts.</exception>
    public StaticIndexMap(StaticIndexDefinition definition, Database database, bool isTried)
    {
        if (!isTried)
        {
            definition.RequireUnambiguousReduce();
        }

        _database = database;
        Definition = definition;
        Fields = StaticRowWriter.FieldsOf(definition);
        Named = definition.NamesFields ? new NamedFields(Fields.Count) : null;
        _rows = new StaticRowWriter(definition, Fields, Named);
        _loads = new TrackedLoads(database, definition.LoadedCollections);
        _reduce = definition.CompiledReduce is { } reduce ? new ReduceRunner(reduce) : null;
        _maps = new MapRunner(definition.CompiledMaps, _loads);
        if (definition.CompiledReduce is { } reduced)
        {
            _maps.RefuseNonFinite(reduced.ReadMembers);
        }
    }

    /// <summary>The definition of the index.</summary>
    public StaticIndexDefinition Definition { get; }

    /// <inheritdoc/>
    public IReadOnlyList<string> Collections => Definition.Collections;

    /// <inheritdoc/>
    public IReadOnlyList<MappedField> Fields { get; }

    /// <inheritdoc/>
    public bool ReadsCounters => Definition.IsOfCounters;

    /// <inheritdoc/>
    public NamedFields? Named { get; }

    /// <inheritdoc/>
    public IReadOnlyList<string> LoadedCollections => Definition.LoadedCollections;

    /// <summary>
    /// The sum of 4 and of what the definition adds. 1, if two collections of the maps differ only in case that .NET
    /// ignores and the database does not: earlier versions took them for one and indexed only one of them. 2, if an
    /// analyzer removes stop words, which took positions before. 4, for an index over counters without a reduce, whose
    /// entries now store whole rows. The first four versions: since 4, NaN in rows to reduce is rejected; since 3, rows
    /// of a group have a defined order; since 2, reduce keys are normalised, C# values have C# types, and documents
    /// loaded from collections that the map does not name are tracked, too.
    /// </summary>
    public int ContentVersion =>
        (WereMerged(Collections) || WereMerged(LoadedCollections) ? 5 : 4)
        + (MappedField.DropStopWords(Fields) ? 2 : 0)
        + (ReadsCounters && _reduce is null ? 4 : 0);

    /// <summary>The snapshot that maps load documents and counters from; null for the newest one.</summary>
    internal DatabaseReader? LoadSource
    {
        private get;
        set => _loads.Source = field = value;
    }

    private static bool WereMerged(IReadOnlyList<string> collections) =>
        collections.Distinct(StringComparer.OrdinalIgnoreCase).Count() < collections.Count;

    /// <inheritdoc/>
    public void Map(in QueriedDocument document, IndexEntry entry)
    {
        _entry = _loads.Entry = entry;
        using var newest = ReadsCounters && LoadSource is null ? _database.OpenReader() : default(DatabaseReader?);
        _maps.Run(document, LoadSource ?? newest, this);
    }

    /// <inheritdoc/>
    public void Add(ReadOnlySpan<byte> row)
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
