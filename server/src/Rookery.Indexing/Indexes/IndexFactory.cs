using System.Collections.Concurrent;
using Rookery.Documents.Databases;
using Rookery.Documents.Indexes;
using Rookery.Indexing.Automatic;
using Rookery.Indexing.Definitions;
using Rookery.Indexing.Mapping;
using Rookery.Indexing.Reducing;
using Rookery.Platform;
using Rookery.Search.Segments.Store;
using Rookery.Storage;

namespace Rookery.Indexing.Indexes;

/// <summary>Opens the store of an index in a folder. Creates it if it is missing.</summary>
/// <exception cref="DiskException">A disk operation failed.</exception>
/// <exception cref="DamagedException">The files are damaged: the index must be rebuilt.</exception>
public delegate IIndexStore OpenIndexStore(string folder);

/// <summary>Opens the rows of a map/reduce index in a folder. Creates them if they are missing.</summary>
/// <exception cref="DiskException">A disk operation failed.</exception>
/// <exception cref="DamagedException">The files are damaged: the index must be rebuilt.</exception>
public delegate ReduceStore OpenReduceStore(string folder, IReducer reducer);

/// <summary>Creates running indexes from their definitions.</summary>
internal sealed class IndexFactory
{
    // By number: a database that is disabled and enabled, or replaced by another member's state, is a new object.
    private readonly ConcurrentDictionary<uint, DatabasePause> _pauses = [];

    /// <summary>The clock.</summary>
    public required TimeProvider Time { get; init; }

    /// <summary>Bounds how many indexes this node maintains.</summary>
    public required IndexQuota Quota { get; init; }

    /// <summary>Bounds of one step of indexing.</summary>
    public required IndexFeederOptions Options { get; init; }

    /// <summary>See <see cref="IndexHostOptions.HasReapplied"/>.</summary>
    public required Func<long, bool> HasReapplied { get; init; }

    /// <summary>Opens the store of an index.</summary>
    public required OpenIndexStore OpenStore { get; init; }

    /// <summary>Opens the rows of a map/reduce index.</summary>
    public required OpenReduceStore OpenRows { get; init; }

    /// <summary>Reports a problem to the operator, in a sentence.</summary>
    public required Action<string> TroubleFound { get; init; }

    /// <summary>Whether all indexes of a database are paused. Thread-safe.</summary>
    public DatabasePause PauseOf(Database database) =>
        _pauses.GetOrAdd(database.Number, static _ => new DatabasePause());

    /// <summary>Forgets the pauses of deleted databases.</summary>
    public void ForgetPauses(Predicate<uint> isDeleted)
    {
        foreach (uint number in _pauses.Keys.Where(number => isDeleted(number)))
        {
            _pauses.TryRemove(number, out _);
        }
    }

    /// <summary>
    /// Opens an index with its state on disk. If the state is missing or unusable, starts building the index.
    /// </summary>
    /// <exception cref="DiskException">A disk operation failed.</exception>
    /// <exception cref="IndexDefinitionException">This version of Rookery cannot run the definition.</exception>
    public RunningIndex Open(IndexFolders folders, Database database, IndexRecord record)
    {
        string mark = ReduceTrial.MarkOf(record.Definition.Span);
        bool isTried = folders.IsTried(database.Number, record.Number, mark);
        var map = MapOf(record.Definition, database, isTried);
        IIndexStore? store = null;
        try
        {
            store = OpenStoreOf(map, folders, OpenFolder());

            // A store with entries but without a watermark is from a first build that a crash interrupted. Its
            // documents may have changed since, so it is built again.
            if (store.Watermark > 0 || store.IsEmpty)
            {
                return MakeRunning(database, record, map, store);
            }
        }
        catch (Exception damaged) when (damaged is InvalidDataException or (IOException and not DiskException))
        {
            TroubleFound($"The index {record.Name} of database {database.Name} is rebuilt: {damaged.Message}");
        }

        store?.Dispose();
        folders.Delete(database.Number, record.Number);
        isTried = false;
        return MakeRunning(database, record, map, OpenStoreOf(map, folders, OpenFolder()));

        // A trial takes up to two seconds at each opening, so a passed trial is recorded in the folder.
        string OpenFolder()
        {
            string folder = folders.Open(database, record.Number, map.ContentVersion);
            if (!isTried && map is StaticIndexMap { Definition: var definition } && definition.NeedsTrial)
            {
                folders.RecordTrial(folder, mark);
            }

            return folder;
        }
    }

