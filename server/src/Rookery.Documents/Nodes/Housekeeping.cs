using Rookery.Storage;

namespace Rookery.Documents.Nodes;

/// <summary>
/// What the maintenance thread does four times a minute: a piece of the scrub, and giving idle memory back. A node that
/// has nothing to do flushes a large memtable once, because its memory is worth more than the write that a later flush
/// would have shared; then it writes nothing.
/// </summary>
internal sealed class Housekeeping(StorageEngine storage)
{
    /// <summary>
    /// How often <see cref="DoRound"/> is due. Memory is back within two rounds, so within the minute that it may take
    /// (design: memory is budgeted).
    /// </summary>
    public static readonly TimeSpan Interval = TimeSpan.FromSeconds(15);

    private const long IdleMemtableBytes = 4 << 20;

    // 32 GB in three days; 2 MiB take about 10 ms.
    private const int ScrubBytes = 2 << 20;

    private long _appliedBefore = -1;
    private bool _isIdle;

    /// <summary>One round, without the scrub while background work is paused.</summary>
    public void DoRound(bool mayScrub = true)
    {
        long applied = storage.AppliedIndex;
        _isIdle = applied == _appliedBefore;
        _appliedBefore = applied;
        if (_isIdle && storage.MemtableBytes > IdleMemtableBytes)
        {
            storage.RequestFlush();
        }

        if (mayScrub)
        {
            storage.ScrubOnce(ScrubBytes);
        }

        storage.TrimIdle();
    }

    /// <summary>Flushes and merges have ended for now: what they used goes at once when nobody else needs it.</summary>
    public void WorkEnded()
    {
        if (_isIdle)
        {
            storage.TrimIdle();
        }
    }
}
