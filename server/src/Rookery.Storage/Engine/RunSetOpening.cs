using Rookery.Platform;
using Rookery.Storage.Manifest;
using Rookery.Storage.Runs;
using Rookery.Storage.State;

namespace Rookery.Storage.Engine;

/// <summary>Opens the runs of a manifest. A missing or damaged run is registered as damage and has no reader.</summary>
internal sealed class RunSetOpening(IDisk disk, string directory, IIoRecorder io, BlockCache cache)
{
    /// <summary>Opens all runs; the caller releases the set.</summary>
    public RunSet Open(ManifestRecord manifest, StorageSources sources)
    {
        var opened = new List<RunEntry>();
        try
        {
            var byGroup = new SortedRun[]?[RunSet.GroupLimit];
            foreach (ManifestGroup group in manifest.Groups)
            {
                byGroup[group.Group] = [.. group.SortedRuns.Select(run => new SortedRun([.. run.Select(OpenFile)]))];

                RunEntry OpenFile(ManifestFile file)
                {
                    RunEntry entry = Open(file);
                    opened.Add(entry);
                    if (entry.Damage is not null)
                    {
                        _ = sources.Damage.Register(entry.Damage, entry, sources.Tables.NamesOf(group.Group));
                    }

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

    /// <summary>Opens one run; its reader has one reference.</summary>
    public RunEntry Open(ManifestFile file)
    {
        string path = Path.Join(directory, RunFileName.Of(file.Summary.FileId));
        RunReader? reader = RunReader.Open(disk, path, file.WrittenAs, cache, io, out RunDamage? damage);
        if (reader is not null && reader.Summary.DifferenceFrom(file.Summary) is { } different)
        {
            reader.Release();
            reader = null;
            damage = new RunDamage(
                path,
                Offset: -1,
                Length: 0,
                $"its {different} not the one in the manifest, so it is another file than the one written here"
            );
        }

        if (reader?.Summary.RangeTombstones > 0)
        {
            // Its rows alone would be wrong, because readers use only the manifest's range tombstones.
            reader.Release();
            reader = null;
            damage = new RunDamage(path, Offset: -1, Length: 0, "it has range tombstones, which no version writes");
        }

        return new RunEntry
        {
            Summary = file.Summary,
            WrittenAs = file.WrittenAs,
            From = file.From,
            DeadBytes = file.DeadBytes,
            ClearedThrough = file.ClearedThrough,
            Reader = reader,
            Damage = damage,
        };
    }
}
