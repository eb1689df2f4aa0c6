using Rookery.Journal;
using Rookery.Platform;
using Rookery.Storage;

namespace Rookery.Documents.Nodes;

/// <summary>
/// Background work of a node in small steps, the most urgent first: requested work, flushes, a spare segment of the
/// journal, merges. One thread executes the steps; any thread may request work.
/// </summary>
public sealed class BackgroundWork : IDisposable
{
    // If a start would have to read more segments than this, the memtable is flushed although it is not full.
    private const int SegmentsToReplay = 8;

    private readonly StorageEngine _storage;
    private readonly NodeJournal _journal;
    private readonly NodeSpace _space;
    private readonly long _segmentBytes;
    private readonly BackgroundRequests _requests = new();

    internal BackgroundWork(
        StorageEngine storage,
        NodeJournal journal,
        NodeSpace space,
        DutyCyclePacer pacer,
        long segmentBytes
    )
    {
        _storage = storage;
        _journal = journal;
        _space = space;
        _segmentBytes = segmentBytes;
        Pacer = pacer;
    }

    /// <summary>
    /// Limits the share of a core that background work uses. Not limited (share 1) until the thread of
    /// <see cref="NodeMaintenance"/> starts: before that, apply waits for the work.
    /// </summary>
    internal DutyCyclePacer Pacer { get; }

    /// <summary>Runs work between two steps, never during a step.</summary>
    /// <returns>The result of <paramref name="work"/>, once it ran. The task fails with the exception that
    /// <paramref name="work"/> throws, or with an <see cref="IOException"/> if the node stops first.</returns>
    public Task<T> DoAsync<T>(Func<T> work)
    {
        var done = _requests.AddAsync(work);
        _storage.Memtables.WorkArrived?.Invoke();
        return done;
    }

    /// <summary>Executes one small step of due work. Call it on one thread.</summary>
    /// <returns>Whether there was any.</returns>
    /// <exception cref="DiskException">No spare segment could be prepared, and there is nothing to merge.</exception>
    public bool DoStep()
    {
        if (_requests.RunNext())
        {
            return true;
        }

        // If the journal lacks room, a flush helps only if it releases a whole segment.
        int segments = _space.IsJournalLow ? 1 : SegmentsToReplay;
        bool isJournalLong = _journal.BytesAbove(_storage.Durable.Index) > segments * _segmentBytes;
        if (isJournalLong && _storage.AppliedIndex > _storage.Durable.Index)
        {
            _storage.Memtables.RequestFlush();
        }

        return _storage.Memtables.FlushIfDue() || PrepareSpareOrMerge();
    }

    /// <summary>Fails all queued work, and ends the pauses between pieces of work.</summary>
    public void Dispose()
    {
        _requests.Close();
        Pacer.Dispose();
    }

    // If the disk lacks room for a spare segment, a merge may free some. High temperature pauses merges only while
    // there is room.
    private bool PrepareSpareOrMerge()
    {
        try
        {
            return _journal.PrepareSpare() || ((!Pacer.IsPaused || !_space.Data.AllowsGrowth) && _storage.MergeOnce());
        }
        catch (DiskException)
        {
            if (_storage.MergeOnce())
            {
                return true;
            }

            throw;
        }
    }
}
