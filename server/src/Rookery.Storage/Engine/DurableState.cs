using Rookery.Platform;
using Rookery.Storage.Install;
using Rookery.Storage.Manifest;
using Rookery.Storage.Memory;
using Rookery.Storage.Runs;
using Rookery.Storage.State;

namespace Rookery.Storage.Engine;

/// <summary>
/// The durable manifest of an engine. Every change of the manifest is made here, by the background thread. Other
/// threads only read the current manifest.
/// </summary>
internal sealed class DurableState(ManifestSlots slots, ManifestRecord manifest, string directory, long firstFileId)
{
    // An interrupted first start leaves revision 1 in one slot. From revision 3 on, both slots prove that the store was
    // in use.
    private const long FirstRevisionOfUse = 3;

    // New files of a manifest whose write failed. That manifest may be on disk anyway, so they are kept until a later
    // one is durable (SettleDoubt).
    private readonly List<string> _doubtful = [];
    private ManifestRecord _manifest = manifest;
    private long _nextFileId = firstFileId;
    private long _revision = manifest.Revision;

    /// <summary>The durable manifest.</summary>
    public ManifestRecord Manifest => Volatile.Read(ref _manifest);

    /// <summary>The deletions of the durable manifest.</summary>
    public Deletions Deletions { get; private set; } = Deletions.Of(manifest);

    /// <summary>Bytes written into manifest slots.</summary>
    public long WrittenBytes => slots.WrittenBytes;

    /// <summary>Returns an unused file number.</summary>
    public long AllocateFileId() => _nextFileId++;

    /// <summary>Returns the path of a run file.</summary>
    public string PathOf(long fileId) => Path.Join(directory, RunFileName.Of(fileId));

    /// <summary>
    /// Writes the current manifest again and deletes the files of a manifest whose write failed; does nothing if none
    /// failed. Call it before writing new files: if files can be written and manifests cannot, each retry would
    /// otherwise leave its files until the disk is full.
    /// </summary>
    /// <exception cref="DiskException">The manifest still cannot be written.</exception>
    public void SettleDoubt(EngineContext context)
    {
        if (_doubtful.Count > 0)
        {
            Write(context, Describe(context.Published.Current.Runs, Manifest.Position, Deletions, Manifest.Pending));
            Collect(context);
        }
    }

    /// <summary>Makes a new set of runs durable, then visible.</summary>
    /// <param name="context">The engine.</param>
    /// <param name="next">The runs; the caller keeps its reference.</param>
    /// <param name="position">Position of the last batch in the runs.</param>
    /// <param name="deletions">The deletions, including those that hide rows of the runs.</param>
    /// <param name="flushed">The memtable that the runs replace; null if they replace runs only.</param>
    /// <exception cref="DiskException">Nothing changed for readers. The new files are kept until
    /// <see cref="SettleDoubt"/>, or another manifest, deletes them.</exception>
    public void Install(
        EngineContext context,
        RunSet next,
        ManifestPosition position,
        Deletions deletions,
        Memtable? flushed
    )
    {
        Invariant.Holds(position.Index >= Manifest.Position.Index, "the index of the manifest never falls");

        // If a batch was applied after the installed snapshot, the journal was already reset, so the mark is no longer
        // needed.
        InstallMark? pending = position == Manifest.Position ? Manifest.Pending : null;
        Write(context, Describe(next, position, deletions, pending));
        RetireAllBut(context, next);
        Publish(context, next, flushed);
        context.Readers.EndExcessive();
        Collect(context);
    }

    /// <summary>
    /// Replaces the whole state (runs, memtables, range tombstones, position), first durably and then visibly.
    /// </summary>
    /// <param name="context">The engine.</param>
    /// <param name="next">The runs; the caller keeps its reference.</param>
    /// <param name="position">Position of the new state in the log.</param>
    /// <param name="deletions">The deletions, including those that hide rows of the runs.</param>
    /// <param name="note">The note of an <see cref="InstallMark"/> in the manifest; null for no mark.</param>
    /// <exception cref="DiskException">Nothing changed, neither now nor after a restart.</exception>
    /// <exception cref="StateInDoubtException">Only a restart shows which state is in force.</exception>
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
                note is { } data ? described with { Pending = new InstallMark(described.Revision, data) } : described
            );
        }
        catch (DiskException refused)
        {
            RestoreManifest(context, refused);
            throw;
        }

        RetireAllBut(context, next);
        lock (context.Gate)
        {
            var active = new Memtable(context.Arenas, context.Sources.Tables);
            Interlocked.Increment(ref context.Installs);
            context.Published.Replace(new EngineState(context.Sources, active, [], next, deletions.Ranges, position));
            active.Release();
        }

        context.Readers.EndExcessive();
        Collect(context);
    }

    /// <summary>Removes the mark of an installed snapshot from the manifest.</summary>
    /// <exception cref="DiskException">The mark may remain, which does no harm.</exception>
    public void RemoveMark(EngineContext context) =>
        Write(context, Describe(context.Published.Current.Runs, Manifest.Position, Deletions, pending: null));

    /// <summary>Writes the manifest again until neither slot contains the first revision.</summary>
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
            context.Disk.SyncDirectory(directory); // makes the names of new runs durable
            slots.Write(written); // the manifest, and with it the new runs, is now in force
        }
        catch (DiskException)
        {
            var currentIds = context.Published.Current.Runs.Files().Select(file => file.Summary.FileId).ToHashSet();
            _doubtful.AddRange(
                written.Files.Select(file => file.Summary.FileId).Where(id => !currentIds.Contains(id)).Select(PathOf)
            );
            throw;
        }

        Volatile.Write(ref _manifest, written);
        Deletions = Deletions.Of(written);
    }

    // Writes the previous manifest again. The manifest whose write failed may be on disk anyway, with another state,
    // and a restart that finds it would lose all later journal entries.
    private void RestoreManifest(EngineContext context, DiskException refused)
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
        var keptIds = next.Files().Select(file => file.Summary.FileId).ToHashSet();
        RunEntry[] retired =
        [
            .. context.Published.Current.Runs.Files().Where(file => !keptIds.Contains(file.Summary.FileId)),
        ];
        foreach (RunEntry file in retired)
        {
            Retire(context, file);
        }
    }

    // Once a later manifest is durable, the files of the doubtful one are no longer needed.
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

        context.Sources.Damage.Forget(path); // after Retire, so that a late reader registers nothing
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

        // Never reuses the revision of a failed attempt, whose manifest may be on disk.
        _revision++;
        return new ManifestRecord
        {
            Revision = _revision,
            FeatureLevel = Manifest.FeatureLevel,
            Position = position,
            NextFileId = _nextFileId,
            Groups = groups,
            RangeTombstones = deletions.Ranges.Pieces,
            PastRangeTombstones = deletions.Past.Pieces,
            DroppedThrough = deletions.DroppedThrough,
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
