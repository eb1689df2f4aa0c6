using Rookery.Disk;

namespace Rookery.Storage;

/// <summary>
/// Puts a received state in the place of all there is. Its files get a second name in the store's directory, under numbers that were never used here, and one manifest makes them count.
/// </summary>
internal sealed class StateInstaller(EngineContext context)
{
    /// <summary>Installs.</summary>
    /// <exception cref="ReceivedStateException">A file cannot be read any more. Nothing changed.</exception>
    /// <exception cref="DiskException">The disk refused. Nothing changed.</exception>
    /// <exception cref="StateInDoubtException">A restart shows which state counts.</exception>
    public void Install(ReceivedState received, ReadOnlyMemory<byte>? note)
    {
        var numbers = received.Manifest.Files.Select(file => file.Summary.FileId).Distinct().ToDictionary(number => number, _ => context.Durable.TakeFileId());
        RunSet? runs = null;
        bool isNamed = false;
        try
        {
            foreach (var (theirs, own) in numbers)
            {
                context.Disk.Link(Path.Join(received.Directory, RunFileName.Of(theirs)), context.Durable.PathOf(own));
            }

            runs = Open(Renumber(received.Manifest, numbers));
            isNamed = true;                             // from here on a manifest may name them
            context.Durable.Replace(context, runs, received.Position, new RangeTombstoneSet(received.Manifest.RangeTombstones), note);
        }
        finally
        {
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

    private static ManifestRecord Renumber(ManifestRecord manifest, Dictionary<long, long> numbers) => manifest with
    {
        Groups = [.. manifest.Groups.Select(group => group with
        {
            SortedRuns = [.. group.SortedRuns.Select(run => (IReadOnlyList<ManifestFile>)[.. run.Select(
                file => file with { Summary = file.Summary with { FileId = numbers[file.Summary.FileId] } })])],
        })],
    };

    // With notes of its own: what is wrong with a state that is not installed is not damage of this store.
    private RunSet Open(ManifestRecord manifest)
    {
        var sources = new StorageSources(context.Sources.Tables, new DamageRegistry(static _ => { }));
        RunSet runs = new RunSetOpening(context.Disk, context.Options.Directory, context.Io, context.Cache).Open(manifest, sources);
        if (sources.Damage.Events is [var damage, ..])
        {
            runs.Release();
            throw new ReceivedStateException($"The state cannot be installed: {damage.Sentence}");
        }

        return runs;
    }
}
