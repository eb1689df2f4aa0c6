using Rookery.Cluster.Peers;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Raft;

namespace Rookery.Cluster.Commit;

/// <summary>Sends commands of clients that came to a member which does not lead to the one that does.</summary>
/// <remarks>
/// The lock of <see cref="RaftHost"/> guards all fields. Nothing is sent under it: what was given up goes on beside.
/// </remarks>
internal sealed class ProposalForwarder(
    RaftHost host,
    Leadership leadership,
    IPeerNetwork network,
    Action<Action> runBeside
)
{
    // How often a write is sent: again only when who was sent it says that it is in no log.
    private const int MostSendings = 2;

    // While no other node leads, a leader that is silent has as long as its leadership would last without a majority.
    private const int SilenceInTimeouts = ReadIndexService.PatienceInTimeouts + 1;

    private readonly HashSet<Forward> _forwards = [];

    // When each member was last heard of.
    private readonly Dictionary<NodeId, long> _heard = [];
    private TaskCompletionSource? _leaderAwaited;

    // The leader whose connection broke and that was not heard of since: what is to be forwarded waits for the next
    // one, about an election, instead of failing at once.
    private NodeId _lostLeader;

    /// <summary>A member was heard of. Under the lock.</summary>
    public void Hear(NodeId member)
    {
        _lostLeader = member == _lostLeader ? NodeId.None : _lostLeader;
        _heard[member] = host.Now;
    }

    /// <summary>The connection to a member broke. Under the lock.</summary>
    public void Lose(NodeId member) => _lostLeader = member == leadership.Leader ? member : _lostLeader;

    /// <summary>
    /// Sends a command to who leads, and once more to the leader of a later term when the first says that it is in no
    /// log: as one that transferred its leadership before it came to it.
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
    /// A leader that stands still, or is cut off, answers nothing of what it was sent, and its connection breaks much
    /// later.
    /// One that transferred its leadership answers: the next leader commits what it had, or puts something else in its
    /// place; what it had not put in the log is sent to the next leader. So who was heard of a moment ago keeps the
    /// time of one election; who was not has none left when another node leads. Under the lock.
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
            runBeside(() => givenUp.ForEach(static forward => forward.GiveUp()));
        }
    }

    /// <summary>
    /// The leader of a term later than one, once the network reaches it, or this node once it may propose; within two
    /// election timeouts. After them a leader that is not reached, or nobody when none was found.
    /// </summary>
    private async ValueTask<(NodeId Leader, long Term)> LeaderAsync(long laterThan)
    {
        long deadline = host.Now + (ReadIndexService.PatienceInTimeouts * host.Core.ElectionTimeoutMicroseconds);
        while (host.Refusal is null)
        {
            Task looked;
            lock (host.Gate)
            {
                var leader = host.Core.Term > laterThan ? leadership.Leader : NodeId.None;
                bool isLate = host.Now >= deadline;
                if (
                    leader == host.Self
                        ? leadership.IsReady
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
    public void LetLook()
    {
        _leaderAwaited?.SetResult();
        _leaderAwaited = null;
    }

    /// <summary>A command that a leader was sent and has not answered.</summary>
    private sealed class Forward(NodeId leader, long begun, long timeout, CancellationTokenSource ending)
    {
        public NodeId Leader { get; } = leader;

        public long Begun { get; } = begun;

        /// <summary>Of an election when it was sent: it grows with each that comes to nothing.</summary>
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
