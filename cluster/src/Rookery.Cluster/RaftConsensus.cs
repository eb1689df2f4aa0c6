using Rookery.Cluster.Commit;
using Rookery.Cluster.Log;
using Rookery.Cluster.Membership;
using Rookery.Cluster.Peers;
using Rookery.Cluster.Transfer;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Nodes;
using Rookery.Documents.Transfer;
using Rookery.Journal;
using Rookery.Platform;
using Rookery.Raft;

namespace Rookery.Cluster;

/// <summary>
/// Consensus on the journal of a node, alone or with other members: the journal is the log. What queued while the
/// previous journal write was in flight becomes one frame, goes to the members while it is written here, is committed
/// when a majority has it durably, is applied, and then answered.
/// </summary>
/// <remarks>
/// <para>The door to the types that do it. <see cref="RaftHost"/> has the core and the one lock; no input or output is
/// done under it. <see cref="StepHandler"/> carries out what the core says. A command comes in at
/// <see cref="ProposalIntake"/>, is written by <see cref="WritePipeline"/> and applied by <see cref="ApplyPipeline"/>;
/// reads wait in <see cref="ReadIndexService"/>.</para>
/// <para>This class has no thread of its own: <see cref="CommitThreads"/>, <see cref="ConsensusTicker"/> and the
/// network drive it, or a test step by step. Each type says in its remarks what its fields are guarded by.</para>
/// </remarks>
public sealed class RaftConsensus : IConsensusHost, IPeerReceiver
{
    private readonly NodeStore _store;
    private readonly IPeerNetwork? _network;
    private readonly RaftHost _host;
    private readonly ReadIndexService _reads;
    private readonly NodeMeasures _measures;
    private readonly LogReplication _log;
    private readonly Proposals _proposals;
    private readonly ProposalIntake _intake;
    private readonly WritePipeline _writes;
    private readonly ApplyPipeline _applies;
    private readonly CommitThreads _threads;
    private readonly SnapshotInstaller _installer;
    private readonly SnapshotProvider _provider;
    private readonly ClusterReport _report;
    private readonly ConsensusTicker _ticker;
    private readonly StepHandler _handler;

    private RaftConsensus(NodeStore store, ConsensusOptions options)
    {
        _store = store;
        _network = options.Network;
        _store.KeepsDeletions = _network is not null;
        Roster = new MemberRoster(store);
        int seed = options.Seed ?? System.Security.Cryptography.RandomNumberGenerator.GetInt32(int.MaxValue);
        var start = LogStart.Of(store, Members.IdOf(store.NodeId), options.MayBegin, seed);
        _host = new RaftHost(start, store.AppliedIndex, options, store.Time);
        _reads = new ReadIndexService(_host);
        _measures = new NodeMeasures(
            new ClusterTimeSource(_host, store),
            new StoreHealthMeter(_host, store),
            new VoterSpace(_host, store, Roster)
        );
        _proposals = new Proposals(
            new ProposalQueue { HasOtherWork = () => HasWork },
            _network is null ? null : new ProposalForwarder(_host, _network),
            new ProposalAnswers(store.Admission, options.AnswersInline),
            new ReceiptKeeper(Roster)
        );
        var memory = new ReplicatedLog(_host, _proposals.Answers, store.Journal.OperationsBeforeNext);
        _log = new LogReplication(
            memory,
            new JournalWriter(_host, memory, store.Journal, _measures.Health, _proposals.Answers),
            new EntrySender(_host, memory, store)
        );
        _intake = new ProposalIntake(_host, store, _measures.Space, _reads, _proposals);
        _writes = new WritePipeline(_host, _reads, _measures.Time, _log, _proposals, _intake);
        _applies = new ApplyPipeline(_host, store, _reads, _measures, memory, _proposals);
        _threads = new CommitThreads(_host, _proposals.Queue, _writes, _applies, store.Time);
        _intake.CommitHere = _threads.CommitHere;
        _installer = new SnapshotInstaller(_host, store, Roster, _reads, _log, _applies, _threads);
        _applies.Blocked = _installer.SeekStateIfNeeded;
        _provider = new SnapshotProvider(_host, store);
        var diagnosis = new MemberDiagnosis(_host, Roster, _reads, _applies, _installer);
        _report = new ClusterReport(_host, store, Roster, _reads, _measures, diagnosis);
        _ticker = new ConsensusTicker(_host, store, _reads, _measures, _log, _proposals, _installer);
        _handler = new StepHandler(
            _host,
            _reads,
            _log,
            _proposals,
            _threads,
            _installer,
            _ticker,
            new CoreEventTeller(_host, Roster)
        );
        _host.Handler = _handler;
        _log.Journal.KeepEntries();
        store.ManifestDurable = OnManifestDurable;
    }

