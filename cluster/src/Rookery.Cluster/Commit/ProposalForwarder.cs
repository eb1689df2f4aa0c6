using Rookery.Cluster.Peers;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Raft;

namespace Rookery.Cluster.Commit;

/// <summary>Forwards commands of this follower's clients to the leader.</summary>
/// <remarks>
/// All fields are guarded by the lock of <see cref="RaftHost"/>. Commands are sent without the lock. A
/// forward to a silent leader is abandoned in the background, because its caller may continue synchronously, which must
/// not happen under the lock.
/// </remarks>
internal sealed class ProposalForwarder(RaftHost host, IPeerNetwork network)
{
    // A command is sent at most twice. It is sent again only if the first leader reports that the command is in no log.
    private const int MaxAttempts = 2;

    // The number of election timeouts to wait for a silent leader while no other leader is known.
    private const int SilenceInElectionTimeouts = ReadIndexService.WaitInElectionTimeouts + 1;

    private readonly HashSet<Forward> _forwards = [];

    // When each member was last heard, in microseconds of the host's time.
    private readonly Dictionary<NodeId, long> _lastHeard = [];
    private TaskCompletionSource? _leaderMayHaveChanged;

    // The leader whose connection broke; set to none once that leader is heard again. Until then, commands wait for
    // the next leader instead of failing at once.
    private NodeId _lostLeader;

    /// <summary>Records that a message of a member arrived. Under the lock.</summary>
    public void RecordContact(NodeId member)
    {
        if (member == _lostLeader)
        {
            _lostLeader = NodeId.None;
        }

        _lastHeard[member] = host.Now;
    }

    /// <summary>Records that the connection to a member broke. Under the lock.</summary>
    public void RecordBrokenConnection(NodeId member)
    {
        if (member == host.Leadership.Leader)
        {
            _lostLeader = member;
        }
    }

    /// <summary>
    /// Sends a command to the leader. If that leader reports that the command is in no log (for example because it
    /// transferred leadership), sends it once more to the leader of a later term.
    /// </summary>
    /// <returns>The outcome; null when this node has become leader.</returns>
    public async ValueTask<CommandOutcome?> SendToLeaderAsync(
        CommandBuffer command,
        CancellationToken cancellationToken
    )
    {
        var outcome = new CommandOutcome(ProposalRejections.NoLeader);
        for (int attempts = 0; attempts < MaxAttempts; attempts++)
        {
            var (leader, term) = await WaitForLeaderAsync(laterThan: command.LeaderTerm);
            if (leader == host.Self)
            {
                command.LeaderTerm = 0;
                return null;
            }

            if (leader.IsNone)
            {
                return host.Refusal is { } refusal ? new CommandOutcome(refusal) : outcome;
            }

            command.LeaderTerm = term;
            outcome = await ForwardAsync(leader, command, cancellationToken);
            // NoLeader: the other node guarantees that the command is in no log, so it may be sent again.
            if (outcome.Rejection is not { Kind: RejectionKind.NoLeader } || cancellationToken.IsCancellationRequested)
            {
                break;
            }
        }

        return outcome;
    }

    /// <summary>
    /// Sends a command to the leader, and waits for the outcome until <see cref="AbandonSilentForwards"/> abandons the
    /// forward.
    /// </summary>
    private async ValueTask<CommandOutcome> ForwardAsync(
        NodeId leader,
        CommandBuffer command,
        CancellationToken cancellationToken
    )
    {
        using var cancellation = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        Forward forward;
        lock (host.Gate)
        {
            forward = new Forward(leader, host.Now, host.Core.ElectionTimeoutMicroseconds, cancellation);
            _forwards.Add(forward);
        }

        try
        {
            var outcome = await network.ForwardAsync(leader, command, cancellation.Token);
            if (!forward.IsAbandoned || cancellationToken.IsCancellationRequested)
            {
                return outcome;
            }

            return outcome.Rejection?.Kind switch
            {
                RejectionKind.OutcomeUnknown => new CommandOutcome(ProposalRejections.LeaderIsSilent),
                // The command was not sent.
                RejectionKind.Canceled => new CommandOutcome(ProposalRejections.NoLeader),
                _ => outcome,
            };
        }
        finally
        {
            lock (host.Gate)
            {
                _forwards.Remove(forward);
            }
        }
    }

