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
    private readonly ReadIndexService _reads;
    private readonly NodeMeasures _measures;
    private readonly LogReplication _log;
    private readonly SnapshotProvider _provider;
    private readonly StepHandler _handler;

    private RaftConsensus(NodeStore store, ConsensusOptions options)
    {
        _store = store;
        _network = options.Network;
        _store.KeepsDeletions = _network is not null;
        Roster = new MemberRoster(store);
        int seed = options.Seed ?? System.Security.Cryptography.RandomNumberGenerator.GetInt32(int.MaxValue);
        var start = LogStart.Of(store, Members.IdOf(store.NodeId), options.MayBegin, seed);
        Host = new RaftHost(start, store.AppliedIndex, options, store.Time);
        _reads = new ReadIndexService(Host);
        _measures = new NodeMeasures(
            new ClusterTimeSource(Host, store),
            new StoreHealthMeter(Host, store),
            new VoterSpace(Host, store, Roster)
        );
        Proposals = new Proposals(
            new ProposalQueue { HasOtherWork = () => Writes!.HasWork },
            _network is null ? null : new ProposalForwarder(Host, _network),
            new ProposalAnswers(store.Admission, options.AnswersInline),
            new ReceiptKeeper(Roster)
        );
        var memory = new ReplicatedLog(Host, Proposals.Answers, store.Journal.OperationsBeforeNext);
        _log = new LogReplication(
            memory,
            new JournalWriter(Host, memory, store.Journal, _measures.Health, Proposals.Answers),
            new EntrySender(Host, memory, store)
        );
        Intake = new ProposalIntake(Host, store, _measures.Space, _reads, Proposals);
        Writes = new WritePipeline(Host, _reads, _measures.Time, _log, Proposals, Intake);
        Applies = new ApplyPipeline(Host, store, _reads, _measures, memory, Proposals);
        Threads = new CommitThreads(Host, Proposals.Queue, Writes, Applies, store.Time);
        Intake.CommitHere = Threads.CommitHere;
        Installer = new SnapshotInstaller(Host, store, Roster, _reads, _log, Applies, Threads);
        Applies.Blocked = Installer.SeekStateIfNeeded;
        _provider = new SnapshotProvider(Host, store);
        var diagnosis = new MemberDiagnosis(Host, Roster, _reads, Applies, Installer);
        Report = new ClusterReport(Host, store, Roster, _reads, _measures, diagnosis);
        Ticker = new ConsensusTicker(Host, store, _reads, _measures, _log, Proposals, Installer);
        _handler = new StepHandler(
            Host,
            _reads,
            _log,
            Proposals,
            Threads,
            Installer,
            Ticker,
            new CoreEventTeller(Host, Roster)
        );
        Host.Handler = _handler;
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

    /// <summary>The core, its lock and what is published of it.</summary>
    internal RaftHost Host { get; }

    /// <summary>The commands that are to be committed.</summary>
    internal Proposals Proposals { get; }

    /// <summary>Takes commands in.</summary>
    internal ProposalIntake Intake { get; }

    /// <summary>From the queue to the journal.</summary>
    internal WritePipeline Writes { get; }

    /// <summary>Applies what is committed.</summary>
    internal ApplyPipeline Applies { get; }

    /// <summary>The threads that write and apply.</summary>
    internal CommitThreads Threads { get; }

    /// <summary>Fetches states of other members.</summary>
    internal SnapshotInstaller Installer { get; }

    /// <summary>How the node stands in its cluster.</summary>
    internal ClusterReport Report { get; }

    /// <summary>Tells the core that time went on.</summary>
    internal ConsensusTicker Ticker { get; }

    /// <summary>This node, as the core knows it.</summary>
    public NodeId Self => Host.Self;

    /// <inheritdoc/>
    public Action<string>? Latched
    {
        get => Host.Latched;
        set => Host.Latched = value;
    }

    /// <inheritdoc/>
    public Action? FrameWritten
    {
        get => Writes.FrameWritten;
        set => Writes.FrameWritten = value;
    }

    /// <inheritdoc/>
    public Rejection? Refusal => Host.Refusal;

    /// <inheritdoc/>
    public bool IsLeader => Report.IsLeader;

    /// <inheritdoc/>
    public string NodeTag => Roster.TagOf(Self);

    /// <inheritdoc/>
    public string? LeaderTag => Report.LeaderTag;

    /// <inheritdoc/>
    public ClusterView View => Report.View;

    /// <inheritdoc/>
    public long Term => Host.Core.Term;

    /// <inheritdoc/>
    public ValueTask<CommandOutcome> ProposeAsync(CommandBuffer command, CancellationToken cancellationToken) =>
        Intake.ProposeAsync(command, cancellationToken);

    /// <inheritdoc/>
    public ValueTask<bool> ReadBarrierAsync()
    {
        if (Host.IsLatched)
        {
            return ValueTask.FromResult(false);
        }

        // Alone, answered means applied here, so any snapshot taken now sees every acknowledged write.
        return _network is null && Host.Leadership.IsReady ? ValueTask.FromResult(true) : _reads.AskAsync();
    }

    /// <inheritdoc/>
    public void EndWaitingReads() => _reads.EndWaiting();

    /// <inheritdoc/>
    public ClusterTime Time => _measures.Time.Now;

    /// <summary>An operator says that the clocks of the voters are right. On the leader.</summary>
    /// <returns>What came of it, and a sentence that says so.</returns>
    public (ClockAnswer Answer, string Sentence) ConfirmClock() => _measures.Time.Confirm();

    /// <inheritdoc/>
    public long AppliedIndex => Host.Progress.Applied;

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
        Threads.Start();
        lock (Host.Gate)
        {
            Ticker.Start();
        }
    }

    /// <inheritdoc/>
    public void Stop() => Threads.Stop();

    /// <inheritdoc/>
    public void Dispose()
    {
        Installer.Dispose();
        Ticker.Dispose();
        Applies.Dispose();
        lock (Host.Gate)
        {
            // Whoever comes later would wait for a clock that stands.
            Host.End();
            Proposals.Forwarder?.WakeLeaderWaiters();
            _reads.End();
        }
    }

    /// <inheritdoc/>
    public CommitStatistics ReadStatistics() => new(Applies.Frames, Applies.Commands, Proposals.Answers.Queued);

    /// <summary>
    /// Commits and applies what is queued, here and now: for tests that drive consensus step by step.
    /// </summary>
    internal void RunUntilIdle()
    {
        while (Writes.WriteOnce() | Applies.ApplyOnce()) { }
    }

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

    /// <summary>Who leads, as far as this node knows.</summary>
    public NodeId Leader => Host.Leadership.Leader;

    /// <summary>Told under the lock, so to return at once, when leader or term may have changed.</summary>
    internal Action? RoleSeen
    {
        get => _handler.RoleSeen;
        set => _handler.RoleSeen = value;
    }

    /// <summary>The newest format level that this node's program knows.</summary>
    internal int NewestFormatLevel => _store.Options.NewestFormatLevel;

    /// <summary>
    /// Who belongs to the cluster, as of the last step. Each connection asks each second: without the lock, which is
    /// held for seconds while a state is put in place on a slow card.
    /// </summary>
    internal Configuration Configuration => Host.Leadership.Configuration;

    /// <summary>How consensus stands now.</summary>
    public ConsensusState ReadState() => Report.ReadState();

    /// <inheritdoc/>
    public ConsensusStatistics ReadCluster() => Report.ReadCluster();

    /// <inheritdoc/>
    public void Received(in Message message, ReadOnlySpan<JournalFrame> frames)
    {
        lock (Host.Gate)
        {
            if (message.To == Self)
            {
                Proposals.Forwarder?.Hear(message.From);
                Host.Step(Input.Received(Host.Now, message, _log.Memory.EntriesOf(frames)), proposed: null, frames);
                Host.EndStep();
            }
        }
    }

    /// <inheritdoc/>
    public void Unreachable(NodeId node)
    {
        lock (Host.Gate)
        {
            Proposals.Forwarder?.Lose(node);
            Host.Step(Input.PeerUnreachable(Host.Now, node));
            Host.EndStep();
        }
    }

    /// <inheritdoc/>
    public ValueTask<CommandOutcome> ProposeForwardedAsync(
        CommandBuffer command,
        CancellationToken cancellationToken
    ) => Intake.ProposeForwardedAsync(command, cancellationToken);

    /// <summary>Gives a member another part.</summary>
    public ChangeAnswer ChangeMember(MemberChange change, NodeId node)
    {
        lock (Host.Gate)
        {
            Host.Step(Input.ChangeMember(Host.Now, change, node));
            var answer = Host.Output.ChangeAnswer;
            Host.EndStep();
            return Host.IsHalted ? ChangeAnswer.NotLeader : answer;
        }
    }

    /// <summary>Hands leadership to a member; to the best of the others for <see cref="NodeId.None"/>.</summary>
    public void Transfer(NodeId node)
    {
        lock (Host.Gate)
        {
            Host.Step(Input.Transfer(Host.Now, node));
            Host.EndStep();
        }
    }

    private void Begin()
    {
        // Else who lacks what the journal has given back would not be offered the state before the next flush.
        OnManifestDurable(_store.Durable);
        Ticker.Tick();
        while (Host.Leadership.IsAlone && !Host.Leadership.IsReady)
        {
            Ticker.Tick();
            bool works = Writes.WriteOnce() | Applies.ApplyOrThrow();
            if (Refusal is { } refusal)
            {
                throw new DataFormatException(refusal.Message);
            }

            Invariant.Holds(works || Host.Leadership.IsReady, "a node alone becomes leader by itself");
        }
    }

    /// <summary>Takes no part any more, because of what other members found wrong.</summary>
    /// <param name="sentence">Why, and what to do.</param>
    internal void Retire(string sentence) => Host.Retire(sentence);

    private void OnManifestDurable(JournalPosition position)
    {
        lock (Host.Gate)
        {
            Host.Step(Input.ManifestDurable(Host.Now, new LogPosition(position.Term, position.Index)));
            Host.Step(Input.Released(Host.Now, _store.Journal.FirstIndex - 1));
        }
    }
}