    /// <summary>
    /// Consensus of a node that has no other members. For one that has, it ends with an
    /// <see cref="UnknownCommitException"/>, and writes nothing.
    /// </summary>
    public static OpenConsensus Alone { get; } =
        static store =>
            IsOneOfSeveral(store)
                ? throw new UnknownCommitException(store.AppliedIndex, store.Journal.LastIndex)
                : Open(store, new ConsensusOptions());

    /// <summary>What the cluster knows of its members.</summary>
    internal MemberRoster Roster { get; }

    /// <summary>This node, as the core knows it.</summary>
    public NodeId Self => _host.Self;

    /// <inheritdoc/>
    public Action<string>? Latched
    {
        get => _host.Latched;
        set => _host.Latched = value;
    }

    /// <inheritdoc/>
    public Action? FrameWritten
    {
        get => _writes.FrameWritten;
        set => _writes.FrameWritten = value;
    }

    /// <inheritdoc/>
    public Rejection? Refusal => _host.Refusal;

    /// <inheritdoc/>
    public bool IsLeader => _report.IsLeader;

    /// <inheritdoc/>
    public string NodeTag => Roster.TagOf(Self);

    /// <inheritdoc/>
    public string? LeaderTag => _report.LeaderTag;

    /// <inheritdoc/>
    public ClusterView View => _report.View;

    /// <inheritdoc/>
    public long Term => _host.Core.Term;

    /// <inheritdoc/>
    public ValueTask<CommandOutcome> ProposeAsync(CommandBuffer command, CancellationToken cancellationToken) =>
        _intake.ProposeAsync(command, cancellationToken);

    /// <inheritdoc/>
    public ValueTask<bool> ReadBarrierAsync()
    {
        if (_host.IsLatched)
        {
            return ValueTask.FromResult(false);
        }

        // Alone, answered means applied here, so any snapshot taken now sees every acknowledged write.
        return _network is null && _host.Leadership.IsReady ? ValueTask.FromResult(true) : _reads.AskAsync();
    }

    /// <inheritdoc/>
    public void EndWaitingReads() => _reads.EndWaiting();

    /// <inheritdoc/>
    public ClusterTime Time => _measures.Time.Now;

    /// <summary>An operator says that the clocks of the voters are right. On the leader.</summary>
    /// <returns>What came of it, and a sentence that says so.</returns>
    public (ClockAnswer Answer, string Sentence) ConfirmClock() => _measures.Time.Confirm();

    /// <summary>
    /// Whether this node has applied all that was committed when it first asked the leader of this term.
    /// </summary>
    internal bool HasCaughtUp => _report.HasCaughtUp;

    /// <inheritdoc/>
    public long AppliedIndex => _host.Progress.Applied;

    private static bool IsOneOfSeveral(NodeStore store)
    {
        if (store.Journal.Configuration.IsEmpty)
        {
            return store.Options.HasPeers;
        }

        var (configuration, _) = ConfigurationEncoding.Read(store.Journal.Configuration.Span);
        return configuration.Voters.Length + configuration.Learners.Length > 1
            || !configuration.IsVoter(Members.IdOf(store.NodeId));
    }

    /// <summary>
    /// Puts consensus on a store. A node alone has become leader and applied its journal when this returns.
    /// </summary>
    /// <exception cref="UnappliedDamageException">A committed frame needs a row that cannot be read.</exception>
    /// <exception cref="IOException">The journal cannot be written or read.</exception>
    public static RaftConsensus Open(NodeStore store, ConsensusOptions options)
    {
        var consensus = new RaftConsensus(store, options);
        consensus.Begin();
        return consensus;
    }

    /// <inheritdoc/>
    public void Start()
    {
        _threads.Start();
        lock (_host.Gate)
        {
            _ticker.Start();
        }
    }

    /// <inheritdoc/>
    public void Stop() => _threads.Stop();

    /// <inheritdoc/>
    public void Dispose()
    {
        _installer.Dispose();
        _ticker.Dispose();
        _applies.Dispose();
        lock (_host.Gate)
        {
            // Whoever comes later would wait for a clock that stands.
            _host.End();
            _proposals.Forwarder?.WakeLeaderWaiters();
            _reads.End();
        }
    }

    /// <inheritdoc/>
    public CommitStatistics ReadStatistics() => new(_applies.Frames, _applies.Commands, _proposals.Answers.Queued);

    /// <summary>
    /// Commits and applies what is queued, here and now: for tests that drive consensus step by step.
    /// </summary>
    internal void RunUntilIdle()
    {
        while (WriteOnce() | ApplyOnce()) { }
    }

    /// <summary>Whether there is something to write that is not in the queue.</summary>
    internal bool HasWork => _writes.HasWork;

    /// <summary>What waits to be written.</summary>
    internal ProposalQueue Queue => _proposals.Queue;

    /// <summary>Writes the next frame.</summary>
    /// <returns>Whether there was one.</returns>
    internal bool WriteOnce() => _writes.WriteOnce();

    /// <summary>Whether there is an entry to apply.</summary>
    internal bool HasToApply => _applies.HasToApply;