    /// <summary>
    /// Abandons forwards to silent leaders: after one election timeout of silence if another member leads, otherwise
    /// after <see cref="SilenceInElectionTimeouts"/> election timeouts. The connection to a hung or isolated leader
    /// breaks only much later. A leader that transferred leadership still runs, and usually answers before the
    /// timeout. Under the lock.
    /// </summary>
    public void AbandonSilentForwards()
    {
        List<Forward>? abandoned = null;
        foreach (var forward in _forwards)
        {
            bool hasOtherLeader = !host.Core.Leader.IsNone && host.Core.Leader != forward.Leader;
            long timeout = (hasOtherLeader ? 1 : SilenceInElectionTimeouts) * forward.Timeout;
            long lastContact = Math.Max(forward.StartedAt, _lastHeard.GetValueOrDefault(forward.Leader));
            if (host.Now - lastContact > timeout)
            {
                abandoned ??= [];
                abandoned.Add(forward);
            }
        }

        if (abandoned is not null)
        {
            _forwards.ExceptWith(abandoned);
            // Cancelling may continue a caller synchronously, so it runs without the lock.
            host.Options.RunInBackground(() => abandoned.ForEach(static forward => forward.Abandon()));
        }
    }

    /// <summary>Waits up to two election timeouts for a reachable leader of a later term.</summary>
    /// <param name="laterThan">The leader's term must be later than this one.</param>
    /// <returns>The leader and its term, or this node once it leads and may propose. After the timeout, a known but
    /// unreachable leader, or none.</returns>
    private async ValueTask<(NodeId Leader, long Term)> WaitForLeaderAsync(long laterThan)
    {
        long deadline = host.Now + (ReadIndexService.WaitInElectionTimeouts * host.Core.ElectionTimeoutMicroseconds);
        while (host.Refusal is null)
        {
            Task leaderMayHaveChanged;
            lock (host.Gate)
            {
                var leader = host.Core.Term > laterThan ? host.Leadership.Leader : NodeId.None;
                bool hasTimedOut = host.Now >= deadline;
                bool isUsable =
                    leader == host.Self ? host.Leadership.IsReady : MayForwardTo(leader, evenUnreachable: hasTimedOut);
                if (isUsable)
                {
                    return (leader, host.Core.Term);
                }

                if (hasTimedOut)
                {
                    break;
                }

                _leaderMayHaveChanged ??= new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
                leaderMayHaveChanged = _leaderMayHaveChanged.Task;
            }

            await leaderMayHaveChanged;
        }

        return default;
    }

    private bool MayForwardTo(NodeId leader, bool evenUnreachable) =>
        !leader.IsNone && leader != _lostLeader && (evenUnreachable || network.Reaches(leader));

    /// <summary>
    /// Wakes callers that wait for a leader, to check again. Called when a leader may have appeared, and with each
    /// tick: the leader may have become reachable, or a caller's timeout may have passed. Under the lock.
    /// </summary>
    public void WakeLeaderWaiters()
    {
        // Replaced first: a caller that waits again must not find the completed task.
        var changed = _leaderMayHaveChanged;
        _leaderMayHaveChanged = null;
        changed?.SetResult();
    }

    /// <summary>A command that was sent to a leader and is not answered yet.</summary>
    private sealed class Forward(NodeId leader, long startedAt, long timeout, CancellationTokenSource cancellation)
    {
        public NodeId Leader { get; } = leader;

        /// <summary>When the command was sent, in microseconds of the host's time.</summary>
        public long StartedAt { get; } = startedAt;

        /// <summary>The election timeout when the command was sent, in microseconds.</summary>
        public long Timeout { get; } = timeout;

        public bool IsAbandoned { get; private set; }

        public void Abandon()
        {
            IsAbandoned = true;
            try
            {
                cancellation.Cancel();
            }
            catch (ObjectDisposedException)
            {
                // The forward was answered meanwhile.
            }
        }
    }
}
