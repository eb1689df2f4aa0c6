using Rookery.Cluster.Log;
using Rookery.Documents.Consensus;
using Rookery.Journal;
using Rookery.Platform;
using Rookery.Raft;

namespace Rookery.Cluster;

/// <summary>One journal write after the other, by who has the turn.</summary>
public sealed partial class RaftConsensus
{
    private readonly List<LogFrame> _writing = [];
    private JournalFrame[] _entries = new JournalFrame[8];
    private int _entryCount;
    private long _writeNumber;
    private long _writtenThrough;
    private long _notedCommit;
    private bool _isDue;

    /// <summary>Whether who has the turn has something to do that is not in the queue.</summary>
    internal bool HasWork =>
        Volatile.Read(ref _isDue)
        || (
            _waiting.Count > 0
            && (_leadership.MayPropose || !_leadership.IsLeader || _progress.IsBlocked || _host.IsLatched)
        );

    /// <summary>
    /// Callers of the last frame that was written and those in the queue: so many are likely to come back soon.
    /// </summary>
    internal int Callers { get; private set; }

    /// <summary>Whether what is written here waits for other members.</summary>
    internal bool AwaitsOthers => _progress.Through < Volatile.Read(ref _writtenThrough);

    /// <summary>Puts what waits into the log, and makes durable what is not.</summary>
    /// <returns>Whether there was something to do.</returns>
    internal bool WriteOnce()
    {
        int proposed = Propose();
        if (!Volatile.Read(ref _isDue))
        {
            Callers = 0;
            return false;
        }

        long begun = _host.Now;
        try
        {
            _health.BeginWrite(begun);
            _journal.Write(_entries.AsSpan(0, _entryCount));
        }
        catch (Exception failure) when (failure is DiskException or JournalLatchedException)
        {
            FailWrite(failure);
            return false;
        }

        _health.EndWrite(_host.Now - begun);
        Callers = proposed + _queue.Count;
        lock (_host.Gate)
        {
            EndWrite();
            _host.Step(Input.JournalDurable(_host.Now, _writeNumber));
            Volatile.Write(ref _writtenThrough, _host.Core.DurableIndex);
            if (_network is not null)
            {
                // What is durable can be read again. A follower whose apply lags, because its card does, gets entries
                // as fast as its journal takes them.
                _log.Frames.ReleaseUnawaitedThrough(_host.Core.DurableIndex, _options.CachedBytes);
            }

            _reads.AskForNextIfDue();
        }

        FrameWritten?.Invoke();
        return true;
    }

    /// <summary>
    /// Notes what the core wants written. Who has the turn writes it; nothing else becomes due before that is done.
    /// Under the lock.
    /// </summary>
    private void BeginWriteIfDue()
    {
        if (_host.Output.Write is not { } write)
        {
            return;
        }

        Invariant.Holds(!_isDue, "one journal write is outstanding at a time");
        _writeNumber = write.Number;
        if (write.Vote is { } vote)
        {
            Add(VoteEncoding.ToFrame(vote, _host.Core.Incarnation));
        }

        if (write.TruncateAfter >= 0)
        {
            Invariant.Holds(
                _log.Frames.TryGet(write.FirstIndex, out var first) && write.FirstIndex == write.TruncateAfter + 1,
                "a truncation is followed by what replaces it"
            );
            Add(
                new JournalFrame(
                    FrameType.Truncation,
                    write.TruncateAfter,
                    _host.Core.TermAt(write.TruncateAfter),
                    first!.Position.OperationsBefore,
                    OperationCount: 0,
                    Payload: default
                )
            );
        }

        for (long index = write.FirstIndex; index <= write.LastIndex; index++)
        {
            Invariant.Holds(_log.Frames.TryGet(index, out var frame), "what is to be written is in memory");
            frame!.Retain();
            _writing.Add(frame);
            Add(frame.Entry);
        }

        NoteCommitted(write.Committed);
        Volatile.Write(ref _isDue, true);
        _threads.Wake();
    }

    /// <summary>
    /// Tells the journal what is committed, so that a start which finds no majority shows more than the last flush
    /// knew. Only in the padding of a block that is written anyhow: no byte more goes to the card.
    /// </summary>
    private void NoteCommitted(long index)
    {
        if (index > _notedCommit && NodeJournal.HasRoomForNote(_entries.AsSpan(0, _entryCount)))
        {
            _notedCommit = index;
            Add(NodeJournal.Committed(index));
        }
    }

    private void Add(in JournalFrame entry)
    {
        if (_entryCount == _entries.Length)
        {
            Array.Resize(ref _entries, _entries.Length * 2);
        }

        _entries[_entryCount++] = entry;
    }

    private void EndWrite()
    {
        foreach (var frame in _writing)
        {
            if (_network is null)
            {
                _log.Frames.DropPayload(frame);
            }

            _log.Frames.Release(frame);
        }

        _writing.Clear();
        Array.Clear(_entries, 0, _entryCount);
        _entryCount = 0;
        Volatile.Write(ref _isDue, false);
    }

    private void FailWrite(Exception failure)
    {
        _host.Latch(
            $"The journal could not be written, so nothing more is acknowledged: {failure.Message} Restart "
                + $"the node when the cause is removed."
        );
        lock (_host.Gate)
        {
            var unknown = new Rejection(
                RejectionKind.OutcomeUnknown,
                $"Whether the write is durable is unknown; it may take effect after a restart. {failure.Message}"
            );
            foreach (var frame in _writing)
            {
                _answers.Refuse(frame, unknown);
            }

            EndWrite();
            _host.StopTakingPart();
        }
    }
}