    /// <summary>Applies the next committed entry.</summary>
    /// <returns>Whether there was one.</returns>
    internal bool ApplyOnce() => _applies.ApplyOnce();

    /// <summary>Whether to apply may mean to wait for a flush.</summary>
    internal bool ApplyMayWait => _applies.ApplyMayWait;

    /// <summary>Answers what still waits when nobody will commit or apply it here any more.</summary>
    internal void RefuseWaiting() => _threads.RefuseWaiting();

    /// <summary>
    /// This node's state for a member that fell behind: what changed since an etag, when that is much less, or
    /// everything.
    /// </summary>
    /// <param name="since">The etag through which the member has everything; null when it needs everything.</param>
    /// <param name="through">The index through which the member has applied everything: what ends before is of no use
    /// to it.</param>
    /// <returns>Null while it is being written, or this node leads and its tables have not come to
    /// <paramref name="through"/>: to be asked again.</returns>
    /// <exception cref="IOException">There is none to be had; the message says why.</exception>
    public Task<StateOffer?> OfferStateAsync(long? since, long through) => _provider.OfferAsync(since, through);

    /// <summary>
    /// Why the last attempt to fetch the state of another member came to nothing, in sentences; null before one did,
    /// and when one succeeded since.
    /// </summary>
    internal string? FetchTrouble => _installer.Trouble;

    /// <summary>Whether what is committed needs what this node cannot read, and another member has to help.</summary>
    internal bool CannotApply => _host.Progress.IsBlocked;

    /// <summary>Who leads, as far as this node knows.</summary>
    public NodeId Leader => _host.Leadership.Leader;

    /// <summary>Told under the lock, so to return at once, when leader or term may have changed.</summary>
    internal Action? RoleSeen
    {
        get => _handler.RoleSeen;
        set => _handler.RoleSeen = value;
    }

    /// <summary>Commands of other members' clients that are not answered yet.</summary>
    internal int ForwardedInFlight => _intake.ForwardedInFlight;

    /// <summary>The newest format level that this node's program knows.</summary>
    internal int NewestFormatLevel => _store.Options.NewestFormatLevel;

    /// <summary>
    /// Who belongs to the cluster, as of the last step. Each connection asks each second: without the lock, which is
    /// held for seconds while a state is put in place on a slow card.
    /// </summary>
    internal Configuration Configuration => _host.Leadership.Configuration;

    /// <summary>How consensus stands now.</summary>
    public ConsensusState ReadState() => _report.ReadState();

    /// <inheritdoc/>
    public ConsensusStatistics ReadCluster() => _report.ReadCluster();

    /// <summary>The cluster as its leader sees it; null where this node does not lead.</summary>
    internal LeaderView? ReadAsLeader() => _report.ReadAsLeader();

    /// <summary>How far the other members have come; none while this node does not lead.</summary>
    internal IReadOnlyList<PeerProgress> ReadPeers() => _report.ReadPeers();

    /// <summary>Time went on. Twenty times a second while there are other members.</summary>
    internal void Tick() => _ticker.Tick();

    /// <inheritdoc/>
    public void Received(in Message message, ReadOnlySpan<JournalFrame> frames)
    {
        lock (_host.Gate)
        {
            if (message.To == Self)
            {
                _proposals.Forwarder?.Hear(message.From);
                _host.Step(Input.Received(_host.Now, message, _log.Memory.EntriesOf(frames)), proposed: null, frames);
                _host.EndStep();
            }
        }
    }

    /// <inheritdoc/>
    public void Unreachable(NodeId node)
    {
        lock (_host.Gate)
        {
            _proposals.Forwarder?.Lose(node);
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

    /// <summary>Refuses new commands, in order to stop.</summary>
    internal void RefuseBecauseStopping() => _host.RefuseBecauseStopping();

    private void Begin()
    {
        // Else who lacks what the journal has given back would not be offered the state before the next flush.
        OnManifestDurable(_store.Durable);
        Tick();
        while (_host.Leadership.IsAlone && !_host.Leadership.IsReady)
        {
            Tick();
            bool works = WriteOnce() | _applies.ApplyOrThrow();
            if (Refusal is { } refusal)
            {
                throw new DataFormatException(refusal.Message);
            }

            Invariant.Holds(works || _host.Leadership.IsReady, "a node alone becomes leader by itself");
        }
    }

    /// <summary>Takes no part any more, because of what other members found wrong.</summary>
    /// <param name="sentence">Why, and what to do.</param>
    internal void Retire(string sentence) => _host.Retire(sentence);

    private void OnManifestDurable(JournalPosition position)
    {
        lock (_host.Gate)
        {
            _host.Step(Input.ManifestDurable(_host.Now, new LogPosition(position.Term, position.Index)));
            _host.Step(Input.Released(_host.Now, _store.Journal.FirstIndex - 1));
        }
    }
}
