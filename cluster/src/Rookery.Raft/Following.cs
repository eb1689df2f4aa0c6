namespace Rookery.Raft;

/// <summary>
/// A follower takes entries, and acknowledges what this leader's messages verified and its own disk holds.
/// </summary>
public sealed partial class RaftCore
{
    private long _verified;
    private long _verifiedTerm;
    private long _toldCommit;
    private long _acknowledged;
    private bool _isAskedToAcknowledge;
    private LogPosition _fetching;

    private void OnAppend(in Message message, ReadOnlySpan<Entry> entries)
    {
        ConsensusException.Unless(
            message.Position.Index + entries.Length == message.LastIndex,
            "a message brings the entries it names"
        );
        if (message.Position.Index > _log.Base.Index && !_log.Has(message.Position))
        {
            Coverage.Took(RareBranch.RefusedAppend);
            Refuse(message);
            return;
        }

        // What lies at or below the base is committed: it is the same in every log.
        int known = (int)Math.Clamp(_log.Base.Index - message.Position.Index, 0, entries.Length);
        if (known > 0)
        {
            Coverage.Took(RareBranch.AppendBelowBase);
        }

        while (known < entries.Length && _log.TermAt(entries[known].Index) == entries[known].Term)
        {
            Coverage.Took(RareBranch.KnownEntriesSkipped);
            known++;
        }

        TakeOver(message.Position.Index + known, entries[known..]);

        _verified = Math.Max(_verified, message.LastIndex);
        CommitAsFollower(message.Commit);
        _isAskedToAcknowledge = true;
        AcknowledgeAsFollower();
    }

    /// <summary>
    /// The log and the leader's agree through <paramref name="agreed"/>; what the log does not have follows.
    /// </summary>
    private void TakeOver(long agreed, ReadOnlySpan<Entry> entries)
    {
        long kept = _rules.KeptAfterAppend(
            agreed,
            _log.LastIndex,
            contradicts: !entries.IsEmpty && agreed < _log.LastIndex
        );
        if (kept < _log.LastIndex)
        {
            DropAfter(kept);
        }

        foreach (var entry in entries)
        {
            _log.Append(entry);
        }
    }

    private void DropAfter(long index)
    {
        ConsensusException.Unless(index >= CommitIndex, ConsensusException.CommitStays);
        Coverage.Took(RareBranch.TailReplaced);
        _log.TruncateAfter(index);
        _durability.TruncateAfter(index);
        _verified = Math.Min(_verified, index);
        _output.DroppedAfter = index;
    }

    private void Refuse(in Message message) =>
        Send(
            Reply(message, MessageKind.AppendReply) with
            {
                Refused = true,
                Position = message.Position,
                Hint = _log.LastAtMost(message.Position.Index, message.Position.Term),
            }
        );

    /// <summary>
    /// Answers for all that came since the last answer, once a sync covers it: many messages, one sync, one reply.
    /// </summary>
    private void AcknowledgeAsFollower()
    {
        if (Role != Role.Follower || Leader.IsNone || !_isAskedToAcknowledge)
        {
            return;
        }

        long match = _rules.Acknowledged(_verified, _durability.DurableIndex, _log.LastIndex);
        _isAskedToAcknowledge = match < _verified;
        if (match > _acknowledged || !_isAskedToAcknowledge)
        {
            if (_isAskedToAcknowledge)
            {
                Coverage.Took(RareBranch.AcknowledgedInPart);
            }

            _acknowledged = match;
            Send(Make(MessageKind.AppendReply, Leader) with { Position = new LogPosition(_log.TermAt(match), match) });
        }
    }

    /// <summary>
    /// Nothing is committed here in a term that the disk does not know of: it would be applied and flushed, and after a
    /// power cut a manifest would hold what was committed in a later term than the node, or who takes the manifest from
    /// it, has heard of.
    /// </summary>
    private void CommitAsFollower(long leaderCommit)
    {
        _toldCommit = Math.Max(_toldCommit, leaderCommit);
        if (_rules.MayCommitAsFollower(_durability.VoteIsDurable))
        {
            CommitIndex = Math.Max(CommitIndex, _rules.FollowerCommit(_toldCommit, _verified));
        }
        else
        {
            Coverage.Took(RareBranch.CommitAwaitsVote);
        }
    }

