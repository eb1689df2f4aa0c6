namespace Rookery.Raft;

/// <summary>
/// A leader's replication: its log goes out beside its own sync (thesis 10.2.1), ahead of the answers, bounded for each
/// peer.
/// </summary>
public sealed partial class RaftCore
{
    private LogPosition _manifest;

    private void OnPropose(in Entry entry)
    {
        if (!_rules.MayPropose(Role == Role.Leader, !_transferTo.IsNone) || _outcomesDiffer)
        {
            return;
        }

        _output.Proposed = AppendToLog(entry);
        ReplicateToAll();
    }

    /// <summary>Appends an entry that the core makes itself.</summary>
    private void AppendOwn(EntryType type, Configuration? configuration)
    {
        var position = AppendToLog(new Entry(0, 0, type, 0, configuration));
        _output.Make(new Entry(position.Index, position.Term, type, 0, configuration));
        if (configuration is not null)
        {
            RefreshPeers();
        }

        ReplicateToAll();
        AdvanceCommit();
    }

    private LogPosition AppendToLog(in Entry entry)
    {
        _log.Append(entry with { Index = _log.LastIndex + 1, Term = Term });
        return _log.Last;
    }

    private void ReplicateToAll()
    {
        foreach (var peer in _peers)
        {
            Replicate(peer);
        }
    }

    private void Replicate(Progress peer)
    {
        while (peer.HasRoom)
        {
            if (peer.Next <= _log.Base.Index)
            {
                OfferManifest(peer);
                return;
            }

            long through = Math.Min(
                _log.LastIndex,
                CommitIndex >= peer.HoldBackFrom ? long.MaxValue : peer.HoldBackFrom - 1
            );
            if (through < _log.LastIndex)
            {
                Coverage.Took(RareBranch.HeldBackEntries);
            }

            bool probes = peer.State == ProgressState.Probe;
            if (!probes && peer.Next > through)
            {
                TellCommit(peer);
                return;
            }

            long before = peer.Next - 1;
            long last = probes ? before : _log.LastThatFits(peer.Next, through, _options.MostMessageBytes);
            peer.CommitSent = Math.Max(peer.CommitSent, Math.Min(CommitIndex, last));
            Send(
                Make(MessageKind.Append, peer.Node) with
                {
                    Position = new LogPosition(_log.TermAt(before), before),
                    LastIndex = last,
                    Commit = Math.Min(CommitIndex, last),
                }
            );
            peer.Sent(last, _log.BytesBetween(before + 1, last), _now);
            if (!probes && !peer.HasRoom)
            {
                Coverage.Took(RareBranch.WindowFull);
            }
        }
    }

    /// <summary>With no entries on the way a follower would learn of a commit only with the next heartbeat.</summary>
    private void TellCommit(Progress peer)
    {
        long commit = Math.Min(CommitIndex, peer.Match);
        if (commit > peer.CommitSent)
        {
            peer.CommitSent = commit;
            Send(Make(MessageKind.Commit, peer.Node) with { Commit = commit });
        }
    }

    private void OfferManifest(Progress peer)
    {
        if (_manifest.Index < _log.Base.Index)
        {
            Coverage.Took(RareBranch.ManifestAwaited);
            // The manifest behind the released entries is always at least as new; until the host has said so, wait.
            return;
        }

        peer.OfferManifest(_now);
        Send(Make(MessageKind.SnapshotOffer, peer.Node) with { Position = _manifest });
    }

    /// <summary>What a peer misses cannot be read here any more: the manifest has it, or another leader.</summary>
    private void OnUnreadable(NodeId node, long index)
    {
        if (Role != Role.Leader || Find(node) is not { } peer || peer.Match >= index)
        {
            return;
        }

        if (_manifest.Index >= index)
        {
            Coverage.Took(RareBranch.ManifestForUnreadable);
            OfferManifest(peer);
            peer.FetchesThrough = index;
        }
        else
        {
            Coverage.Took(RareBranch.HandedOverUnreadable);
            OnTransfer(NodeId.None);
        }
    }

    private void OnAppendReply(in Message message)
    {
        if (Role != Role.Leader)
        {
            return;
        }

        if (Hear(message) is not { } peer)
        {
            return;
        }

        if (message.Refused)
        {
            LookBack(peer, message);
        }
        else if (message.Position.Index <= _log.LastIndex)
        {
            // Only what was sent in this term is answered in it, so that the index alone names the entries.
            TakeMatch(peer, message.Position.Index);
        }
        else
        {
            throw new ConsensusException("a follower verifies no more than the leader has");
        }

        Replicate(peer);
    }