    // Accesses no files, and converts every exception to a rejection of this index. All members open the same
    // definition, so an exception that ended the indexing thread would end it on all members, at each start.
    private static IIndexMap MapOf(ReadOnlyMemory<byte> definition, Database database, bool isTried)
    {
        try
        {
            if (AutoIndexDefinition.TryRead(definition) is { } automatic)
            {
                return new AutoIndexMap(automatic);
            }

            if (AutoReduceDefinition.TryRead(definition) is { } grouped)
            {
                return new AutoReduceMap(grouped);
            }

            if (StaticIndexDefinition.TryRead(definition) is { } defined)
            {
                return new StaticIndexMap(defined, database, isTried);
            }

            throw new IndexDefinitionException("this version of Rookery does not know its kind.");
        }
        catch (Exception wrong) when (wrong is not (IndexDefinitionException or IOException or OutOfMemoryException))
        {
            throw new IndexDefinitionException($"this version of Rookery cannot read its definition: {wrong.Message}");
        }
    }

    private static (IReducer Reducer, IReducedRowWriter Writer)? ReduceOf(IIndexMap map) =>
        map switch
        {
            StaticIndexMap { Definition.CompiledReduce: { } reduce } defined => (
                new ReduceRunner(reduce),
                new StaticRowWriter(defined.Definition, defined.Fields)
            ),
            AutoReduceMap { Definition: var grouped } => (
                new GroupReducer(grouped.Keys.Count, grouped.Aggregates.Select(static aggregate => aggregate.Kind)),
                new GroupRowWriter(grouped)
            ),
            _ => null,
        };

    private RunningIndex MakeRunning(Database database, IndexRecord record, IIndexMap map, IIndexStore store)
    {
        var index = new RunningIndex(record, map, store, Time, HasReapplied)
        {
            Pause = new IndexPause(PauseOf(database)),
            Stopped = (stopped, why) =>
                TroubleFound(
                    $"The {(stopped.IsReplacement ? "changed definition of the index" : "index")} "
                        + $"{record.Name} of database {database.Name}: {why}"
                ),
        };
        if (store is ReducedIndexStore or LoadTrackingStore { Inner: ReducedIndexStore })
        {
            var reduced = store as ReducedIndexStore ?? (ReducedIndexStore)((LoadTrackingStore)store).Inner;
            reduced.ReduceFailed = message => index.Errors.Add(new IndexError(Time.GetUtcNow(), "", "Reduce", message));
        }

        return index;
    }

    private IIndexStore OpenStoreOf(IIndexMap map, IndexFolders folders, string folder)
    {
        var opened = OpenStore(folder);
        try
        {
            if (ReduceOf(map) is var (reducer, writer))
            {
                opened = OpenReduced(opened, reducer, writer, folders, folder);
            }

            if (map.Named is { } names)
            {
                opened = NamedFieldsStore.Open(opened, folders, folder, names);
            }

            return map.LoadedCollections.Count > 0
                ? new LoadTrackingStore(opened, OpenStore(folders.OpenPart(folder, IndexFolders.Loads)))
                : opened;
        }
        catch
        {
            opened.Dispose();
            throw;
        }
    }

    // On failure the rows are closed here, or the next attempt would find them locked. Opening a ReducedIndexStore may
    // fail, because it writes the entries that a crash left out.
    private ReducedIndexStore OpenReduced(
        IIndexStore entries,
        IReducer reducer,
        IReducedRowWriter writer,
        IndexFolders folders,
        string folder
    )
    {
        ReduceStore? rows = null;
        try
        {
            string part = folders.OpenPart(folder, IndexFolders.Rows);
            rows = OpenRows(part, reducer);
            return new ReducedIndexStore(rows, entries, reducer, writer);
        }
        catch
        {
            rows?.Dispose();
            (reducer as IDisposable)?.Dispose();
            throw;
        }
    }
}
