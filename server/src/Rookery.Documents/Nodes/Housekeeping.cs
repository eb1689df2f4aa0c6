using Rookery.Storage;

namespace Rookery.Documents.Nodes;

/// <summary>
/// The work that the maintenance thread does every 15 s: scrubs 2 MiB and releases idle memory. On an idle node it also
/// flushes a memtable above 4 MiB, to free its memory. After that an idle node writes nothing.
/// </summary>
internal sealed class Housekeeping(StorageEngine storage)
{
    /// <summary>
    /// Time between two calls of <see cref="DoRound"/>. Idle memory is released after at most two rounds.
    /// </summary>
    public static readonly TimeSpan Interval = TimeSpan.FromSeconds(15);

    private const long IdleMemtableBytes = 4 << 20;

    // At this rate, 32 GB are scrubbed in three days. Reading 2 MiB takes about 10 ms.
    private const int ScrubBytes = 2 << 20;

    private long _appliedBefore = -1;
    private bool _isIdle;

    /// <summary>Runs one round. <paramref name="mayScrub"/> is false while background work is paused.</summary>
    public void DoRound(bool mayScrub = true)
    {
        long applied = storage.AppliedIndex;
        _isIdle = applied == _appliedBefore;
        _appliedBefore = applied;
        if (_isIdle && storage.Memtables.ActiveBytes > IdleMemtableBytes)
        {
            storage.Memtables.RequestFlush();
        }

        if (mayScrub)
        {
            storage.ScrubOnce(ScrubBytes);
        }

        storage.TrimIdle();
    }

    /// <summary>
    /// Releases memory that flushes and merges used. Called when they end; does nothing on a busy node.
    /// </summary>
    public void WorkEnded()
    {
        if (_isIdle)
        {
            storage.TrimIdle();
        }
    }
}
