using Rookery.Platform;
using Rookery.Storage.Engine;
using Rookery.Storage.Manifest;
using Rookery.Storage.Runs;
using Rookery.Storage.State;

namespace Rookery.Storage.Install;

/// <summary>
/// Installs a received snapshot instead of the whole state, or received changes on top of it. Its files are linked into
/// the store's directory under new numbers; one manifest puts them in force.
/// </summary>
internal sealed class StateInstaller(EngineContext context)
{
    /// <summary>Installs the snapshot. Before changes are installed, all applied rows must be in runs.</summary>
    /// <exception cref="ReceivedStateException">A file is damaged. Nothing changed.</exception>
    /// <exception cref="DiskException">The disk refused. Nothing changed.</exception>
    /// <exception cref="StateInDoubtException">Only a restart shows which state is in force.</exception>
    public void Install(ReceivedState received, ReadOnlyMemory<byte>? note)
    {
        var numbers = received
            .Manifest.Files.Select(file => file.Summary.FileId)
            .Distinct()
            .ToDictionary(number => number, _ => context.Durable.TakeFileId());
        RunSet? runs = null;
        RunSet? next = null;
        bool isNamed = false;
        try
        {
            foreach (var (theirs, own) in numbers)
            {
                context.Disk.Link(Path.Join(received.Directory, RunFileName.Of(theirs)), context.Durable.PathOf(own));
            }

            runs = Open(Renumber(received.Manifest, numbers));
            SortedRun[]?[] all = runs.ToArrays();
            Deletions deletions = received.Since is null
                ? Deletions.Of(received.Manifest)
                : PutOnTop(all, new RangeTombstoneSet(received.Manifest.RangeTombstones));
            next = new RunSet(all);
            isNamed = true; // from here on a manifest may name them
            context.Durable.Replace(context, next, received.Position, deletions, note);
        }
        finally
        {
            next?.Release();
            runs?.Release();
            if (!isNamed)
            {
                foreach (long own in numbers.Values)
                {
                    context.Garbage.Add(context.Durable.PathOf(own));
                }

                context.Garbage.Collect();
            }
        }
    }

    private static ManifestRecord Renumber(ManifestRecord manifest, Dictionary<long, long> numbers) =>
        manifest with
        {
            Groups =
            [
                .. manifest.Groups.Select(group =>
                    group with
                    {
                        SortedRuns =
                        [
                            .. group.SortedRuns.Select(run =>
                                (IReadOnlyList<ManifestFile>)
                                    [
                                        .. run.Select(file =>
                                            file with
                                            {
                                                Summary = file.Summary with { FileId = numbers[file.Summary.FileId] },
                                            }
                                        ),
                                    ]
                            ),
                        ],
                    }
                ),
            ],
        };

    /// <summary>Inserts the received runs as the newest of each group.</summary>
    private Deletions PutOnTop(SortedRun[]?[] runs, RangeTombstoneSet deleted)
    {
        RunSet own = context.Published.Current.Runs;
        SortedRun[] released = runs[TableMap.Released] ?? [];
        for (int group = 0; group < runs.Length; group++)
        {
            runs[group] = [.. runs[group] ?? [], .. own.Of((byte)group)];
        }

        CountReleased(released, runs[TableMap.Chunks] ?? []);
        return CoveredRuns.Drop(runs, context.Durable.Deletions.With(deleted));
    }

    private void CountReleased(SortedRun[] released, SortedRun[] chunkRuns)
    {
        var dead = new DeadChunks(context.Options.ChunkBytes, chunkRuns);
        foreach (RunEntry file in released.SelectMany(run => run.Files))
        {
            using RunCursor rows = file.Reader!.OpenSequentialCursor(IoKind.Compaction);
            for (bool found = rows.SeekForward([]); found; found = rows.Move())
            {
                dead.Add(rows.Key, rows.Value);
            }

            if (rows.Damage is { } damage)
            {
                throw new ReceivedStateException($"{damage.Path} cannot be read any more: {damage.Reason}.");
            }
        }

        dead.Note();
    }

    // Uses a registry of its own: damage in a snapshot that is not installed is no damage of this store.
    private RunSet Open(ManifestRecord manifest)
    {
        var sources = new StorageSources(context.Sources.Tables, new DamageRegistry(static _ => { }));
        RunSet runs = new RunSetOpening(context.Disk, context.Options.Directory, context.Io, context.Cache).Open(
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
