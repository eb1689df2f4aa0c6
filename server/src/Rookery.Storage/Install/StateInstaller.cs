using Rookery.Platform;
using Rookery.Storage.Engine;
using Rookery.Storage.Manifest;
using Rookery.Storage.Runs;
using Rookery.Storage.State;

namespace Rookery.Storage.Install;

/// <summary>
/// Installs a received snapshot, which replaces the whole state, or received changes, which are added to it. Links the
/// files into the store's directory under new numbers, then writes one manifest that names them.
/// </summary>
public sealed class StateInstaller
{
    private readonly EngineContext _context;
    private readonly WriteBatch _batch;
    private readonly Memtables _memtables;

    internal StateInstaller(EngineContext context, WriteBatch batch, Memtables memtables)
    {
        _context = context;
        _batch = batch;
        _memtables = memtables;
    }

    /// <summary>The mark of an installed snapshot for which the journal was not reset yet; null if none.</summary>
    public InstallMark? Pending => _context.Durable.Manifest.Pending;

    /// <summary>
    /// Verifies every byte of a snapshot that was fetched from another node, and makes it durable. May be called by any
    /// thread while the store is in use.
    /// </summary>
    /// <param name="directory">The directory with the files of a <see cref="StorageEngine.CopyTo"/>, on the file
    /// system of this store.</param>
    /// <param name="progress">Receives the number of verified bytes.</param>
    /// <exception cref="ReceivedStateException">The snapshot is incomplete or damaged, or a newer version wrote
    /// it.</exception>
    /// <exception cref="StorageFormatException">The snapshot's manifest has a newer format.</exception>
    /// <exception cref="DiskException">A disk operation failed.</exception>
    public ReceivedState Check(string directory, Action<long>? progress = null) =>
        new ReceivedStateCheck(_context, directory).Run(progress);

    /// <summary>
    /// Replaces the whole state by a received snapshot, including applied rows that are not flushed, or adds received
    /// changes to the state. Writes one manifest, so a power cut leaves the old state or the new one. Open snapshots
    /// keep their state. The store keeps its id. Call it on the background thread while no entry is applied.
    /// </summary>
    /// <param name="state">The verified snapshot, not older than <see cref="StorageEngine.AppliedIndex"/>.</param>
    /// <param name="note">If the journal must be reset: data for <see cref="Pending"/>, which remains until
    /// <see cref="Complete"/>, even after a crash. Null if the journal contains the snapshot's last entry and need not
    /// be reset.</param>
    /// <exception cref="ReceivedStateException">The snapshot is older than the applied state, does not fit onto it, or
    /// cannot be read. Nothing changed.</exception>
    /// <exception cref="DiskException">A disk operation failed. Nothing changed.</exception>
    /// <exception cref="StateInDoubtException">A disk operation failed, and only a restart shows which state is in
    /// force. Nothing may be acknowledged before.</exception>
    public void Install(ReceivedState state, ReadOnlyMemory<byte>? note)
    {
        Invariant.Holds(!_batch.IsOpen, "a state is installed while nothing is applied");
        ManifestPosition applied = _context.Published.Current.Position;
        if (state.Position.Index < applied.Index)
        {
            throw new ReceivedStateException(
                $"The fetched state ends at index {state.Position.Index}, but index {applied.Index} is already "
                    + $"applied here, so the fetched state is not needed."
            );
        }

        if (state.Since is { } since)
        {
            PrepareFor(since);
        }

        Replace(state, note);
        _memtables.ClearFlush();
    }

    /// <summary>Removes the mark, after the journal was reset. Called by the background thread.</summary>
    /// <exception cref="DiskException">The mark remains for now. The next start resets the journal again, which does no
    /// harm.</exception>
    public void Complete()
    {
        if (Pending is not null)
        {
            _context.Durable.RemoveMark(_context);
        }
    }

    // Changes are installed on top of the current runs, which must contain all applied rows and be undamaged.
    private void PrepareFor(long since)
    {
        long sequence = _context.Published.Current.Position.Sequence;
        if (since > sequence)
        {
            throw new ReceivedStateException(
                $"The fetched changes begin at etag {since}, but only etag {sequence} is applied here, so changes "
                    + $"in between are missing."
            );
        }

        if (!_context.Sources.Damage.IsEmpty)
        {
            throw new ReceivedStateException(
                "Only changes were fetched, but a part of this node's own rows is damaged: the whole state is needed."
            );
        }

        _memtables.FlushAll();
    }

