using Rookery.Platform;
using Rookery.Storage.Manifest;
using Rookery.Storage.State;

namespace Rookery.Storage.Engine;

/// <summary>
/// Makes a copy of the durable state in another directory, by hard links to the run files; for backups and for
/// snapshots sent to other members.
/// </summary>
internal sealed class StoreCopy(EngineContext context)
{
    private const int CopyBytes = 256 * 1024;

    /// <summary>Fills an empty or missing directory.</summary>
    /// <returns>Position of the copied state in the log.</returns>
    public ManifestPosition CopyTo(string targetDirectory)
    {
        EngineState state = context.Published.Acquire();
        try
        {
            ManifestRecord manifest = context.Durable.Manifest;
            context.Disk.CreateDirectory(targetDirectory);
            foreach (RunEntry file in state.Runs.Files().DistinctBy(file => file.Summary.FileId))
            {
                LinkOrCopy(
                    context.Durable.PathOf(file.Summary.FileId),
                    Path.Join(targetDirectory, RunFileName.Of(file.Summary.FileId))
                );
            }

            context.Disk.SyncDirectory(targetDirectory);

            // The copy is another store: this store's journal does not belong to it.
            new ManifestSlots(context.Disk, targetDirectory, context.Io).Write(
                manifest with
                {
                    StoreId = Guid.Empty,
                    Pending = null,
                }
            );
            return manifest.Position;
        }
        finally
        {
            state.Release();
        }
    }

    private void LinkOrCopy(string source, string target)
    {
        try
        {
            context.Disk.Link(source, target);
        }
        catch (DiskException refused) when (refused.Error == Errno.CrossDevice)
        {
            Copy(source, target);
        }
    }

    private void Copy(string source, string target)
    {
        using IDiskFile from = context.Disk.Open(source, DiskOpen.Read);
        using IDiskFile to = context.Disk.Open(target, DiskOpen.CreateNew);
        byte[] buffer = new byte[CopyBytes];
        long offset = 0;
        int read = from.Read(buffer, offset);
        while (read > 0)
        {
            long begun = context.Io.Begin();
            to.Write(buffer.AsSpan(0, read), offset);
            to.Sync();
            context.Io.Record(IoKind.Backup, begun, read);
            context.Options.Pacer?.Yield(read, urgent: false);
            offset += read;
            read = from.Read(buffer, offset);
        }
    }
}
