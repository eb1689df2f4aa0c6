using Rookery.Cluster.Commit;
using Rookery.Documents.Consensus;
using Rookery.Documents.Transfer;
using Rookery.Journal;
using Rookery.Platform;
using Rookery.Raft;

namespace Rookery.Cluster.Log;

/// <summary>
/// The host's copy of the core's log: the cached entries and the index of the last entry. Follows each step of the
/// core.
/// </summary>
/// <remarks>All fields are guarded by the lock of <see cref="RaftHost"/>.</remarks>
internal sealed class ReplicatedLog(RaftHost host, ProposalAnswers answers, long operationsBeforeNext)
{
    private const int QuietSecondsBeforeIdle = 10;

    // The number of operations (etags) in all entries through LastIndex; the next entry carries it.
    private long _operationsBeforeNext = operationsBeforeNext;
    private Entry[] _receivedEntries = new Entry[64];
    private SnapshotOffer? _installedSnapshot;
    private int _quietSeconds;
    private long _lastIndexSeen;

    /// <summary>The cached entries.</summary>
    public EntryCache Cache { get; } = new();

    /// <summary>The index of the core's last entry, durable or not.</summary>
    public long LastIndex { get; private set; } = host.Core.Last.Index;

    /// <summary>Updates the cached entries to match the log after the core's last step.</summary>
    /// <param name="proposed">The entry that was proposed; null for none.</param>
    /// <param name="received">The entries of the received message, as frames.</param>
    public void UpdateAfterStep(CachedEntry? proposed, ReadOnlySpan<JournalFrame> received)
    {
        if (host.Output.DroppedAfter >= 0)
        {
            TruncateAfter(host.Output.DroppedAfter);
        }

        if (_installedSnapshot is { } installed)
        {
            // The snapshot replaces all entries.
            Cache.TruncateAfter(-1);
            LastIndex = installed.Index;
            _operationsBeforeNext = installed.Operations;
        }

        if (proposed is not null && host.Output.Proposed is { } position)
        {
            proposed.SetPosition(position.Index, position.Term, _operationsBeforeNext);
            Append(proposed);
        }

        foreach (ref readonly var frame in received)
        {
            bool isNew =
                frame.Index > LastIndex
                && host.Core.TermAt(frame.Index) == frame.Term
                && frame.Index <= host.Core.Last.Index;
            if (isNew)
            {
                _operationsBeforeNext = frame.OperationsBefore;
                var entry = Cache.Rent();
                entry.CopyFrom(frame);
                Append(entry);
            }
        }

        foreach (var appended in host.Output.Made)
        {
            var entry = Cache.Rent();
            entry.CopyFrom(
                new JournalFrame(
                    appended.Type == EntryType.NoOp ? FrameType.NoOp : FrameType.Configuration,
                    appended.Index,
                    appended.Term,
                    _operationsBeforeNext,
                    OperationCount: 0,
                    appended.Configuration is null
                        ? default
                        : ConfigurationEncoding.Encode(appended.Configuration, appended.Index)
                )
            );
            Append(entry);
        }

        Invariant.Holds(LastIndex == host.Core.Last.Index, "the host's log ends where the core's does");
    }

    /// <summary>
    /// Returns received entries without their payloads, as the core uses them. Valid until the next call.
    /// </summary>
    public ReadOnlyMemory<Entry> EntriesOf(ReadOnlySpan<JournalFrame> frames)
    {
        if (frames.Length > _receivedEntries.Length)
        {
            _receivedEntries = new Entry[frames.Length * 2];
        }

        for (int i = 0; i < frames.Length; i++)
        {
            _receivedEntries[i] = LogStart.EntryOf(
                frames[i].Type,
                frames[i].Index,
                frames[i].Term,
                frames[i].Payload.Length,
                frames[i].Payload
            );
        }

        return _receivedEntries.AsMemory(0, frames.Length);
    }

    /// <summary>Steps the core after a snapshot was installed, and continues the log after the snapshot.</summary>
    /// <param name="input">The input to step with.</param>
    /// <param name="installed">The snapshot; null when the log keeps the entries after the snapshot.</param>
    public void StepInstalled(in Input input, SnapshotOffer? installed)
    {
        _installedSnapshot = installed;
        host.Step(input);
        _installedSnapshot = null;
    }

    /// <summary>
    /// Refuses the callers of the cached entries from <paramref name="first"/> through <paramref name="last"/>.
    /// </summary>
    public void RefuseBetween(long first, long last, Rejection rejection)
    {
        last = Math.Min(last, Cache.LastIndex);
        for (long index = Math.Max(first, Cache.FirstIndex); index <= last; index++)
        {
            if (Cache.TryGet(index, out var entry) && entry.ProposalCount > 0)
            {
                answers.Refuse(entry, rejection);
            }
        }
    }

    /// <summary>
    /// Whether callers wait for one of the cached entries from <paramref name="first"/> through
    /// <paramref name="last"/>.
    /// </summary>
    public bool IsAnyAwaited(long first, long last)
    {
        last = Math.Min(last, Cache.LastIndex);
        for (long index = Math.Max(first, Cache.FirstIndex); index <= last; index++)
        {
            if (Cache.TryGet(index, out var entry) && entry.ProposalCount > 0)
            {
                return true;
            }
        }

        return false;
    }

    /// <summary>
    /// After a lost leadership, tells the callers of uncommitted entries that the outcome is unknown, once they have
    /// waited long enough. Usually the next leader commits or replaces their entries earlier.
    /// </summary>
    public void RefuseUncommittedAfterTimeout()
    {
        if (
            host.Leadership.LostAt is not { } lost
            || host.Now - lost <= (ReadIndexService.WaitInElectionTimeouts + 1) * host.Core.ElectionTimeoutMicroseconds
        )
        {
            return;
        }

        host.Leadership.ForgetLoss();
        RefuseBetween(host.Core.ApplyThrough + 1, long.MaxValue, ProposalRejections.Overtaken);
    }

    /// <summary>
    /// Removes applied entries from the cache after 10 s without new entries. Called once a second. Within
    /// that time, connected members have received them; a returning member is served from the journal. Without this
    /// method, an idle leader kept 10 MiB.
    /// </summary>
    public void ReleaseIdle(long applied)
    {
        _quietSeconds = LastIndex == _lastIndexSeen ? _quietSeconds + 1 : 0;
        _lastIndexSeen = LastIndex;
        if (_quietSeconds == QuietSecondsBeforeIdle)
        {
            Cache.ReleaseThrough(applied, bytesToKeep: 0);
        }
    }

    private void Append(CachedEntry entry)
    {
        Cache.Append(entry);
        _operationsBeforeNext = entry.Position.OperationsBefore + entry.Position.OperationCount;
        LastIndex = entry.Position.Index;
    }

    private void TruncateAfter(long index)
    {
        RefuseBetween(index + 1, Cache.LastIndex, ProposalRejections.Overtaken);
        Cache.TruncateAfter(index);
        LastIndex = index;
    }
}
