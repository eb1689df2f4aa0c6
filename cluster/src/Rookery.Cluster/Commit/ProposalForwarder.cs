using Rookery.Cluster.Peers;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Raft;

namespace Rookery.Cluster.Commit;

/// <summary>Forwards commands of this follower's clients to the leader.</summary>
/// <remarks>
/// All fields are guarded by the lock of <see cref="RaftHost"/>. Commands are sent without the lock. Callers of
/// abandoned forwards continue on another thread.
/// </remarks>
internal sealed class ProposalForwarder(RaftHost host, IPeerNetwork network)
{
    // A command is sent at most twice. It is sent again only if the first leader reports that the command is in no log.
    private const int MaxSendings = 2;

    // The number of election timeouts to wait for a silent leader while no other leader is known.
    private const int SilenceInTimeouts = ReadIndexService.WaitInElectionTimeouts + 1;

    private readonly HashSet<Forward> _forwards = [];

    // When each member was last heard, in microseconds of the host's time.
    private readonly Dictionary<NodeId, long> _heard = [];
    private TaskCompletionSource? _leaderAwaited;

    // The leader whose connection broke; none once it is heard again. Meanwhile commands wait for the next leader
    // instead of failing at once.
    private NodeId _lostLeader;

    /// <summary>Records that a message of a member arrived. Under the lock.</summary>
    public void RecordContact(NodeId member)
    {
        _lostLeader = member == _lostLeader ? NodeId.None : _lostLeader;
        _heard[member] = host.Now;
    }

    /// <summary>Records that the connection to a member broke. Under the lock.</summary>
    public void RecordBrokenConnection(NodeId member) =>
        _lostLeader = member == host.Leadership.Leader ? member : _lostLeader;

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
        for (int sendings = 0; sendings < MaxSendings; sendings++)
        {
            var (leader, term) = await LeaderAsync(laterThan: command.LeaderTerm);
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
        using var ending = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        Forward forward;
        lock (host.Gate)
        {
            forward = new Forward(leader, host.Now, host.Core.ElectionTimeoutMicroseconds, ending);
            _forwards.Add(forward);
        }

        try
        {
            var outcome = await network.ForwardAsync(leader, command, ending.Token);
            return !forward.IsGivenUp || cancellationToken.IsCancellationRequested
                ? outcome
                : outcome.Rejection?.Kind switch
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
    /// after <see cref="SilenceInTimeouts"/> of them. The connection to a hung or isolated leader breaks only much
    /// later. A leader that transferred leadership is not silent, so it still answers. Under the lock.
    /// </summary>
    public void AbandonSilentForwards()
    {
        List<Forward>? givenUp = null;
        foreach (var forward in _forwards)
        {
            bool isReplaced = !host.Core.Leader.IsNone && host.Core.Leader != forward.Leader;
            long timeout = (isReplaced ? 1 : SilenceInTimeouts) * forward.Timeout;
            if (host.Now - Math.Max(forward.Begun, _heard.GetValueOrDefault(forward.Leader)) > timeout)
            {
                (givenUp ??= []).Add(forward);
            }
        }

        if (givenUp is not null)
        {
            _forwards.ExceptWith(givenUp);
            // Cancelling may continue a caller synchronously, so it runs without the lock.
            host.Options.RunBeside(() => givenUp.ForEach(static forward => forward.GiveUp()));
        }
    }

    /// <summary>Waits up to two election timeouts for a reachable leader of a later term.</summary>
    /// <param name="laterThan">The leader's term must be later than this one.</param>
    /// <returns>The leader and its term, or this node once it leads and may propose. After the timeout, a known but
    /// unreachable leader, or none.</returns>
    private async ValueTask<(NodeId Leader, long Term)> LeaderAsync(long laterThan)
    {
        long deadline = host.Now + (ReadIndexService.WaitInElectionTimeouts * host.Core.ElectionTimeoutMicroseconds);
        while (host.Refusal is null)
        {
            Task looked;
            lock (host.Gate)
            {
                var leader = host.Core.Term > laterThan ? host.Leadership.Leader : NodeId.None;
                bool isLate = host.Now >= deadline;
                if (
                    leader == host.Self
                        ? host.Leadership.IsReady
                        : !leader.IsNone && leader != _lostLeader && (isLate || network.Reaches(leader))
                )
                {
                    return (leader, host.Core.Term);
                }

                if (isLate)
                {
                    break;
                }

                _leaderAwaited ??= new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
                looked = _leaderAwaited.Task;
            }

            await looked;
        }

        return default;
    }

    /// <summary>
    /// Wakes callers that wait for a leader, to check again. Called when a leader may have appeared, and with each
    /// tick: the leader may have become reachable, or a caller's timeout may have passed. Under the lock.
    /// </summary>
    public void WakeLeaderWaiters()
    {
        _leaderAwaited?.SetResult();
        _leaderAwaited = null;
    }

    /// <summary>A command that was sent to a leader and is not answered yet.</summary>
    private sealed class Forward(NodeId leader, long begun, long timeout, CancellationTokenSource ending)
    {
        public NodeId Leader { get; } = leader;

        public long Begun { get; } = begun;

        /// <summary>The election timeout when the command was sent, in microseconds.</summary>
        public long Timeout { get; } = timeout;

        public bool IsGivenUp { get; private set; }

        public void GiveUp()
        {
            IsGivenUp = true;
            try
            {
                ending.Cancel();
            }
            catch (ObjectDisposedException)
            {
                // The forward was answered meanwhile.
            }
        }
    }
}