    private void OnSnapshotOffer(in Message message)
    {
        // What is committed here is the leader's too. It is said each time: the leader may have the entries behind it,
        // and the word of a state that was installed may have been lost.
        _verified = Math.Max(_verified, CommitIndex);
        _isAskedToAcknowledge = true;
        AcknowledgeAsFollower();

        // Install only above what is committed here.
        if (message.Position.Index <= CommitIndex)
        {
            Coverage.Took(RareBranch.OfferOfOldManifest);
        }
        else if (_fetching == default)
        {
            _fetching = message.Position;
            _output.Fetch = (message.From, message.Position);
        }
        else
        {
            Coverage.Took(RareBranch.OfferWhileFetching);
        }
    }

    /// <summary>
    /// Whether a fetched manifest may be put in place now: the host asks just before it does, takes no other step until
    /// <see cref="Input.ManifestInstalled"/>, and answers <see cref="Input.ManifestFailed"/> when entries have
    /// overtaken the manifest meanwhile, or it is of a later term than this node has heard of; while the journal
    /// writes, it asks again later.
    /// </summary>
    /// <param name="position">What it ends with.</param>
    /// <param name="committedBy">The term that its giver was in when it gave it: what it holds was committed by
    /// then.</param>
    public bool MayInstall(LogPosition position, long committedBy) =>
        position.Index > CommitIndex && _durability.IsIdle && _rules.MayInstall(position, committedBy, Term);

    /// <summary>
    /// Whether a fetched manifest may take the place of tables that cannot be applied to any more, whatever is
    /// committed here: when its entry is in the log, durably, so that the log stays as it is. Then it holds what this
    /// log does through there (paper 5.3, log matching). The host sees that it is not behind what it has applied, and
    /// does as for <see cref="MayInstall"/>, but need not wait for the journal to rest: only, as with whatever is
    /// committed here, until the term is on the disk.
    /// </summary>
    /// <param name="position">What it ends with.</param>
    /// <param name="committedBy">As for <see cref="MayInstall"/>.</param>
    public bool MayReplaceTables(LogPosition position, long committedBy) =>
        Role != Role.Leader
        && KeepsTailBehind(position)
        && _rules.MayInstall(position, committedBy, Term)
        && _rules.MayCommitAsFollower(_durability.VoteIsDurable);

    /// <summary>
    /// Whether a manifest at <paramref name="position"/> leaves the journal as it is: its entry is in the log, durably.
    /// Else the journal begins anew behind it.
    /// </summary>
    public bool KeepsTailBehind(LogPosition position) =>
        _rules.KeepsTail(_log.Has(position), position.Index <= _durability.DurableIndex);

    private void OnManifestInstalled(
        LogPosition position,
        long committedBy,
        Configuration configuration,
        long configurationIndex
    )
    {
        _fetching = default;
        ConsensusException.Unless(
            MayInstall(position, committedBy) || MayReplaceTables(position, committedBy),
            "a manifest is installed only above what is committed, when the journal rests, or where the log "
                + "has its entry, and of a term that is known"
        );
        bool tailIsKept = KeepsTailBehind(position);
        if (tailIsKept)
        {
            Coverage.Took(
                position.Index > CommitIndex ? RareBranch.ManifestKeptTail : RareBranch.ManifestReplacedTables
            );
            CommitIndex = Math.Max(CommitIndex, position.Index);
        }
        else
        {
            Coverage.Took(RareBranch.ManifestReplacedLog);
            _output.DroppedAfter = _log.Base.Index;
            _log.Reset(position, configuration, configurationIndex);
            CommitIndex = position.Index;
        }

        // Should it lead next, it has this to offer. The host's next word of a manifest comes with its next flush,
        // which an idle cluster never makes.
        _manifest = position;
        _durability.Installed(position.Index, tailIsKept);
        _outcomes.Clear();

        // It was committed in this term or before: the leader of this one has it.
        _verified =
            !Leader.IsNone ? Math.Max(_verified, position.Index)
            : tailIsKept ? _verified
            : 0;
        _isAskedToAcknowledge = !Leader.IsNone;
        HealDamage();
        AcknowledgeAsFollower();
    }
}
