using System.Security.Cryptography;
using Rookery.Platform;
using Rookery.Storage.Manifest;
using Rookery.Storage.Memory;
using Rookery.Storage.Runs;
using Rookery.Storage.State;

namespace Rookery.Storage.Engine;

/// <summary>Opens an engine in a directory.</summary>
internal sealed class EngineOpening(IDisk disk, StorageOptions options, IIoRecorder io, TimeProvider time)
{
    /// <summary>Reads the newest manifest and opens its runs.</summary>
    public EngineContext Open(MemoryBudget budget, Action<DamageEvent> damageFound)
    {
        IReadOnlyList<string> names = ListDirectory();
        var slots = new ManifestSlots(disk, options.Directory, io);
        var tables = new TableMap(options.Tables);
        ManifestRecord manifest = slots.Read() is { } newest ? Settle(slots, newest, tables) : MakeFirst(slots, names);
        StorageOptions sized = WithSizes(budget);
        var sources = new StorageSources(tables, new DamageRegistry(damageFound));
        var cache = new BlockCache(budget.AddShare("block cache", sized.CacheBytes));
        RunSet? runs = null;
        try
        {
            runs = new RunSetOpening(disk, options.Directory, io, cache).Open(manifest, sources);
            var arenas = new ArenaPool(
                budget.AddShare("memtable", (WriterMemtables + ReaderMemtables) * sized.MemtableBytes)
            );
            long lastFileId = names
                .Select(name => RunFileName.TryParse(name, out long id) ? id : 0)
                .DefaultIfEmpty()
                .Max();
            var durable = new DurableState(
                slots,
                manifest,
                options.Directory,
                FileNumbers.FirstFrom(Math.Max(manifest.NextFileId, lastFileId + 1))
            );
            return new EngineContext
            {
                Disk = disk,
                Options = sized,
                Io = io,
                Cache = cache,
                Arenas = arenas,
                Sources = sources,
                Published = new PublishedState(FirstState(manifest, sources, runs, arenas), time),
                Durable = durable,
                Garbage = new GarbageFiles(disk),
                RetainedTombstones = sized.RetainedTombstones,
                LeftOvers = options.IsReadOnly ? [] : LeftOvers(manifest, names),
            };
        }
        catch
        {
            runs?.Release();
            runs = null;
            cache.Dispose();
            throw;
        }
        finally
        {
            // The published state holds its own reference.
            runs?.Release();
        }
    }

    private static EngineState FirstState(
        ManifestRecord manifest,
        StorageSources sources,
        RunSet runs,
        ArenaPool arenas
    )
    {
        var active = new Memtable(arenas, sources.Tables);
        var state = new EngineState(
            sources,
            active,
            [],
            runs,
            new RangeTombstoneSet(manifest.RangeTombstones),
            manifest.Position
        );
        active.Release();
        return state;
    }

    private IReadOnlyList<string> ListDirectory()
    {
        if (!options.IsReadOnly)
        {
            disk.CreateDirectory(options.Directory);
        }

        return disk.List(options.Directory);
    }

    private ManifestRecord Settle(ManifestSlots slots, ManifestRecord newest, TableMap tables)
    {
        if (newest.FindUnknownGroup(tables) is { } unknown)
        {
            throw new StorageFormatException(
                $"{options.Directory} has rows of group {unknown}, which this program does not know: start the newer "
                    + "program that wrote them, or restore a backup."
            );
        }

        if (newest.Since is not null)
        {
            throw new StorageFormatException($"{options.Directory} holds only the changes of a state.");
        }

        if (options.IsReadOnly)
        {
            return newest;
        }

        slots.Settle();
        if (newest.StoreId != Guid.Empty)
        {
            return newest;
        }

        ManifestRecord withId = newest with { Revision = newest.Revision + 1, StoreId = NewStoreId() };
        slots.Write(withId);
        return withId;
    }

    private static Guid NewStoreId() => new(RandomNumberGenerator.GetBytes(16));

    private ManifestRecord MakeFirst(ManifestSlots slots, IReadOnlyList<string> names)
    {
        // The first manifest is durable before the first run is written. So runs without a manifest belong to a store
        // that lost its manifest, and must not be deleted.
        if (options.IsReadOnly || options.ExistedBefore || names.Any(name => RunFileName.TryParse(name, out _)))
        {
            throw new StorageFormatException(
                $"{options.Directory} was in use before and has no manifest that can be trusted: {slots.Describe()}. "
                    + "Nothing was changed. Restore the last version of one of them, or restore a backup."
            );
        }

        var first = new ManifestRecord
        {
            Revision = 1,
            FeatureLevel = ManifestSlots.FeatureLevel,
            Position = default,
            NextFileId = 1,
            Groups = [],
            RangeTombstones = [],
            PastRangeTombstones = [],
            DroppedThrough = 0,
            StoreId = NewStoreId(),
        };
        slots.Write(first);
        disk.SyncDirectory(options.Directory); // a killed process may have created the slot without syncing its name
        return first;
    }

    private List<string> LeftOvers(ManifestRecord manifest, IReadOnlyList<string> names)
    {
        var idsInManifest = manifest.Files.Select(file => file.Summary.FileId).ToHashSet();
        return
        [
            .. names
                .Where(name => RunFileName.TryParse(name, out long id) && !idsInManifest.Contains(id))
                .Select(name => Path.Join(options.Directory, name)),
        ];
    }

    // Writers fill one memtable while another is flushed.
    private const int WriterMemtables = 2;

    // A reader that starts during a flush keeps two memtables alive, each up to one batch larger than its size. The
    // limit allows at least one such reader.
    private const int ReaderMemtables = 3;

    private StorageOptions WithSizes(MemoryBudget budget)
    {
        // By default, five memtables of an eighth each and the block cache together are the whole budget.
        long memtableBytes =
            options.MemtableBytes > 0
                ? options.MemtableBytes
                : Math.Clamp(budget.TotalBytes / 8, 1024 * 1024, 64 * 1024 * 1024);
        return options with
        {
            MemtableBytes = memtableBytes,
            CacheBytes = options.CacheBytes > 0 ? options.CacheBytes : budget.TotalBytes * 3 / 8,
            ReaderMemoryBytes =
                options.ReaderMemoryBytes > 0 ? options.ReaderMemoryBytes : ReaderMemtables * memtableBytes,
        };
    }
}
