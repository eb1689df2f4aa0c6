using Rookery.Disk;

namespace Rookery.Storage;

/// <summary>
/// The manifest as it is on disk, and the only way to change it. Used by the background thread; what others read of it is a reference that is swapped.
/// </summary>
internal sealed class DurableState(ManifestSlots slots, ManifestRecord manifest, string directory, long firstFileId)
{
    // Files of a manifest whose write failed: it may be on disk all the same, so they stay until a later one is.
    private readonly List<string> doubtful = [];
    private ManifestRecord manifest = manifest;
    private long nextFileId = firstFileId;
    private long revision = manifest.Revision;

    /// <summary>The durable manifest.</summary>
    public ManifestRecord Manifest => Volatile.Read(ref manifest);

    /// <summary>Its range tombstones.</summary>
    public RangeTombstoneSet RangeTombstones { get; private set; } = new(manifest.RangeTombstones);

    /// <summary>Bytes written into slots.</summary>
    public long WrittenBytes => slots.WrittenBytes;

    /// <summary>A file number that was never used.</summary>
    public long TakeFileId() => nextFileId++;

    /// <summary>The path of a run file.</summary>
    public string PathOf(long fileId) => Path.Join(directory, RunFileName.Of(fileId));

    /// <summary>Makes a new set of runs durable and then visible.</summary>
    /// <param name="context">The engine.</param>
    /// <param name="next">The runs; the caller's reference stays the caller's.</param>
    /// <param name="position">The last batch that is in them.</param>
    /// <param name="rangeTombstones">What they leave hidden.</param>
    /// <param name="flushed">The memtable that they replace; null when they replace runs only.</param>
    /// <exception cref="DiskException">Nothing changed for readers; the new files may not be deleted yet, which is seen to here.</exception>
    public void Install(EngineContext context, RunSet next, ManifestPosition position, RangeTombstoneSet rangeTombstones, Memtable? flushed)
    {
        RunSet before = context.Published.Current.Runs;
        var kept = next.Files().Select(file => file.Summary.FileId).ToHashSet();
        ManifestRecord written = Describe(next, position, rangeTombstones);
        try
        {
            context.Disk.SyncDirectory(directory);      // the names of new runs
            slots.Write(written);                       // from here they count
        }
        catch (DiskException)
        {
            var known = before.Files().Select(file => file.Summary.FileId).ToHashSet();
            doubtful.AddRange(kept.Where(id => !known.Contains(id)).Select(PathOf));
            throw;
        }

        Volatile.Write(ref manifest, written);
        RangeTombstones = rangeTombstones;
        RunEntry[] removed = [.. before.Files().Where(file => !kept.Contains(file.Summary.FileId))];
        foreach (RunEntry file in removed)
        {
            Retire(context, file);
        }

        Publish(context, next, flushed);
        doubtful.ForEach(context.Garbage.Add);
        doubtful.Clear();
        context.Garbage.Collect();
    }

    private static void Retire(EngineContext context, RunEntry file)
    {
        string path = context.Durable.PathOf(file.Summary.FileId);
        if (file.Reader is { } reader)
        {
            reader.Retire(context.Garbage.Add);
        }
        else
        {
            context.Garbage.Add(path);
        }

        context.Sources.Damage.Forget(path);            // after that: what a late reader finds in it is not noted any more
    }

    private static void Publish(EngineContext context, RunSet next, Memtable? flushed)
    {
        lock (context.Gate)
        {
            EngineState current = context.Published.Current;
            Memtable[] frozen = [.. current.Frozen.Where(memtable => memtable != flushed)];
            RangeTombstoneSet all = RangeTombstoneSet.Union(
                [context.Durable.RangeTombstones, current.Active.RangeTombstones, .. frozen.Select(memtable => memtable.RangeTombstones)]);
            context.Published.Replace(new EngineState(context.Sources, current.Active, frozen, next, all, current.Position));
        }
    }

    private ManifestRecord Describe(RunSet runs, ManifestPosition position, RangeTombstoneSet rangeTombstones)
    {
        var groups = new List<ManifestGroup>();
        for (int group = 0; group < RunSet.GroupLimit; group++)
        {
            ReadOnlySpan<SortedRun> ofGroup = runs.Of((byte)group);
            if (!ofGroup.IsEmpty)
            {
                groups.Add(new ManifestGroup((byte)group, [.. ofGroup.ToArray().Select(DescribeRun)]));
            }
        }

        return new ManifestRecord
        {
            // Never the revision of an attempt that failed: that one may be on disk.
            Revision = ++revision,
            FeatureLevel = Manifest.FeatureLevel,
            Position = position,
            NextFileId = nextFileId,
            Groups = groups,
            RangeTombstones = rangeTombstones.Pieces,
            StoreId = Manifest.StoreId,
        };
    }

    private static IReadOnlyList<ManifestFile> DescribeRun(SortedRun run) =>
        [.. run.Files.Select(file => new ManifestFile(file.Summary, file.From, file.DeadBytes, file.ClearedThrough))];
}
