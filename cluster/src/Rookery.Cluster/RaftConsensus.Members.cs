using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Journal;
using Rookery.Raft;

namespace Rookery.Cluster;

/// <summary>The other members: what comes from them, and who leads.</summary>
public sealed partial class RaftConsensus
{
    // The shortest election timeout is a second, and the core wants ten ticks in it.
    private static readonly TimeSpan TickInterval = TimeSpan.FromMilliseconds(50);

    private const int TicksBetweenMeasures = 20;

    private ITimer? _clock;
    private int _ticks;
    private bool _isTicking;

    /// <summary>Who leads, as far as this node knows.</summary>
    public NodeId Leader => _leadership.Leader;

    /// <summary>Told under the lock, so to return at once, when leader or term may have changed.</summary>
    internal Action? RoleSeen { get; set; }

    /// <summary>Commands of other members' clients that are not answered yet.</summary>
    internal int ForwardedInFlight => _intake.ForwardedInFlight;

    /// <summary>The newest format level that this node's program knows.</summary>
    internal int NewestFormatLevel => _store.Options.NewestFormatLevel;

    /// <inheritdoc/>
    public void Received(in Message message, ReadOnlySpan<JournalFrame> frames)
    {
        lock (_host.Gate)
        {
            if (message.To == Self)
            {
                _forwarder?.Hear(message.From);
                _host.Step(Input.Received(_host.Now, message, _log.EntriesOf(frames)), proposed: null, frames);
                _host.EndStep();
            }
        }
    }

    /// <inheritdoc/>
    public void Unreachable(NodeId node)
    {
        lock (_host.Gate)
        {
            _forwarder?.Lose(node);
            _host.Step(Input.PeerUnreachable(_host.Now, node));
            _host.EndStep();
        }
    }

    /// <inheritdoc/>
    public ValueTask<CommandOutcome> ProposeForwardedAsync(
        CommandBuffer command,
        CancellationToken cancellationToken
    ) => _intake.ProposeForwardedAsync(command, cancellationToken);

    /// <summary>Gives a member another part.</summary>
    public ChangeAnswer ChangeMember(MemberChange change, NodeId node)
    {
        lock (_host.Gate)
        {
            _host.Step(Input.ChangeMember(_host.Now, change, node));
            var answer = _host.Output.ChangeAnswer;
            _host.EndStep();
            return _host.IsHalted ? ChangeAnswer.NotLeader : answer;
        }
    }

    /// <summary>Hands leadership to a member; to the best of the others for <see cref="NodeId.None"/>.</summary>
    public void Transfer(NodeId node)
    {
        lock (_host.Gate)
        {
            _host.Step(Input.Transfer(_host.Now, node));
            _host.EndStep();
        }
    }

    /// <summary>
    /// Who belongs to the cluster, as of the last step. Each connection asks each second: without the lock, which is
    /// held for seconds while a state is put in place on a slow card.
    /// </summary>
    internal Configuration Configuration => _leadership.Configuration;

    /// <summary>How consensus stands now.</summary>
    public ConsensusState ReadState()
    {
        lock (_host.Gate)
        {
            return new ConsensusState(
                _host.Core.Role,
                _host.Core.Term,
                _host.Core.Leader,
                _host.Core.Configuration,
                _host.Core.WasRemoved,
                _host.Core.IsDamaged,
                _host.Core.ConfigurationIndex,
                _host.Core.ChangeIsPending,
                _host.Core.Last.Index,
                _host.Core.DurableIndex,
                _host.Core.CommitIndex,
                _progress.Applied,
                _host.Core.ElectionTimeoutMicroseconds,
                _health.SlowWriteMicroseconds
            );
        }
    }

    /// <summary>Time went on. Twenty times a second while there are other members.</summary>
    internal void Tick()
    {
        lock (_host.Gate)
        {
            if (_ticks++ % TicksBetweenMeasures == 0)
            {
                _sender.CloseIdleReaders();
                _log.ReleaseIdle(_progress.Applied);

                // A segment that a reader kept is given back after the manifest that released it was told of.
                _host.Step(Input.Released(_host.Now, _journal.FirstIndex - 1));
                _health.Measure();
                _space.Measure();
                _reads.AskWhetherCaughtUp();
                _installer.SeekStateIfNeeded();
            }

            _clusterTime.ReadIfDue();
            _host.Step(Input.Tick(_host.Now));
            _reads.GiveUpLate();
            _writes.GiveUpUncommitted();
            _forwarder?.GiveUpSilent();
            _forwarder?.LetLook();
            _host.EndStep();
        }
    }

    /// <summary>
    /// Publishes who leads and who belongs to the cluster, and answers who waits for a majority that this node does not
    /// have any more. Under the lock.
    /// </summary>
    private void SeeRole()
    {
        var change = _leadership.See();
        if (change.HasFlag(LeadershipChange.ConfigurationMade))
        {
            MindClock();
        }

        if (change.HasFlag(LeadershipChange.TransferEnded))
        {
            _queue.Wake();
        }

        if (change.HasFlag(LeadershipChange.RoleOrMembers))
        {
            KeepEntries();
        }

        if (!change.HasFlag(LeadershipChange.Role))
        {
            return;
        }

        _forwarder?.GiveUpSilent();
        _writes.SeeRole(change);
        _queue.Wake();
        _forwarder?.LetLook();
        RoleSeen?.Invoke();
    }

    /// <summary>A node alone needs no clock. With others it ticks.</summary>
    private void MindClock()
    {
        if (_clock is null && _network is not null)
        {
            _clock = _time.CreateTimer(_ => TickUnlessOneWaits(), null, TickInterval, TickInterval);
        }
    }

    /// <summary>
    /// A timer does not wait for who it called: while the lock is held for long, ticks would take one thread of the
    /// pool after the other.
    /// </summary>
    private void TickUnlessOneWaits()
    {
        if (Interlocked.Exchange(ref _isTicking, true))
        {
            return;
        }

        try
        {
            Tick();
        }
        finally
        {
            Volatile.Write(ref _isTicking, false);
        }
    }
}
