using Rookery.Platform;
using Rookery.Simulation;

namespace Rookery.Cluster.Tests.Stress;

/// <summary>A disk whose syncs take a random time, like a card's.</summary>
internal class SlowDisk(IDisk disk) : WrappedDisk(disk)
{
    private static readonly ManualResetEventSlim Never = new();

    /// <summary>The longest duration of a sync.</summary>
    public int MaxSyncMilliseconds { get; set; } = 2;

    public override IDiskFile Open(string path, DiskOpen mode) => new SlowFile(base.Open(path, mode), this);

    public override void SyncDirectory(string path)
    {
        WaitBeforeSync();
        base.SyncDirectory(path);
    }

    /// <summary>Blocks until a sync may begin.</summary>
    protected virtual void WaitBeforeSync() => Never.Wait(Random.Shared.Next(MaxSyncMilliseconds + 1));

    private sealed class SlowFile(IDiskFile file, SlowDisk disk) : WrappedFile(file)
    {
        public override void Sync()
        {
            disk.WaitBeforeSync();
            base.Sync();
        }
    }
}
