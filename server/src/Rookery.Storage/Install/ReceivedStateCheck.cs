using Rookery.Platform;
using Rookery.Storage.Engine;
using Rookery.Storage.Manifest;
using Rookery.Storage.Runs;
using Rookery.Storage.State;

namespace Rookery.Storage.Install;

/// <summary>
/// Verifies every byte of a received snapshot and syncs its files. Runs on any thread and takes no lock.
/// </summary>
internal sealed class ReceivedStateCheck(EngineContext context, string directory)
{
    private const long StepBytes = 256 * 1024;

    /// <summary>Checks manifest and runs.</summary>
    /// <exception cref="ReceivedStateException">This store cannot install the snapshot.</exception>
    public ReceivedState Run(Action<long>? progress)
    {
        ManifestRecord manifest = ReadManifest();
        long checkedBytes = 0;
        foreach (ManifestGroup group in manifest.Groups)
        {
            var files = group.SortedRuns.SelectMany(run => run).DistinctBy(file => file.Summary.FileId);
            foreach (ManifestFile file in files)
            {
                Check(file);
                checkedBytes += file.Summary.FileBytes;
                progress?.Invoke(checkedBytes);
            }
        }

        context.Disk.SyncDirectory(directory);
        return new ReceivedState(directory, manifest);
    }

    private ManifestRecord ReadManifest()
    {
        ManifestRecord manifest =
            new ManifestSlots(context.Disk, directory, context.Io).Read()
            ?? throw new ReceivedStateException(
                $"{directory} holds no manifest that can be trusted: the state has to be fetched again."
            );
        if (manifest.FindUnknownGroup(context.Sources.Tables) is not null)
        {
            throw new ReceivedStateException(
                $"The state in {directory} was made by a newer version of Rookery than this one: start that "
                    + $"version here."
            );
        }

        return manifest;
    }

    private void Check(ManifestFile file)
    {
        string path = Path.Join(directory, RunFileName.Of(file.Summary.FileId));
        if (!context.Disk.Exists(path))
        {
            throw new ReceivedStateException($"{path} is missing: the state has to be fetched again.", path);
        }

        using (IDiskFile written = context.Disk.Open(path, DiskOpen.ReadWrite))
        {
            written.Sync();
        }

        RunEntry entry = new RunSetOpening(context.Disk, directory, context.Io, context.Cache).Open(file);
        try
        {
            RunDamage? damage = entry.Damage;
            long offset = 0;
            while (damage is null && offset < file.Summary.FileBytes)
            {
                long from = offset;
                damage = entry.Reader!.Verify(from, StepBytes, out offset);
                context.Options.Pacer?.Yield(offset - from, urgent: false);
            }

            if (damage is not null)
            {
                throw new ReceivedStateException(
                    $"{path} is damaged at byte {Math.Max(0, damage.Offset)} ({damage.Reason}): the state "
                        + $"has to be fetched again, from another member if it is damaged there.",
                    path
                );
            }
        }
        finally
        {
            entry.Reader?.Release();
        }
    }
}
