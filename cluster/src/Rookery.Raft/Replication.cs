namespace Rookery.Raft;

/// <summary>
/// A leader's side of log replication. Entries are sent while this node syncs them (thesis 10.2.1). They are pipelined,
/// up to a limit for each peer.
/// </summary>
internal sealed class Replication(
    MemberState state,
    ProgressTracker tracker,
    ReadIndex reads,
    LeadershipTransfer transfer,
    Outbox outbox
)
{
    private readonly RaftLog _log = state.Log;

    /// <summary>
    /// The last entry through which the local store is durable. The store's state at that entry is offered to peers
    /// that miss compacted entries. The offer waits until the store is durable through all compacted entries.
    /// </summary>
    public LogPosition StoreDurableThrough { get; set; }

    /// <summary>Appends the host's entry.</summary>
    /// <returns>The entry's position.</returns>
    public LogPosition Append(in Entry entry)
    {
        var position = _log.AppendNew(entry, state.Term);
        ReplicateToAll();
        return position;
    }

    /// <summary>Appends an entry that the core makes itself.</summary>
    public void AppendOwn(EntryType type, Configuration? configuration)
    {
        var position = _log.AppendNew(new Entry(Index: 0, Term: 0, type, Bytes: 0, configuration), state.Term);
        outbox.Output.Make(new Entry(position.Index, position.Term, type, Bytes: 0, configuration));
        if (configuration is not null)
        {
            tracker.Refresh();
        }

        ReplicateToAll();
        AdvanceCommit();
    }

    /// <summary>
    /// Commits the entries that are durable on a majority, if the last of them is of this term (paper 5.4.2).
    /// </summary>
    public void AdvanceCommit()
    {
        if (!state.IsLeader)
        {
            return;
        }

        long index = tracker.MajorityMatch();
        if (index > _log.CommitIndex && state.Rules.MayCommitByCounting(_log.Entries.TermAt(index), state.Term))
        {
            _log.CommitThrough(index);
            reads.BeginRound();
            ReplicateToAll();
        }
        else if (index > _log.CommitIndex)
        {
            Coverage.Count(RareBranch.OldTermNotCounted);
        }
    }

    /// <summary>Sends a peer the entries that it lacks, within its limits.</summary>
    public void Replicate(Progress peer)
    {
        while (peer.HasRoom)
        {
            if (peer.Next <= _log.Entries.Base.Index)
            {
                OfferSnapshotIfNewEnough(peer);
                return;
            }

            // Until the configuration at HoldBackFrom is committed, a peer that it removes or demotes gets neither this
            // configuration nor later entries.
            long through = Math.Min(
                _log.Entries.LastIndex,
                _log.CommitIndex >= peer.HoldBackFrom ? long.MaxValue : peer.HoldBackFrom - 1
            );
            if (through < _log.Entries.LastIndex)
            {
                Coverage.Count(RareBranch.HeldBackEntries);
            }

            bool probes = peer.State == ProgressState.Probe;
            if (!probes && peer.Next > through)
            {
                AnnounceCommit(peer);
                return;
            }

            long before = peer.Next - 1;
            SendEntries(
                peer,
                before,
                last: probes ? before : _log.Entries.LastThatFits(peer.Next, through, state.Options.MaxMessageBytes)
            );
            if (!probes && !peer.HasRoom)
            {
                Coverage.Count(RareBranch.WindowFull);
            }
        }
    }

    /// <summary>
    /// Handles the report that entries for a peer cannot be read here: offers the peer a snapshot that contains them,
    /// or transfers leadership if the store is not durable that far.
    /// </summary>
    public void HandleUnreadable(NodeId node, long index)
    {
        if (!state.IsLeader || tracker.Find(node) is not { } peer || peer.Match >= index)
        {
            return;
        }

        if (StoreDurableThrough.Index >= index)
        {
            Coverage.Count(RareBranch.SnapshotForUnreadable);
            OfferSnapshotIfNewEnough(peer);
            peer.FetchesThrough = index;
        }
        else
        {
            Coverage.Count(RareBranch.HandedOverUnreadable);
            transfer.TransferTo(NodeId.None);
        }
    }

    public void HandleAppendReply(in Message message)
    {
        if (!state.IsLeader || tracker.RecordContact(message) is not { } peer)
        {
            return;
        }

        if (message.Refused)
        {
            HandleRefusedAppend(peer, message);
        }
        else if (message.Position.Index <= _log.Entries.LastIndex)
        {
            // A follower acknowledges only entries that it verified in this term, so the index alone identifies them.
            HandleMatch(peer, message.Position.Index);
        }
        else
        {
            throw new ConsensusException("a follower verifies no more than the leader has");
        }

        Replicate(peer);
    }

    /// <summary>Handles a broken connection to a peer: probes again.</summary>
    public void HandleUnreachable(NodeId node)
    {
        if (state.IsLeader && tracker.Find(node) is { State: not ProgressState.Snapshot } peer)
        {
            Coverage.Count(RareBranch.PeerUnreachable);
            peer.ProbeFrom(peer.Match + 1, state.Now);
        }
    }

    /// <summary>Repeats messages that have not been answered for an election timeout.</summary>
    public void RetryLost()
    {
        foreach (var peer in tracker)
        {
            if (
                peer.IsWaiting
                && state.Rules.AnswerIsLost(state.Now - peer.WaitingSince, state.ElectionTimeoutMicroseconds)
            )
            {
                Coverage.Count(RareBranch.AnswerLost);
                peer.ProbeFrom(peer.State == ProgressState.Probe ? peer.Next : peer.Match + 1, state.Now);
                Replicate(peer);
            }
        }
    }

    private void ReplicateToAll()
    {
        foreach (var peer in tracker)
        {
            Replicate(peer);
        }
    }

    /// <summary>Sends the entries after index <paramref name="before"/> through <paramref name="last"/>.</summary>
    private void SendEntries(Progress peer, long before, long last)
    {
        long commit = Math.Min(_log.CommitIndex, last);
        peer.CommitSent = Math.Max(peer.CommitSent, commit);
        outbox.Send(
            outbox.Make(MessageKind.Append, peer.Node) with
            {
                Position = new LogPosition(_log.Entries.TermAt(before), before),
                LastIndex = last,
                Commit = commit,
            }
        );
        peer.RecordSent(last, _log.Entries.BytesBetween(before + 1, last), state.Now);
    }

    /// <summary>
    /// Announces a new commit index to a peer that has all entries. Otherwise the peer would learn of it only from the
    /// next heartbeat.
    /// </summary>
    private void AnnounceCommit(Progress peer)
    {
        long commit = Math.Min(_log.CommitIndex, peer.Match);
        if (commit > peer.CommitSent)
        {
            peer.CommitSent = commit;
            outbox.Send(outbox.Make(MessageKind.Commit, peer.Node) with { Commit = commit });
        }
    }

    private void OfferSnapshotIfNewEnough(Progress peer)
    {
        if (StoreDurableThrough.Index < _log.Entries.Base.Index)
        {
            Coverage.Count(RareBranch.SnapshotAwaited);
            return;
        }

        peer.OfferSnapshot(state.Now);
        outbox.Send(outbox.Make(MessageKind.SnapshotOffer, peer.Node) with { Position = StoreDurableThrough });
    }

    private void HandleMatch(Progress peer, long match)
    {
        if (peer.State == ProgressState.Snapshot && match < Math.Max(_log.Entries.Base.Index, peer.FetchesThrough))
        {
            return;
        }

        if (peer.State == ProgressState.Snapshot)
        {
            peer.ProbeFrom(match + 1, state.Now);
        }

        if (peer.RecordAcknowledged(match, state.Now))
        {
            peer.CountRound(_log.Entries.LastIndex, state.Now, state.ElectionTimeoutMicroseconds);
            AdvanceCommit();
            transfer.StartCampaignIfCaughtUp();
        }
    }

    /// <summary>
    /// Handles a refused append: continues the search for the last common entry at the hint, a whole term at a time
    /// (paper 5.3).
    /// </summary>
    private void HandleRefusedAppend(Progress peer, in Message message)
    {
        bool isOld =
            message.Position.Index <= peer.Match
            || peer.State switch
            {
                ProgressState.Probe => message.Position.Index != peer.Next - 1,
                ProgressState.Replicate => false,
                _ => true,
            };

        // If the peer restarted since it acknowledged this position and now refuses it, its store lost entries. A
        // refusal from the same start is merely a delayed message.
        if (
            message.Position.Index <= peer.Match
            && message.Hint.Index < peer.Match
            && message.StartNumber > peer.MatchStartNumber
        )
        {
            Coverage.Count(RareBranch.PeerLostEntries);
            outbox.Output.Report(CoreEvent.PeerLostEntries, peer.Node);
            peer.ResetAfterLoss(FindCommonEnd(message) + 1, state.Now);
        }
        else if (isOld)
        {
            Coverage.Count(RareBranch.OldRefusalIgnored);
        }
        else
        {
            long end = FindCommonEnd(message);
            if (end < message.Position.Index - 1)
            {
                Coverage.Count(RareBranch.LookedBackFar);
            }

            peer.ProbeFrom(Math.Min(message.Position.Index, end + 1), state.Now);
        }
    }

    /// <summary>
    /// Returns the highest index at which the logs may match. A hint below this log's base is returned unchanged, so
    /// that a snapshot is offered.
    /// </summary>
    private long FindCommonEnd(in Message message) =>
        Math.Min(message.Hint.Index, _log.Entries.LastAtMost(message.Hint.Index, message.Hint.Term).Index);
}
