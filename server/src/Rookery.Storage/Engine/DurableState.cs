using Rookery.Platform;
using Rookery.Storage.Install;
using Rookery.Storage.Manifest;
using Rookery.Storage.Memory;
using Rookery.Storage.Runs;
using Rookery.Storage.State;

namespace Rookery.Storage.Engine;

/// <summary>
/// The manifest as it is on disk, and the only way to change it. Used by the background thread; what others read of it
/// is a reference that is swapped.
/// </summary>
internal sealed class DurableState(ManifestSlots slots, ManifestRecord manifest, string directory, long firstFileId)
{
    private const long FirstRevisionOfUse = 3; // the first start that was cut off leaves 1, in one slot

    // Files of a manifest whose write failed: it may be on disk all the same, so they stay until a later one is.
    private readonly List<string> _doubtful = [];
    private ManifestRecord _manifest = manifest;
    private long _nextFileId = firstFileId;
    private long _revision = manifest.Revision;

    /// <summary>The durable manifest.</summary>
    public ManifestRecord Manifest => Volatile.Read(ref _manifest);

    /// <summary>What it says of deletions.</summary>
    public Deletions Deletions { get; private set; } = Deletions.Of(manifest);

    /// <summary>Bytes written into slots.</summary>
    public long WrittenBytes => slots.WrittenBytes;

    /// <summary>A file number that was never used.</summary>
    public long TakeFileId() => _nextFileId++;

    /// <summary>The path of a run file.</summary>
    public string PathOf(long fileId) => Path.Join(directory, RunFileName.Of(fileId));

    /// <summary>Makes a new set of runs durable and then visible.</summary>
    /// <param name="context">The engine.</param>
    /// <param name="next">The runs; the caller's reference stays the caller's.</param>
    /// <param name="position">The last batch that is in them.</param>
    /// <param name="deletions">What they leave hidden, and what is known of other deletions.</param>
    /// <param name="flushed">The memtable that they replace; null when they replace runs only.</param>
    /// <exception cref="DiskException">Nothing changed for readers; the new files may not be deleted yet, which is seen
    /// to here.</exception>
    public void Install(
        EngineContext context,
        RunSet next,
        ManifestPosition position,
        Deletions deletions,
        Memtable? flushed
    )
    {
        Invariant.Holds(position.Index >= Manifest.Position.Index, "a manifest is not behind the one before it");

        // What was applied behind an installed state came from a journal that had followed it: the mark has served.
        Write(context, Describe(next, position, deletions, position == Manifest.Position ? Manifest.Pending : null));
        RetireAllBut(context, next);
        Publish(context, next, flushed);
        context.Readers.Bound();
        Collect(context);
    }

    /// <summary>
    /// Makes another state durable and then visible, instead of all there is: runs, memtables, range tombstones and
    /// position.
    /// </summary>
    /// <param name="context">The engine.</param>
    /// <param name="next">The runs; the caller's reference stays the caller's.</param>
    /// <param name="position">What they hold.</param>
    /// <param name="deletions">What they leave hidden, and what is known of other deletions.</param>
    /// <param name="note">What the mark says that the manifest carries from now on; null for no mark.</param>
    /// <exception cref="DiskException">Nothing changed, now or later.</exception>
    /// <exception cref="StateInDoubtException">A restart shows which state counts.</exception>
    public void Replace(
        EngineContext context,
        RunSet next,
        ManifestPosition position,
        Deletions deletions,
        ReadOnlyMemory<byte>? note
    )
    {
        ManifestRecord described = Describe(next, position, deletions, pending: null);
        try
        {
            Write(
                context,
                note is { } given ? described with { Pending = new InstallMark(described.Revision, given) } : described
            );
        }
        catch (DiskException refused)
        {
            TakeBack(context, refused);
            throw;
        }

        RetireAllBut(context, next);
        lock (context.Gate)
        {
            var active = new Memtable(context.Arenas);
            Interlocked.Increment(ref context.Installs);
            context.Published.Replace(new EngineState(context.Sources, active, [], next, deletions.Ranges, position));
            active.Release();
        }

        context.Readers.Bound();
        Collect(context);
    }

