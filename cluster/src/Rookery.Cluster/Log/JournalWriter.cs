using Rookery.Cluster.Commit;
using Rookery.Documents.Consensus;
using Rookery.Journal;
using Rookery.Platform;
using Rookery.Raft;

namespace Rookery.Cluster.Log;

/// <summary>
/// Writes to the journal the vote, truncation and entries that the core's output names, one write at a time.
/// </summary>
/// <remarks>
/// <see cref="CollectIfDue"/> fills the fields under the lock of <see cref="RaftHost"/> while no write is due. From
/// then on the fields belong to the thread that holds the write turn (<see cref="ProposalQueue"/>). It writes without
/// the lock, and completes the write under the lock.
/// </remarks>
internal sealed class JournalWriter(
    RaftHost host,
    ReplicatedLog log,
    NodeJournal journal,
    StoreHealthMeter health,
    ProposalAnswers answers
)
{
    private const int InitialFrameCapacity = 8;

    private readonly List<CachedEntry> _entriesToWrite = [];
    private JournalFrame[] _frames = new JournalFrame[InitialFrameCapacity];
    private int _frameCount;
    private long _writeNumber;
    private long _durableIndex;
    private long _recordedCommitIndex;
    private bool _isDue;

    /// <summary>Whether frames wait to be written.</summary>
    public bool IsDue => Volatile.Read(ref _isDue);

    /// <summary>The highest durable index after the last write.</summary>
    public long DurableIndex => Volatile.Read(ref _durableIndex);

    /// <summary>
    /// Collects the frames that the output of the core's last step names. The thread that holds the write turn writes
    /// them. The core names no further write before this one completes. Under the lock.
    /// </summary>
    /// <returns>Whether a write is due.</returns>
    public bool CollectIfDue()
    {
        if (host.Output.Write is not { } write)
        {
            return false;
        }

        Invariant.Holds(!_isDue, "one journal write is outstanding at a time");
        _writeNumber = write.Number;
        if (write.Vote is { } vote)
        {
            Add(VoteEncoding.ToFrame(vote, host.Core.StartNumber));
        }

        if (write.TruncateAfter >= 0)
        {
            AddTruncation(write.TruncateAfter, write.FirstIndex);
        }

        for (long index = write.FirstIndex; index <= write.LastIndex; index++)
        {
            Invariant.Holds(log.Cache.TryGet(index, out var entry), "entries to write are cached");
            entry!.Retain();
            _entriesToWrite.Add(entry);
            Add(entry.Frame);
        }

        AddCommitFrame(write.Committed);
        Volatile.Write(ref _isDue, true);
        return true;
    }

    /// <summary>
    /// Sets the journal's <see cref="NodeJournal.RetainedBytes"/>: the value of the options while members may ask this
    /// node for entries, otherwise 0. Under the lock.
    /// </summary>
    public void SetRetainedBytes() =>
        journal.RetainedBytes = host.Leadership.MayBeAskedForEntries ? host.Options.RetainedJournalBytes : 0;

    /// <summary>Writes and syncs the collected frames. Called with the write turn.</summary>
    /// <returns>False when the disk failed: the node is halted and in diagnosis mode.</returns>
    public bool TryWrite()
    {
        long startedAt = host.Now;
        try
        {
            health.BeginWrite(startedAt);
            journal.Write(_frames.AsSpan(0, _frameCount));
        }
        catch (Exception failure) when (failure is DiskException or JournalLatchedException)
        {
            FailWrite(failure);
            return false;
        }

        health.EndWrite(host.Now - startedAt);
        return true;
    }

    /// <summary>Reports to the core that the write is durable. Called under the lock, with the write turn.</summary>
    public void EndWrite()
    {
        Release();
        host.Step(Input.JournalDurable(host.Now, _writeNumber));
        Volatile.Write(ref _durableIndex, host.Core.DurableIndex);
        if (host.Options.Network is not null)
        {
            // Durable entries can be read from the journal again, so they need not stay cached until they are applied.
            // Otherwise a follower that applies slowly would fill its cache, and receive only as fast as it applies.
            log.Cache.ReleaseUnawaitedThrough(host.Core.DurableIndex, host.Options.CachedBytes);
        }
    }

    private void AddTruncation(long truncateAfter, long firstReplacingIndex)
    {
        Invariant.Holds(firstReplacingIndex == truncateAfter + 1, "a truncation is followed by the replacing entries");
        Invariant.Holds(log.Cache.TryGet(firstReplacingIndex, out var replacing), "entries to write are cached");
        Add(
            new JournalFrame(
                FrameType.Truncation,
                truncateAfter,
                host.Core.TermAt(truncateAfter),
                replacing!.Position.OperationsBefore,
                OperationCount: 0,
                Payload: default
            )
        );
    }

    /// <summary>
    /// Adds a frame with the commit index. A node that starts without a majority applies entries through that index.
    /// The frame is added only when it fits into the padding of the write's last block, so it costs no extra byte on
    /// the disk.
    /// </summary>
    private void AddCommitFrame(long index)
    {
        if (index > _recordedCommitIndex && NodeJournal.HasRoomForCommitFrame(_frames.AsSpan(0, _frameCount)))
        {
            _recordedCommitIndex = index;
            Add(NodeJournal.MakeCommitFrame(index));
        }
    }

    private void Add(in JournalFrame frame)
    {
        if (_frameCount == _frames.Length)
        {
            Array.Resize(ref _frames, _frames.Length * 2);
        }

        _frames[_frameCount++] = frame;
    }

    /// <summary>Releases what <see cref="CollectIfDue"/> collected.</summary>
    private void Release()
    {
        foreach (var entry in _entriesToWrite)
        {
            if (host.Options.Network is null)
            {
                log.Cache.ReleasePayload(entry);
            }

            log.Cache.Release(entry);
        }

        _entriesToWrite.Clear();
        Array.Clear(_frames, 0, _frameCount);
        _frameCount = 0;
        Volatile.Write(ref _isDue, false);
    }

    private void FailWrite(Exception failure)
    {
        host.EnterDiagnosisMode(
            $"The journal could not be written, so nothing more is acknowledged: {failure.Message} Restart "
                + $"the node when the cause is removed."
        );
        lock (host.Gate)
        {
            var unknown = new Rejection(
                RejectionKind.OutcomeUnknown,
                $"Whether the write is durable is unknown; it may take effect after a restart. {failure.Message}"
            );
            foreach (var entry in _entriesToWrite)
            {
                answers.Refuse(entry, unknown);
            }

            Release();
            host.StepDownAndHalt();
        }
    }
}
