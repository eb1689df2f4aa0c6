using Rookery.Cluster.Peers;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Raft;

namespace Rookery.Cluster.Commit;

/// <summary>Forwards commands of this follower's clients to the leader.</summary>
/// <remarks>
/// The lock of <see cref="RaftHost"/> guards all fields. Nothing is sent under it. Callers of abandoned forwards
/// continue on another thread.
/// </remarks>
internal sealed class ProposalForwarder(RaftHost host, IPeerNetwork network)
{
    // How often a command is sent. Resent only if the first leader reports that it is in no log.
    private const int MostSendings = 2;

    // How long a silent leader is waited for while no other leads, in election timeouts.
    private const int SilenceInTimeouts = ReadIndexService.PatienceInTimeouts + 1;

    private readonly HashSet<Forward> _forwards = [];

    // When each member was last heard of.
    private readonly Dictionary<NodeId, long> _heard = [];
    private TaskCompletionSource? _leaderAwaited;

    // The leader whose connection broke; cleared when it is heard again. Meanwhile commands wait for the next leader,
    // about an election, instead of failing at once.
    private NodeId _lostLeader;

    /// <summary>A member was heard of. Under the lock.</summary>
    public void Hear(NodeId member)
    {
        _lostLeader = member == _lostLeader ? NodeId.None : _lostLeader;
        _heard[member] = host.Now;
    }

    /// <summary>The connection to a member broke. Under the lock.</summary>
    public void Lose(NodeId member) => _lostLeader = member == host.Leadership.Leader ? member : _lostLeader;

    /// <summary>
    /// Sends a command to the leader, and once more to the leader of a later term if the first reports that it is in no
    /// log, for example because it had transferred leadership.
    /// </summary>
    /// <returns>The outcome; null when this node leads by now.</returns>
    public async ValueTask<CommandOutcome?> SendToLeaderAsync(
        CommandBuffer command,
        CancellationToken cancellationToken
    )
    {
        var outcome = new CommandOutcome(ProposalRejections.NoLeader);
        for (int sendings = 0; sendings < MostSendings; sendings++)
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
    /// Sends a command to the leader, and waits for the outcome for as long as there is hope that one comes.
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
                    // It still waited to be sent.
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
    /// Gives up forwards to silent leaders: after one election timeout of silence if another leads, else
    /// after <see cref="SilenceInTimeouts"/>. A leader that hangs or is cut off answers nothing, and its connection
    /// breaks much later. One that transferred its leadership still answers: the next leader commits or replaces what
    /// it had in its log, and the rest is sent to the next leader. Under the lock.
    /// </summary>
    public void GiveUpSilent()
    {
        List<Forward>? givenUp = null;
        foreach (var forward in _forwards)
        {
            bool isReplaced = !host.Core.Leader.IsNone && host.Core.Leader != forward.Leader;
            long patience = (isReplaced ? 1 : SilenceInTimeouts) * forward.Timeout;
            if (host.Now - Math.Max(forward.Begun, _heard.GetValueOrDefault(forward.Leader)) > patience)
            {
                (givenUp ??= []).Add(forward);
            }
        }

        if (givenUp is not null)
        {
            _forwards.ExceptWith(givenUp);
            // it may go on at once, and not under the lock
            host.Options.RunBeside(() => givenUp.ForEach(static forward => forward.GiveUp()));
        }
    }

    /// <summary>
    /// Waits up to two election timeouts for a reachable leader of a later term.
    /// </summary>
    /// <param name="laterThan">The term.</param>
    /// <returns>The leader, which is this node once it may propose; after the wait also a leader that is not reached,
    /// or nobody when there is none.</returns>
    private async ValueTask<(NodeId Leader, long Term)> LeaderAsync(long laterThan)
    {
        long deadline = host.Now + (ReadIndexService.PatienceInTimeouts * host.Core.ElectionTimeoutMicroseconds);
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
    /// Lets those who wait for a leader look again: when there may be one, and with each tick, because it may be
    /// reached by now, or their time may be over. Under the lock.
    /// </summary>
    public void WakeLeaderWaiters()
    {
        _leaderAwaited?.SetResult();
        _leaderAwaited = null;
    }

    /// <summary>A command that a leader was sent and has not answered.</summary>
    private sealed class Forward(NodeId leader, long begun, long timeout, CancellationTokenSource ending)
    {
        public NodeId Leader { get; } = leader;

        public long Begun { get; } = begun;

        /// <summary>The election timeout at the time of sending.</summary>
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
                // It was answered meanwhile.
            }
        }
    }
}
