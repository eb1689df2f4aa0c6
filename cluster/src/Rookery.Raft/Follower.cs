namespace Rookery.Raft;

/// <summary>
/// A follower's side of log replication: appends received entries. Acknowledges an entry once it is durable here and
/// the current leader's messages verified it.
/// </summary>
internal sealed class Follower(MemberState state, Outbox outbox)
{
    private readonly RaftLog _log = state.Log;

    // The highest index through which this log equals the leader's, verified in _verifiedTerm.
    private long _verified;
    private long _verifiedTerm;

    // The highest commit index that the leader announced in that term.
    private long _leaderCommit;

    // The highest index that this node acknowledged to the current leader, and whether a reply is due.
    private long _acknowledged;
    private bool _owesAcknowledgement;

    /// <summary>Starts to follow in the current term.</summary>
    public void Begin()
    {
        if (state.Term != _verifiedTerm)
        {
            // A term has one leader, so entries verified in this term stay verified when contact with the leader was
            // lost for a while. Resetting _verified would delay commits: an idle leader does not send the entries
            // again.
            _verifiedTerm = state.Term;
            _verified = 0;
            _leaderCommit = 0;
        }

        _acknowledged = 0;
        _owesAcknowledgement = false;
    }

    public void HandleAppend(in Message message, ReadOnlySpan<Entry> entries)
    {
        ConsensusException.Unless(
            message.Position.Index + entries.Length == message.LastIndex,
            "a message carries the entries that it names"
        );
        if (message.Position.Index > _log.Entries.Base.Index && !_log.Entries.Has(message.Position))
        {
            Coverage.Count(RareBranch.RefusedAppend);
            Refuse(message);
            return;
        }

        // Entries through the base are committed, so they are the same in every log.
        int skipped = (int)Math.Clamp(_log.Entries.Base.Index - message.Position.Index, 0, entries.Length);
        if (skipped > 0)
        {
            Coverage.Count(RareBranch.AppendBelowBase);
        }

        while (skipped < entries.Length && _log.Entries.TermAt(entries[skipped].Index) == entries[skipped].Term)
        {
            Coverage.Count(RareBranch.KnownEntriesSkipped);
            skipped++;
        }

        AppendReceived(message.Position.Index + skipped, entries[skipped..]);

        _verified = Math.Max(_verified, message.LastIndex);
        Commit(message.Commit);
        _owesAcknowledgement = true;
        Acknowledge();
    }

    /// <summary>
    /// Acknowledges the entries received since the last reply that are durable. One sync and one reply serve many
    /// messages.
    /// </summary>
    public void Acknowledge()
    {
        if (state.Role != Role.Follower || state.Leader.IsNone || !_owesAcknowledgement)
        {
            return;
        }

        long match = state.Rules.Acknowledged(_verified, _log.Durability.DurableIndex, _log.Entries.LastIndex);
        _owesAcknowledgement = match < _verified;
        if (match > _acknowledged || !_owesAcknowledgement)
        {
            if (_owesAcknowledgement)
            {
                Coverage.Count(RareBranch.AcknowledgedInPart);
            }

            _acknowledged = match;
            outbox.Send(
                outbox.Make(MessageKind.AppendReply, state.Leader) with
                {
                    Position = new LogPosition(_log.Entries.TermAt(match), match),
                }
            );
        }
    }

    /// <summary>
    /// Acknowledges entries through the commit index, which every leader has. Called for each snapshot offer: an
    /// earlier acknowledgement may have been lost, and then the leader may still be able to send the later entries.
    /// </summary>
    public void AcknowledgeCommitIndex()
    {
        _verified = Math.Max(_verified, _log.CommitIndex);
        _owesAcknowledgement = true;
        Acknowledge();
    }

    /// <summary>
    /// Commits through the leader's commit index, but only entries verified against the leader's log.
    /// </summary>
    public void Commit(long leaderCommit)
    {
        _leaderCommit = Math.Max(_leaderCommit, leaderCommit);
        CommitAnnounced();
    }

    /// <summary>
    /// Commits through the index that the leader announced, once the vote record of the current term is durable.
    /// Otherwise entries could be applied and flushed before that record is durable. After a power cut, the manifest
    /// would then contain entries committed in a later term than this node remembers.
    /// </summary>
    public void CommitAnnounced()
    {
        if (state.Rules.MayCommitAsFollower(_log.Durability.VoteIsDurable))
        {
            _log.CommitThrough(state.Rules.FollowerCommit(_leaderCommit, _verified));
        }
        else
        {
            Coverage.Count(RareBranch.CommitAwaitsVote);
        }
    }

    /// <summary>
    /// Counts the entries of an installed snapshot as verified: they were committed in this term or earlier, so the
    /// leader has them.
    /// </summary>
    public void RecordInstalled(long index, bool tailIsKept)
    {
        bool hasLeader = !state.Leader.IsNone;
        if (hasLeader)
        {
            _verified = Math.Max(_verified, index);
        }
        else if (!tailIsKept)
        {
            _verified = 0;
        }

        _owesAcknowledgement = hasLeader;
    }

    /// <summary>
    /// Appends received entries. This log and the leader's match through <paramref name="agreed"/>. If a received entry
    /// contradicts this log's tail, the tail is truncated first.
    /// </summary>
    private void AppendReceived(long agreed, ReadOnlySpan<Entry> entries)
    {
        long last = _log.Entries.LastIndex;
        long kept = state.Rules.KeptAfterAppend(agreed, last, contradicts: !entries.IsEmpty && agreed < last);
        if (kept < last)
        {
            _log.TruncateAfter(kept);
            _verified = Math.Min(_verified, kept);
            outbox.Output.DroppedAfter = kept;
        }

        foreach (var entry in entries)
        {
            _log.Entries.Append(entry);
        }
    }

    private void Refuse(in Message message) =>
        outbox.Send(
            outbox.Reply(message, MessageKind.AppendReply) with
            {
                Refused = true,
                Position = message.Position,
                Hint = _log.Entries.LastAtMost(message.Position.Index, message.Position.Term),
            }
        );
}