    private void TakeMatch(Progress peer, long match)
    {
        if (peer.State == ProgressState.Manifest && match < Math.Max(_log.Base.Index, peer.FetchesThrough))
        {
            return;
        }

        if (peer.State == ProgressState.Manifest)
        {
            peer.ProbeFrom(match + 1, _now);
        }

        if (peer.Acknowledged(match, _now))
        {
            peer.CountRound(_log.LastIndex, _now, ElectionTimeoutMicroseconds);
            AdvanceCommit();
            FinishTransfer();
        }
    }

    /// <summary>
    /// The logs differ before the entries sent: go back by the hint, a whole term at a time (paper 5.3).
    /// </summary>
    private void LookBack(Progress peer, in Message message)
    {
        bool isOld =
            message.Position.Index <= peer.Match
            || peer.State switch
            {
                ProgressState.Probe => message.Position.Index != peer.Next - 1,
                ProgressState.Replicate => false,
                _ => true,
            };

        // A store that was started again since it acknowledged, and refuses what it had, lost it. From the same start
        // such a refusal is a late one.
        if (
            message.Position.Index <= peer.Match
            && message.Hint.Index < peer.Match
            && message.Incarnation > peer.MatchIncarnation
        )
        {
            Coverage.Took(RareBranch.PeerLostEntries);
            _output.Tell(CoreEvent.PeerLostEntries, peer.Node);
            peer.Lost(CommonEnd(message) + 1, _now);
        }
        else if (isOld)
        {
            Coverage.Took(RareBranch.OldRefusalIgnored);
        }
        else
        {
            long end = CommonEnd(message);
            if (end < message.Position.Index - 1)
            {
                Coverage.Took(RareBranch.LookedBackFar);
            }

            peer.ProbeFrom(Math.Min(message.Position.Index, end + 1), _now);
        }
    }

    /// <summary>
    /// Where the logs may agree at most. A hint below the base of this log is taken as it is, so that a manifest is
    /// offered.
    /// </summary>
    private long CommonEnd(in Message message) =>
        Math.Min(message.Hint.Index, _log.LastAtMost(message.Hint.Index, message.Hint.Term).Index);

    private void OnPeerUnreachable(NodeId node)
    {
        if (Role == Role.Leader && Find(node) is { State: not ProgressState.Manifest } peer)
        {
            Coverage.Took(RareBranch.PeerUnreachable);
            peer.ProbeFrom(peer.Match + 1, _now);
        }
    }

    /// <summary>An answer that stays out for an election timeout was lost, or its question was.</summary>
    private void RetryIfLost(Progress peer)
    {
        if (peer.IsWaiting && _rules.AnswerIsLost(_now - peer.WaitingSince, ElectionTimeoutMicroseconds))
        {
            Coverage.Took(RareBranch.AnswerLost);
            peer.ProbeFrom(peer.State == ProgressState.Probe ? peer.Next : peer.Match + 1, _now);
            Replicate(peer);
        }
    }

    /// <summary>Commits what a majority of the voters has durably, if it is of this term (paper 5.4.2).</summary>
    private void AdvanceCommit()
    {
        if (Role != Role.Leader)
        {
            return;
        }

        long index = MajorityMatch();
        if (index > CommitIndex && _rules.MayCommitByCounting(_log.TermAt(index), Term))
        {
            CommitIndex = index;
            BeginReadRound();
            ReplicateToAll();
        }
        else if (index > CommitIndex)
        {
            Coverage.Took(RareBranch.OldTermNotCounted);
        }
    }

    /// <summary>The highest index that a majority of the voters has on stable storage.</summary>
    private long MajorityMatch()
    {
        var voters = Configuration.Voters;
        if (voters.IsEmpty)
        {
            return 0;
        }

        Span<long> matches = stackalloc long[Configuration.MostVoters];
        for (int voter = 0; voter < voters.Length; voter++)
        {
            matches[voter] =
                voters[voter] == Self
                    ? _rules.OwnMatch(_durability.DurableIndex, _log.LastIndex)
                    : Find(voters[voter])?.Match ?? 0;
        }

        matches = matches[..voters.Length];
        matches.Sort();
        return matches[^_rules.MajorityOf(Configuration)];
    }

    private Progress? Find(NodeId node)
    {
        foreach (var peer in _peers)
        {
            if (peer.Node == node)
            {
                return peer;
            }
        }

        return null;
    }
}