    private void Replace(ReceivedState received, ReadOnlyMemory<byte>? note)
    {
        var ownNumbers = received
            .Manifest.Files.Select(file => file.Summary.FileId)
            .Distinct()
            .ToDictionary(number => number, _ => _context.Durable.AllocateFileId());
        RunSet? runs = null;
        RunSet? next = null;
        bool isNamed = false;
        try
        {
            foreach (var (theirs, own) in ownNumbers)
            {
                _context.Disk.Link(Path.Join(received.Directory, RunFileName.Of(theirs)), _context.Durable.PathOf(own));
            }

            runs = Open(Renumber(received.Manifest, ownNumbers));
            SortedRun[]?[] all = runs.ToArrays();
            Deletions deletions = received.Since is null
                ? Deletions.Of(received.Manifest)
                : AddChanges(all, new RangeTombstoneSet(received.Manifest.RangeTombstones));
            next = new RunSet(all);
            isNamed = true; // a manifest on disk may name the files from now on
            _context.Durable.Replace(_context, next, received.Position, deletions, note);
        }
        finally
        {
            next?.Release();
            runs?.Release();
            if (!isNamed)
            {
                foreach (long own in ownNumbers.Values)
                {
                    _context.Garbage.Add(_context.Durable.PathOf(own));
                }

                _context.Garbage.Collect();
            }
        }
    }

    private static ManifestRecord Renumber(ManifestRecord manifest, Dictionary<long, long> ownNumbers)
    {
        ManifestFile RenumberFile(ManifestFile file) =>
            file with
            {
                Summary = file.Summary with { FileId = ownNumbers[file.Summary.FileId] },
            };

        IReadOnlyList<ManifestFile> RenumberRun(IReadOnlyList<ManifestFile> run) => [.. run.Select(RenumberFile)];

        return manifest with
        {
            Groups =
            [
                .. manifest.Groups.Select(group =>
                    group with
                    {
                        SortedRuns = [.. group.SortedRuns.Select(RenumberRun)],
                    }
                ),
            ],
        };
    }

    /// <summary>Inserts the received runs as the newest of each group.</summary>
    private Deletions AddChanges(SortedRun[]?[] runs, RangeTombstoneSet deleted)
    {
        RunSet own = _context.Published.Current.Runs;
        SortedRun[] released = runs[TableMap.Released] ?? [];
        for (int group = 0; group < runs.Length; group++)
        {
            runs[group] = [.. runs[group] ?? [], .. own.Of((byte)group)];
        }

        CountReleased(released, runs[TableMap.Chunks] ?? []);
        return CoveredRuns.Drop(runs, _context.Durable.Deletions.With(deleted));
    }

    private void CountReleased(SortedRun[] released, SortedRun[] chunkRuns)
    {
        var dead = new DeadChunks(_context.Options.ChunkBytes, chunkRuns);
        foreach (RunEntry file in released.SelectMany(run => run.Files))
        {
            using RunCursor rows = file.Reader!.OpenSequentialCursor(IoKind.Compaction);
            for (bool hasRow = rows.SeekForward([]); hasRow; hasRow = rows.Move())
            {
                dead.Add(rows.Key, rows.Value);
            }

            if (rows.Damage is { } damage)
            {
                throw new ReceivedStateException($"{damage.Path} cannot be read any more: {damage.Reason}.");
            }
        }

        dead.AddToRuns();
    }

    // Uses a separate damage registry: damage in a snapshot that is not installed is not damage of this store.
    private RunSet Open(ManifestRecord manifest)
    {
        var sources = new StorageSources(_context.Sources.Tables, new DamageRegistry(static _ => { }));
        RunSet runs = new RunSetOpening(_context.Disk, _context.Options.Directory, _context.Io, _context.Cache).Open(
            manifest,
            sources
        );
        if (sources.Damage.Events is [var damage, ..])
        {
            runs.Release();
            throw new ReceivedStateException($"The state cannot be installed: {damage.Sentence}");
        }

        return runs;
    }
}
