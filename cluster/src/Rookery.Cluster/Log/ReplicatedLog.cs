using Rookery.Cluster.Commit;
using Rookery.Documents.Consensus;
using Rookery.Documents.Transfer;
using Rookery.Journal;
using Rookery.Platform;
using Rookery.Raft;

namespace Rookery.Cluster.Log;

/// <summary>
/// The log as the core knows it, with the entries that are in memory: those that are not applied yet, and some for
/// members that lag a little.
/// </summary>
/// <remarks>The lock of <see cref="RaftHost"/> guards all of it.</remarks>
internal sealed class ReplicatedLog(RaftHost host, ProposalAnswers answers, long operationsBeforeNext)
{
    private const int QuietLooksBeforeIdle = 10;

    private long _operations = operationsBeforeNext;
    private Entry[] _incoming = new Entry[64];
    private StateOffer? _installed;
    private int _quietLooks;
    private long _indexAtLook;

    /// <summary>The entries in memory.</summary>
    public FrameCache Frames { get; } = new();

    /// <summary>The highest index that the core knows of, durable or not.</summary>
    public long LastIndex { get; private set; } = host.Core.Last.Index;

    /// <summary>Brings the entries in line with what the core's last step made of its log.</summary>
    /// <param name="proposed">The frame that was proposed.</param>
    /// <param name="received">The entries that came with a message.</param>
    public void TakeIn(LogFrame? proposed, ReadOnlySpan<JournalFrame> received)
    {
        if (host.Output.DroppedAfter >= 0)
        {
            DropAfter(host.Output.DroppedAfter);
        }

        if (_installed is { } installed)
        {
            Frames.DropAfter(-1);
            LastIndex = installed.Index;
            _operations = installed.Operations;
        }

        if (proposed is not null && host.Output.Proposed is { } position)
        {
            proposed.PlaceAt(position.Index, position.Term, _operations);
            Append(proposed);
        }

        foreach (ref readonly var entry in received)
        {
            bool isNew =
                entry.Index > LastIndex
                && host.Core.TermAt(entry.Index) == entry.Term
                && entry.Index <= host.Core.Last.Index;
            if (isNew)
            {
                _operations = entry.OperationsBefore;
                var frame = Frames.Rent();
                frame.CopyFrom(entry);
                Append(frame);
            }
        }

        foreach (var made in host.Output.Made)
        {
            var frame = Frames.Rent();
            frame.CopyFrom(
                new JournalFrame(
                    made.Type == EntryType.NoOp ? FrameType.NoOp : FrameType.Configuration,
                    made.Index,
                    made.Term,
                    _operations,
                    OperationCount: 0,
                    made.Configuration is null ? default : ConfigurationEncoding.Encode(made.Configuration, made.Index)
                )
            );
            Append(frame);
        }

        Invariant.Holds(LastIndex == host.Core.Last.Index, "the host has the entries that the core knows of");
    }

    /// <summary>What the core has to know of entries, until the next call.</summary>
    public ReadOnlyMemory<Entry> EntriesOf(ReadOnlySpan<JournalFrame> frames)
    {
        if (frames.Length > _incoming.Length)
        {
            _incoming = new Entry[frames.Length * 2];
        }

        for (int i = 0; i < frames.Length; i++)
        {
            _incoming[i] = LogStart.EntryOf(
                frames[i].Type,
                frames[i].Index,
                frames[i].Term,
                frames[i].Payload.Length,
                frames[i].Payload
            );
        }

        return _incoming.AsMemory(0, frames.Length);
    }

    /// <summary>Steps the core with a state that was installed. The log goes on behind it.</summary>
    /// <param name="input">The event.</param>
    /// <param name="installed">The state; null when the log's end behind it is kept.</param>
    public void StepInstalled(in Input input, StateOffer? installed)
    {
        _installed = installed;
        host.Step(input);
        _installed = null;
    }

    /// <summary>
    /// Refuses those who wait for entries of a range, its ends included, as far as they are in memory.
    /// </summary>
    public void RefuseBetween(long first, long last, Rejection rejection)
    {
        last = Math.Min(last, Frames.LastIndex);
        for (long index = Math.Max(first, Frames.FirstIndex); index <= last; index++)
        {
            if (Frames.TryGet(index, out var frame) && frame.Count > 0)
            {
                answers.Refuse(frame, rejection);
            }
        }
    }

    /// <summary>
    /// The next leader commits a frame of a lost leadership or puts another in its place, mostly at once: after a
    /// hand-over it has them all. Who waits longer is answered as unknown.
    /// </summary>
    public void GiveUpUncommitted()
    {
        if (
            host.Leadership.LostAt is not { } lost
            || host.Now - lost <= (ReadIndexService.PatienceInTimeouts + 1) * host.Core.ElectionTimeoutMicroseconds
        )
        {
            return;
        }

        host.Leadership.ForgetLoss();
        RefuseBetween(host.Core.ApplyThrough + 1, long.MaxValue, ProposalRejections.Overtaken);
    }

    /// <summary>
    /// Called once a second. When nothing came for a while, members have what there is, and who was away is served from
    /// the journal: a leader that had loaded documents kept 10 MiB for nobody.
    /// </summary>
    public void ReleaseIdle(long applied)
    {
        _quietLooks = LastIndex == _indexAtLook ? _quietLooks + 1 : 0;
        _indexAtLook = LastIndex;
        if (_quietLooks == QuietLooksBeforeIdle)
        {
            Frames.ReleaseThrough(applied, bytes: 0);
        }
    }

    private void Append(LogFrame frame)
    {
        Frames.Append(frame);
        _operations = frame.Position.OperationsBefore + frame.Position.OperationCount;
        LastIndex = frame.Position.Index;
    }

    private void DropAfter(long index)
    {
        RefuseBetween(index + 1, Frames.LastIndex, ProposalRejections.Overtaken);
        Frames.DropAfter(index);
        LastIndex = index;
    }
}
