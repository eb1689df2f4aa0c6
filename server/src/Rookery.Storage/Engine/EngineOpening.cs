using System.Security.Cryptography;
using Rookery.Disk;

namespace Rookery.Storage;

/// <summary>The way from a directory to an open engine.</summary>
internal sealed class EngineOpening(IDisk disk, StorageOptions options, IIoRecorder io, TimeProvider time)
{
    private const int FeatureLevel = 1;

    /// <summary>Reads the newest manifest, opens its runs and deletes what no manifest names.</summary>
    public EngineContext Open(MemoryBudget budget, Action<DamageEvent> damageFound)
    {
        IReadOnlyList<string> names = ListDirectory();
        var slots = new ManifestSlots(disk, options.Directory, io);
        ManifestRecord manifest = slots.Read() is { } newest ? Settle(slots, newest) : MakeFirst(slots, names);
        StorageOptions sized = WithSizes(budget);
        var sources = new StorageSources(new TableMap(options.Tables), new DamageRegistry(damageFound));
        var cache = new BlockCache(budget.AddShare("block cache", sized.CacheBytes));
        RunSet? runs = null;
        try
        {
            runs = OpenRuns(manifest, sources, cache);
            if (runs.Files().All(file => file.IsReadable))
            {
                // Otherwise this may be the older of two manifests, the newer one being damaged, and what looks left over may be all there is.
                DeleteLeftOvers(manifest, names);
            }

            var arenas = new ArenaPool(budget.AddShare("memtable", 4 * sized.MemtableBytes));
            long lastFileId = names.Select(name => RunFileName.TryParse(name, out long id) ? id : 0).DefaultIfEmpty().Max();
            var durable = new DurableState(slots, manifest, options.Directory, Math.Max(manifest.NextFileId, lastFileId + 1));
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
            runs?.Release();
        }
    }

    private static EngineState FirstState(ManifestRecord manifest, StorageSources sources, RunSet runs, ArenaPool arenas)
    {
        var active = new Memtable(arenas);
        var state = new EngineState(sources, active, [], runs, new RangeTombstoneSet(manifest.RangeTombstones), manifest.Position);
        active.Release();
        return state;
    }

    private IReadOnlyList<string> ListDirectory()
    {
        if (!options.ReadOnly)
        {
            disk.CreateDirectory(options.Directory);
        }

        return disk.List(options.Directory);
    }

    private ManifestRecord Settle(ManifestSlots slots, ManifestRecord newest)
    {
        if (options.ReadOnly)
        {
            return newest;
        }

        slots.Settle(newest);
        if (newest.StoreId != Guid.Empty)
        {
            return newest;
        }

        ManifestRecord named = newest with { Revision = newest.Revision + 1, StoreId = NewStoreId() };
        slots.Write(named);
        return named;
    }

    private static Guid NewStoreId() => new(RandomNumberGenerator.GetBytes(16));

    private ManifestRecord MakeFirst(ManifestSlots slots, IReadOnlyList<string> names)
    {
        // The first manifest is durable before the first run is written: runs without one are not ours to delete.
        if (options.ReadOnly || names.Any(name => RunFileName.TryParse(name, out _)))
        {
            throw new StorageFormatException(
                $"{options.Directory} has no manifest that can be trusted: restore a backup, or move the directory away to start empty.");
        }

        var first = new ManifestRecord
        {
            Revision = 1,
            FeatureLevel = FeatureLevel,
            Position = default,
            NextFileId = 1,
            Groups = [],
            RangeTombstones = [],
            StoreId = NewStoreId(),
        };
        slots.Write(first);
        disk.SyncDirectory(options.Directory);          // a killed process may have made the slot, and not its name durable
        return first;
    }

    private RunSet OpenRuns(ManifestRecord manifest, StorageSources sources, BlockCache cache)
    {
        var opened = new List<RunEntry>();
        try
        {
            var byGroup = new SortedRun[]?[RunSet.GroupLimit];
            foreach (ManifestGroup group in manifest.Groups)
            {
                byGroup[group.Group] = [.. group.SortedRuns.Select(run => new SortedRun([.. run.Select(Open)]))];

                RunEntry Open(ManifestFile file)
                {
                    RunEntry entry = this.Open(file, group.Group, sources, cache);
                    opened.Add(entry);
                    return entry;
                }
            }

            return new RunSet(byGroup);
        }
        finally
        {
            opened.ForEach(static file => file.Reader?.Release()); // the set has its own references
        }
    }

    private RunEntry Open(ManifestFile file, byte group, StorageSources sources, BlockCache cache)
    {
        string path = Path.Join(options.Directory, RunFileName.Of(file.Summary.FileId));
        RunReader? reader = RunReader.Open(disk, path, file.Summary.FileId, cache, io, out RunDamage? damage);
        if (reader is not null && reader.Summary.FileBytes != file.Summary.FileBytes)
        {
            reader.Release();
            reader = null;
            damage = new RunDamage(path, -1, 0, "its length is not the one in the manifest");
        }

        var entry = new RunEntry
        {
            Summary = file.Summary,
            From = file.From,
            DeadBytes = file.DeadBytes,
            ClearedThrough = file.ClearedThrough,
            Reader = reader,
            Damage = damage,
        };
        if (damage is not null)
        {
            _ = sources.Damage.Note(damage, entry, sources.Tables.NamesOf(group));
        }

        return entry;
    }

    private void DeleteLeftOvers(ManifestRecord manifest, IReadOnlyList<string> names)
    {
        if (options.ReadOnly)
        {
            return;
        }

        var named = manifest.Groups.SelectMany(group => group.SortedRuns).SelectMany(run => run).Select(file => file.Summary.FileId).ToHashSet();
        foreach (string name in names)
        {
            if (RunFileName.TryParse(name, out long id) && !named.Contains(id))
            {
                disk.Delete(Path.Join(options.Directory, name));
            }
        }
    }

    private StorageOptions WithSizes(MemoryBudget budget) => options with
    {
        MemtableBytes = options.MemtableBytes > 0 ? options.MemtableBytes : Math.Clamp(budget.TotalBytes / 8, 1024 * 1024, 64 * 1024 * 1024),
        CacheBytes = options.CacheBytes > 0 ? options.CacheBytes : budget.TotalBytes * 3 / 8,
    };
}
