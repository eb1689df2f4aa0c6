namespace Rookery.Raft;

/// <summary>A follower takes entries, and acknowledges what this leader's messages verified and its own disk holds.</summary>
public sealed partial class RaftCore
{
    private long verified;
    private long acknowledged;
    private bool isAskedToAcknowledge;
    private LogPosition fetching;

    private void OnAppend(in Message message, ReadOnlySpan<Entry> entries)
    {
        ConsensusException.Unless(message.Position.Index + entries.Length == message.LastIndex, "a message brings the entries it names");
        if (message.Position.Index > log.Base.Index && !log.Has(message.Position))
        {
            Refuse(message);
            return;
        }

        // What lies at or below the base is committed: it is the same in every log.
        int known = (int)Math.Clamp(log.Base.Index - message.Position.Index, 0, entries.Length);
        while (known < entries.Length && log.TermAt(entries[known].Index) == entries[known].Term)
        {
            known++;
        }

        bool shortens = rules.LateAppendShortens && log.LastIndex > message.LastIndex && message.LastIndex > log.Base.Index;
        if (shortens)
        {
            DropAfter(message.LastIndex);
        }

        if (known < entries.Length)
        {
            TakeOver(entries[known..]);
        }

        verified = Math.Max(verified, message.LastIndex);
        CommitAsFollower(message.Commit);
        isAskedToAcknowledge = true;
        AcknowledgeAsFollower();
    }

    private void TakeOver(ReadOnlySpan<Entry> entries)
    {
        if (entries[0].Index <= log.LastIndex)
        {
            DropAfter(entries[0].Index - 1);
        }

        foreach (var entry in entries)
        {
            log.Append(entry);
        }
    }

    private void DropAfter(long index)
    {
        ConsensusException.Unless(index >= CommitIndex, "what is committed is never replaced");
        log.TruncateAfter(index);
        durability.CutAfter(index);
        verified = Math.Min(verified, index);
        output.DroppedAfter = index;
    }

    private void Refuse(in Message message) =>
        Send(Reply(message, MessageKind.AppendReply) with
        {
            Refused = true,
            Position = message.Position,
            Hint = log.LastAtMost(message.Position.Index, message.Position.Term),
        });

    /// <summary>Answers for all that came since the last answer, once a sync covers it: many messages, one sync, one reply.</summary>
    private void AcknowledgeAsFollower()
    {
        if (Role != Role.Follower || Leader.IsNone || !isAskedToAcknowledge)
        {
            return;
        }

        long match = rules.Acknowledged(verified, durability.DurableIndex, log.LastIndex);
        isAskedToAcknowledge = match < verified;
        if (match > acknowledged || !isAskedToAcknowledge)
        {
            acknowledged = match;
            Send(Make(MessageKind.AppendReply, Leader) with { Position = new LogPosition(log.TermAt(match), match) });
        }
    }

    private void CommitAsFollower(long leaderCommit) =>
        CommitIndex = Math.Max(CommitIndex, rules.FollowerCommit(leaderCommit, verified));

    private void OnManifestOffer(in Message message)
    {
        if (message.Position.Index <= CommitIndex)
        {
            // Install only above what is committed here. What is committed is the leader's too.
            verified = Math.Max(verified, CommitIndex);
            isAskedToAcknowledge = true;
            AcknowledgeAsFollower();
        }
        else if (fetching == default)
        {
            fetching = message.Position;
            output.Fetch = (message.From, message.Position);
        }
    }

    /// <summary>
    /// Whether a fetched manifest may be put in place now: the host asks just before it does, takes no other step until <see cref="Input.ManifestInstalled"/>, and
    /// answers <see cref="Input.ManifestFailed"/> when entries have overtaken the manifest meanwhile; while the journal writes, it asks again later.
    /// </summary>
    public bool MayInstall(LogPosition position) => position.Index > CommitIndex && durability.IsIdle;

    /// <summary>Whether a manifest at <paramref name="position"/> leaves the journal as it is: its entry is in the log, durably. Else the journal begins anew behind it.</summary>
    public bool KeepsTailBehind(LogPosition position) => log.Has(position) && position.Index <= durability.DurableIndex;

    private void OnManifestInstalled(LogPosition position, Configuration configuration, long configurationIndex)
    {
        fetching = default;
        ConsensusException.Unless(MayInstall(position), "a manifest is installed only above what is committed, when the journal rests");
        bool tailIsKept = KeepsTailBehind(position);
        if (tailIsKept)
        {
            CommitIndex = position.Index;
        }
        else
        {
            output.DroppedAfter = log.Base.Index;
            log.Reset(position, configuration, configurationIndex);
            CommitIndex = position.Index;
        }

        durability.Installed(position.Index, tailIsKept);
        verified = Leader.IsNone ? 0 : Math.Max(verified, position.Index);
        isAskedToAcknowledge = !Leader.IsNone;
        HealDamage();
        AcknowledgeAsFollower();
    }
}
