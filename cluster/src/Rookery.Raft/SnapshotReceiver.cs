namespace Rookery.Raft;

/// <summary>
/// A follower's side of InstallSnapshot (the paper, section 7): tells the host to fetch a snapshot when the entries
/// that this node misses are compacted. One fetch runs at a time.
/// </summary>
internal sealed class SnapshotReceiver(MemberState state, Follower follower, Outbox outbox)
{
    private readonly RaftLog _log = state.Log;

    // The position of the snapshot that the host fetches; zeros when no fetch runs.
    private LogPosition _fetching;

    public void HandleOffer(in Message message)
    {
        follower.AcknowledgeCommitIndex();

        // Only a snapshot after the commit index contains entries that this node lacks.
        if (message.Position.Index <= _log.CommitIndex)
        {
            Coverage.Count(RareBranch.OfferOfOldSnapshot);
        }
        else if (_fetching == default)
        {
            _fetching = message.Position;
            outbox.Output.Fetch = (message.From, message.Position);
        }
        else
        {
            Coverage.Count(RareBranch.OfferWhileFetching);
        }
    }

    /// <summary>Records that the fetch failed, or that the fetched snapshot must not be installed.</summary>
    public void HandleFailure()
    {
        Coverage.Count(RareBranch.FetchedForNothing);
        _fetching = default;
    }

    /// <inheritdoc cref="RaftCore.MayInstall"/>
    public bool MayInstall(LogPosition position, long committedBy) =>
        position.Index > _log.CommitIndex
        && _log.Durability.IsIdle
        && state.Rules.MayInstall(position, committedBy, state.Term);

    /// <inheritdoc cref="RaftCore.MayReplaceTables"/>
    public bool MayReplaceTables(LogPosition position, long committedBy) =>
        !state.IsLeader
        && _log.KeepsTailAfter(position)
        && state.Rules.MayInstall(position, committedBy, state.Term)
        && state.Rules.MayCommitAsFollower(_log.Durability.VoteIsDurable);

    /// <summary>Handles the report that a snapshot is installed.</summary>
    public void HandleInstalled(
        LogPosition position,
        long committedBy,
        Configuration configuration,
        long configurationIndex
    )
    {
        _fetching = default;
        ConsensusException.Unless(
            MayInstall(position, committedBy) || MayReplaceTables(position, committedBy),
            "a snapshot of a known term is installed above the commit index while no journal write is in "
                + "flight, or where the log has its entry"
        );
        bool tailIsKept = _log.KeepsTailAfter(position);
        if (!tailIsKept)
        {
            outbox.Output.DroppedAfter = _log.Entries.Base.Index;
        }

        _log.Install(position, configuration, configurationIndex, tailIsKept);
        follower.RecordInstalled(position.Index, tailIsKept);
    }
}
