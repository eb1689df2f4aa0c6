using Rookery.Journal;
using Rookery.Platform;
using Rookery.Storage;

namespace Rookery.Documents.Nodes;

/// <summary>
/// The background work of a node in small steps, the most urgent first: what was asked for, flushes, a spare segment of
/// the journal, compaction. Steps are done by one thread; anybody may ask.
/// </summary>
public sealed class BackgroundWork : IDisposable
{
    // Beyond so many segments the memtable is flushed although it is not full, so that a restart replays no more than
    // that.
    private const int SegmentsToReplay = 8;

    private readonly StorageEngine _storage;
    private readonly NodeJournal _journal;
    private readonly NodeSpace _space;
    private readonly long _segmentBytes;
    private readonly BackgroundRequests _asked = new();

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
    /// How much of a core the work takes: all of it, until a thread of its own does that work beside others.
    /// </summary>
    internal DutyCyclePacer Pacer { get; }

    /// <summary>Does something between two steps, which must not go on beside it.</summary>
    /// <returns>What it came to, once it was its turn; it ends with the exception that <paramref name="work"/> throws,
    /// or an <see cref="IOException"/> when the node stops before.</returns>
    public Task<T> DoAsync<T>(Func<T> work)
    {
        var done = _asked.AddAsync(work);
        _storage.Memtables.WorkArrived?.Invoke();
        return done;
    }

    /// <summary>Does the work that is due, one small step. To be called by one thread.</summary>
    /// <returns>Whether there was something to do.</returns>
    /// <exception cref="DiskException">No spare segment could be made, and there is nothing to compact.</exception>
    public bool DoStep()
    {
        if (_asked.RunNext())
        {
            return true;
        }

        // Where the journal lacks room a flush helps as soon as it lets go of a whole segment: before that, each would
        // write runs and give nothing back.
        int segments = _space.IsJournalLow ? 1 : SegmentsToReplay;
        bool isJournalLong = _journal.BytesAbove(_storage.Durable.Index) > segments * _segmentBytes;
        if (isJournalLong && _storage.AppliedIndex > _storage.Durable.Index)
        {
            _storage.Memtables.RequestFlush();
        }

        return _storage.Memtables.FlushIfDue() || PrepareSpareOrCompact();
    }

    /// <summary>Fails what still waits to be done, and ends the rests between pieces of work.</summary>
    public void Dispose()
    {
        _asked.Close();
        Pacer.Dispose();
    }

    // The room that a spare lacks may be what compaction gives back. Heat pauses it only while there is room.
    private bool PrepareSpareOrCompact()
    {
        try
        {
            return _journal.PrepareSpare()
                || ((!Pacer.IsPaused || !_space.Data.GrowthAllowed) && _storage.CompactOnce());
        }
        catch (DiskException)
        {
            if (_storage.CompactOnce())
            {
                return true;
            }

            throw;
        }
    }
}
