using Rookery.Cluster.Log;
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
    private const int QuietMeasuresBeforeIdle = 10;

    private ITimer? _clock;
    private Entry[] _incoming = new Entry[64];
    private long _writeBegun;
    private int _forwarded;
    private long _progressSeen;
    private long _progressAt;
    private long _leader;
    private long _seenConfigurationIndex;
    private int _ticks;
    private bool _isTicking;
    private int _quietMeasures;
    private long _measuredIndex;

    private bool _hasLeaderRole;
    private bool _isTransferring;

    // When this node lost a leadership whose last frames may not be committed. Their callers learn from the next leader
    // what became of them, or, after a while, that nobody knows.
    private long? _leadershipLostAt;

    /// <summary>Who leads, as far as this node knows.</summary>
    public NodeId Leader => new(Volatile.Read(ref _leader));

    /// <summary>Told under the lock, so to return at once, when leader or term may have changed.</summary>
    internal Action? RoleSeen { get; set; }

    /// <summary>Commands of other members' clients that are not answered yet.</summary>
    internal int ForwardedInFlight => Volatile.Read(ref _forwarded);

    /// <summary>The newest format level that this node's program knows.</summary>
    internal int NewestFormatLevel => _store.Options.NewestFormatLevel;

    internal bool HasLeaderRole => Volatile.Read(ref _hasLeaderRole);

    private bool MayPropose => IsReady && !Volatile.Read(ref _isTransferring);

    /// <inheritdoc/>
    public void Received(in Message message, ReadOnlySpan<JournalFrame> frames)
    {
        lock (_host.Gate)
        {
            if (message.To == Self)
            {
                _lostLeader = message.From == _lostLeader ? NodeId.None : _lostLeader;
                _heard[message.From] = _host.Now;
                _host.Step(Input.Received(_host.Now, message, EntriesOf(frames)), proposed: null, frames);
                _host.EndStep();
            }
        }
    }

    /// <inheritdoc/>
    public void Unreachable(NodeId node)
    {
        lock (_host.Gate)
        {
            _lostLeader = node == Leader ? node : _lostLeader;
            _host.Step(Input.PeerUnreachable(_host.Now, node));
            _host.EndStep();
        }
    }

    /// <inheritdoc/>
    /// <remarks>
    /// Only in the term that the command names, and never passed on: who sent it may have given it up when it heard of
    /// the next leader, and nothing of it may take effect after that.
    /// </remarks>
    public async ValueTask<CommandOutcome> ProposeForwardedAsync(
        CommandBuffer command,
        CancellationToken cancellationToken
    )
    {
        Interlocked.Increment(ref _forwarded);
        try
        {
            bool leads;
            lock (_host.Gate)
            {
                // A program of before names no term.
                command.LeaderTerm = command.LeaderTerm == 0 ? _host.Core.Term : command.LeaderTerm;
                leads = _host.Core.Role == Role.Leader && _host.Core.Term == command.LeaderTerm;
            }

            if (leads)
            {
                return await ProposeHereAsync(command, NothingToCommitHere, cancellationToken);
            }

            command.Dispose();
            return new CommandOutcome(Refusal ?? NoLeader);
        }
        finally
        {
            Interlocked.Decrement(ref _forwarded);
        }
    }

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
    internal Configuration Configuration => Volatile.Read(ref _configuration);

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
                _syncs.Slow()
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
                _catchUp.CloseIdle();
                DropIdleEntries();

                // A segment that a reader kept is given back after the manifest that released it was told of.
                _host.Step(Input.Released(_host.Now, _journal.FirstIndex - 1));
                Measure();
                MeasureSpace();
                _reads.AskWhetherCaughtUp();
                SeekStateIfNeeded();
            }

            ReadClockIfDue();
            _host.Step(Input.Tick(_host.Now));
            _reads.GiveUpLate();
            GiveUpUncommitted();
            GiveUpForwards();
            LetLookForLeader();
            _host.EndStep();
        }
    }

    /// <summary>Tells the core how the store does. Under the lock.</summary>
    private void Measure() =>
        _host.Step(
            Input.Measured(
                _host.Now,
                new StoreHealth(
                    _syncs.Slow(),
                    StallMicroseconds(),
                    BoardPenalty: !_progress.IsBlocked ? _options.BoardPenalty() : StoreHealth.CannotApply,
                    _store.SpareBytes
                )
            )
        );

    /// <summary>What the core has to know of entries, until the next call. Under the lock.</summary>
    private ReadOnlyMemory<Entry> EntriesOf(ReadOnlySpan<JournalFrame> frames)
    {
        if (frames.Length > _incoming.Length)
        {
            _incoming = new Entry[frames.Length * 2];
        }

        for (int i = 0; i < frames.Length; i++)
        {
            _incoming[i] = LogStart.EntryOf(
                frames[i].Type,
                frames[i].Index,
                frames[i].Term,
                frames[i].Payload.Length,
                frames[i].Payload
            );
        }

        return _incoming.AsMemory(0, frames.Length);
    }

    /// <summary>
    /// Publishes who leads and who belongs to the cluster, and answers who waits for a majority that this node does not
    /// have any more. Under the lock.
    /// </summary>
    private void SeeRole()
    {
        Volatile.Write(ref _configuration, _host.Core.Configuration);
        foreach (var made in _host.Output.Made)
        {
            if (made.Type == EntryType.NoOp)
            {
                Volatile.Write(ref _readyIndex, made.Index);
            }
            else
            {
                MindClock();
            }
        }

        bool wasTransferring = _isTransferring;
        Volatile.Write(ref _isTransferring, _host.Core.IsTransferring);
        if (wasTransferring && !_isTransferring)
        {
            _threads.Wake();
        }

        if (_host.Output.RoleChanged || _host.Core.ConfigurationIndex != _seenConfigurationIndex)
        {
            _seenConfigurationIndex = _host.Core.ConfigurationIndex;
            KeepEntries();
            Volatile.Write(ref _roleStamp, _roleStamp + 1);
        }

        if (!_host.Output.RoleChanged)
        {
            return;
        }

        bool leads = _host.Core.Role == Role.Leader;
        SeeLeader(_host.Core.Leader);
        if (HasLeaderRole && !leads)
        {
            Volatile.Write(ref _readyIndex, long.MaxValue);
            _leadershipLostAt = _host.Now;
        }
        else if (leads)
        {
            _leadershipLostAt = null;
        }

        Volatile.Write(ref _hasLeaderRole, leads);
        _threads.Wake();
        LetLookForLeader();
        RoleSeen?.Invoke();
    }

    /// <summary>
    /// The next leader commits a frame or puts another in its place, mostly at once: after a hand-over it has them all.
    /// </summary>
    private void GiveUpUncommitted()
    {
        if (
            _leadershipLostAt is not { } lost
            || _host.Now - lost <= (ReadIndexService.PatienceInTimeouts + 1) * _host.Core.ElectionTimeoutMicroseconds
        )
        {
            return;
        }

        _leadershipLostAt = null;
        for (long index = Math.Max(_host.Core.ApplyThrough + 1, _cache.FirstIndex); index <= _cache.LastIndex; index++)
        {
            if (_cache.TryGet(index, out var frame) && frame.Count > 0)
            {
                RefuseFrame(frame, Overtaken);
            }
        }
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

    /// <summary>
    /// When nothing came for a while, members have what there is, and who was away is served from the journal: a leader
    /// that had loaded documents kept 10 MiB for nobody.
    /// </summary>
    private void DropIdleEntries()
    {
        _quietMeasures = LastIndexInLog == _measuredIndex ? _quietMeasures + 1 : 0;
        _measuredIndex = LastIndexInLog;
        if (_quietMeasures == QuietMeasuresBeforeIdle)
        {
            _cache.ReleaseThrough(_progress.Applied, bytes: 0);
        }
    }

    /// <summary>For how long the journal has shown no sign of life in the write that is outstanding.</summary>
    private long StallMicroseconds()
    {
        long begun = Volatile.Read(ref _writeBegun);
        long progress = _journal.Progress;
        if (progress != _progressSeen)
        {
            (_progressSeen, _progressAt) = (progress, _host.Now);
        }

        return begun == 0 ? 0 : _host.Now - Math.Max(begun, _progressAt);
    }
}
