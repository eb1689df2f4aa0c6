namespace Rookery.Raft;

/// <summary>
/// A follower takes entries, and acknowledges what this leader's messages verified and its own disk holds.
/// </summary>
internal sealed class Follower(MemberState state, Outbox outbox)
{
    private readonly RaftLog _log = state.Log;
    private long _verified;
    private long _verifiedTerm;
    private long _toldCommit;
    private long _acknowledged;
    private bool _isAskedToAcknowledge;

    /// <summary>This node follows in its current term, whoever leads.</summary>
    public void Begin()
    {
        if (state.Term != _verifiedTerm)
        {
            // A term has one leader: who finds it again after a while of silence has what it verified. It would not be
            // told again of what was committed meanwhile, when nothing is written.
            (_verifiedTerm, _verified, _toldCommit) = (state.Term, 0, 0);
        }

        (_acknowledged, _isAskedToAcknowledge) = (0, false);
    }

    public void TakeEntries(in Message message, ReadOnlySpan<Entry> entries)
    {
        ConsensusException.Unless(
            message.Position.Index + entries.Length == message.LastIndex,
            "a message brings the entries it names"
        );
        if (message.Position.Index > _log.Entries.Base.Index && !_log.Entries.Has(message.Position))
        {
            Coverage.Took(RareBranch.RefusedAppend);
            Refuse(message);
            return;
        }

        // What lies at or below the base is committed: it is the same in every log.
        int known = (int)Math.Clamp(_log.Entries.Base.Index - message.Position.Index, 0, entries.Length);
        if (known > 0)
        {
            Coverage.Took(RareBranch.AppendBelowBase);
        }

        while (known < entries.Length && _log.Entries.TermAt(entries[known].Index) == entries[known].Term)
        {
            Coverage.Took(RareBranch.KnownEntriesSkipped);
            known++;
        }

        TakeOver(message.Position.Index + known, entries[known..]);

        _verified = Math.Max(_verified, message.LastIndex);
        Commit(message.Commit);
        _isAskedToAcknowledge = true;
        Acknowledge();
    }

    /// <summary>
    /// Answers for all that came since the last answer, once a sync covers it: many messages, one sync, one reply.
    /// </summary>
    public void Acknowledge()
    {
        if (state.Role != Role.Follower || state.Leader.IsNone || !_isAskedToAcknowledge)
        {
            return;
        }

        long match = state.Rules.Acknowledged(_verified, _log.Durability.DurableIndex, _log.Entries.LastIndex);
        _isAskedToAcknowledge = match < _verified;
        if (match > _acknowledged || !_isAskedToAcknowledge)
        {
            if (_isAskedToAcknowledge)
            {
                Coverage.Took(RareBranch.AcknowledgedInPart);
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
    /// Says what is committed here, which is the leader's too. It is said each time: the leader may have the entries
    /// behind it, and the word of a state that was installed may have been lost.
    /// </summary>
    public void AcknowledgeCommitted()
    {
        _verified = Math.Max(_verified, _log.CommitIndex);
        _isAskedToAcknowledge = true;
        Acknowledge();
    }

    /// <summary>Commits what the leader says is committed, as far as this node verified it.</summary>
    public void Commit(long leaderCommit)
    {
        _toldCommit = Math.Max(_toldCommit, leaderCommit);
        CommitTold();
    }

    /// <summary>
    /// Nothing is committed here in a term that the disk does not know of: it would be applied and flushed, and after a
    /// power cut a manifest would hold what was committed in a later term than the node, or who takes the manifest from
    /// it, has heard of.
    /// </summary>
    public void CommitTold()
    {
        if (state.Rules.MayCommitAsFollower(_log.Durability.VoteIsDurable))
        {
            _log.CommitThrough(state.Rules.FollowerCommit(_toldCommit, _verified));
        }
        else
        {
            Coverage.Took(RareBranch.CommitAwaitsVote);
        }
    }

    /// <summary>
    /// A manifest is in place. What it holds was committed in this term or before: the leader of this one has it.
    /// </summary>
    public void Installed(long index, bool tailIsKept)
    {
        _verified =
            !state.Leader.IsNone ? Math.Max(_verified, index)
            : tailIsKept ? _verified
            : 0;
        _isAskedToAcknowledge = !state.Leader.IsNone;
    }

    /// <summary>
    /// The log and the leader's agree through <paramref name="agreed"/>; what the log does not have follows.
    /// </summary>
    private void TakeOver(long agreed, ReadOnlySpan<Entry> entries)
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