    /// <summary>Takes the mark of an installed state out of the manifest.</summary>
    /// <exception cref="DiskException">It may be there still, which does no harm.</exception>
    public void TakeMarkAway(EngineContext context) =>
        Write(context, Describe(context.Published.Current.Runs, Manifest.Position, Deletions, pending: null));

    /// <summary>Writes the manifest again until neither slot holds the first revision.</summary>
    public void MarkUsed(EngineContext context)
    {
        while (Manifest.Revision < FirstRevisionOfUse)
        {
            Write(context, Describe(context.Published.Current.Runs, Manifest.Position, Deletions, Manifest.Pending));
        }
    }

    private void Write(EngineContext context, ManifestRecord written)
    {
        try
        {
            context.Disk.SyncDirectory(directory); // the names of new runs
            slots.Write(written); // from here they count
        }
        catch (DiskException)
        {
            var known = context.Published.Current.Runs.Files().Select(file => file.Summary.FileId).ToHashSet();
            _doubtful.AddRange(
                written.Files.Select(file => file.Summary.FileId).Where(id => !known.Contains(id)).Select(PathOf)
            );
            throw;
        }

        Volatile.Write(ref _manifest, written);
        Deletions = Deletions.Of(written);
    }

    // The manifest whose write failed may be on disk all the same, and another state with it: what the journal takes
    // from now on would be lost to a restart that finds it.
    private void TakeBack(EngineContext context, DiskException refused)
    {
        try
        {
            slots.Write(Describe(context.Published.Current.Runs, Manifest.Position, Deletions, Manifest.Pending));
        }
        catch (DiskException again)
        {
            throw new StateInDoubtException(refused, again);
        }

        Collect(context);
    }

    private static void RetireAllBut(EngineContext context, RunSet next)
    {
        var kept = next.Files().Select(file => file.Summary.FileId).ToHashSet();
        foreach (
            RunEntry file in context
                .Published.Current.Runs.Files()
                .Where(file => !kept.Contains(file.Summary.FileId))
                .ToArray()
        )
        {
            Retire(context, file);
        }
    }

    // Once a later manifest is durable, the files of one that may be are needed no more.
    private void Collect(EngineContext context)
    {
        _doubtful.ForEach(context.Garbage.Add);
        _doubtful.Clear();
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

        context.Sources.Damage.Forget(path); // after that: what a late reader finds in it is not noted any more
    }

    private static void Publish(EngineContext context, RunSet next, Memtable? flushed)
    {
        lock (context.Gate)
        {
            EngineState current = context.Published.Current;
            Memtable[] frozen = [.. current.Frozen.Where(memtable => memtable != flushed)];
            RangeTombstoneSet all = RangeTombstoneSet.Union([
                context.Durable.Deletions.Ranges,
                current.Active.RangeTombstones,
                .. frozen.Select(memtable => memtable.RangeTombstones),
            ]);
            context.Published.Replace(
                new EngineState(context.Sources, current.Active, frozen, next, all, current.Position)
            );
        }
    }

    private ManifestRecord Describe(RunSet runs, ManifestPosition position, Deletions deletions, InstallMark? pending)
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
            Revision = ++_revision,
            FeatureLevel = Manifest.FeatureLevel,
            Position = position,
            NextFileId = _nextFileId,
            Groups = groups,
            RangeTombstones = deletions.Ranges.Pieces,
            PastRangeTombstones = deletions.Past.Pieces,
            ForgottenThrough = deletions.ForgottenThrough,
            StoreId = Manifest.StoreId,
            Pending = pending,
        };
    }

    private static IReadOnlyList<ManifestFile> DescribeRun(SortedRun run) =>
        [
            .. run.Files.Select(file => new ManifestFile(
                file.Summary,
                file.From,
                file.DeadBytes,
                file.ClearedThrough,
                file.WrittenAs
            )),
        ];
}
