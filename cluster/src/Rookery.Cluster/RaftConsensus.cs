using Rookery.Cluster.Commit;
using Rookery.Cluster.Contents;
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
/// Consensus on a node's journal, alone or with other members: the journal is the log. The proposals that queued during
/// the last journal write become one entry. The entry is sent to the members while it is written here, is committed
/// when a majority has it durably, and is applied; then its callers are answered.
/// </summary>
/// <remarks>
/// <para>This type only wires its parts. <see cref="RaftHost"/> owns the core and the consensus lock.
/// <see cref="StepHandler"/> executes the core's output. A command enters at <see cref="ProposalIntake"/>, is written
/// by <see cref="WritePipeline"/> and applied by <see cref="ApplyPipeline"/>; reads wait in
/// <see cref="ReadIndexService"/>.</para>
/// <para>It has no thread of its own: <see cref="CommitThreads"/>, <see cref="ConsensusTicker"/> and the network drive
/// it, or a test step by step. The remarks of each type name the lock that guards its fields.</para>
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
        _store.RetainsTombstones = _network is not null;
        Roster = new MemberRoster(store);
        int seed = options.Seed ?? System.Security.Cryptography.RandomNumberGenerator.GetInt32(int.MaxValue);
        var start = LogStart.Of(store, Members.IdOf(store.NodeId), options.MayFoundCluster, seed);
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
        Log = new ReplicatedLog(Host, Proposals.Answers, store.Journal.OperationsBeforeNext);
        _log = new LogReplication(
            Log,
            new JournalWriter(Host, Log, store.Journal, _measures.Health, Proposals.Answers),
            new EntrySender(Host, Log, store)
        );
        Contents = options.ContentPeers is { } contentPeers
            ? new ContentExchange(Host, store, contentPeers, Deliver)
            : null;
        Intake = new ProposalIntake(Host, store, _measures.Space, _reads, Proposals, Contents?.Sharing);
        Writes = new WritePipeline(Host, _reads, _measures.Time, _log, Proposals, Intake, store.Attachments.Replicated);
        Applies = new ApplyPipeline(Host, store, _reads, _measures, Log, Proposals);
        Threads = new CommitThreads(Host, Proposals.Queue, Writes, Applies, store.Time);
        Intake.CommitOnCallingThread = Threads.CommitOnCallingThread;
        Installer = new SnapshotInstaller(Host, store, Roster, _reads, _log, Applies, Threads, Contents?.Snapshot);
        Applies.Blocked = Installer.FetchStateIfBlocked;
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
            new CoreEventReporter(Host, Roster)
        );
        Host.Handler = _handler;
        _log.Journal.SetRetainedBytes();
        store.DurablePositionAdvanced = OnManifestDurable;
    }

    /// <summary>
    /// Opens consensus for a node without other members. Throws, before it writes anything, an
    /// <see cref="UnknownCommitException"/> if the store has other members, and a <see cref="DataFormatException"/> if
    /// the format file belongs to another node.
    /// </summary>
    public static OpenConsensus Alone { get; } =
        static store =>
        {
            // Skipped if the node has peers: a member that was removed is not a member in its own log either, so
            // the check would not prove that the format file belongs to another node.
            if (!store.Options.HasPeers)
            {
                RefuseForeignFormat(store);
            }

            return HasOtherMembers(store)
                ? throw new UnknownCommitException(store.AppliedIndex, store.Journal.LastIndex)
                : Open(store, new ConsensusOptions());
        };

    /// <summary>The members' records.</summary>
    internal MemberRoster Roster { get; }

    /// <summary>The core, its lock and the published state.</summary>
    internal RaftHost Host { get; }

    /// <summary>The log with its cached entries. Used under the lock.</summary>
    internal ReplicatedLog Log { get; }

    /// <summary>The parts that process proposals.</summary>
    internal Proposals Proposals { get; }

    /// <summary>Accepts commands.</summary>
    internal ProposalIntake Intake { get; }

    /// <summary>Moves proposals from the queue to the journal.</summary>
    internal WritePipeline Writes { get; }

    /// <summary>Applies committed entries.</summary>
    internal ApplyPipeline Applies { get; }

    /// <summary>The threads that write and apply.</summary>
    internal CommitThreads Threads { get; }

    /// <summary>Fetches and installs snapshots of other members.</summary>
    internal SnapshotInstaller Installer { get; }

    /// <summary>The contents of attachments; null for a node without peers.</summary>
    internal ContentExchange? Contents { get; }

    /// <summary>Reports this node's role, the members and the replication lag.</summary>
    internal ClusterReport Report { get; }

    /// <summary>Steps the core with ticks.</summary>
    internal ConsensusTicker Ticker { get; }

    /// <summary>This node's id in consensus.</summary>
    public NodeId Self => Host.Self;

    /// <inheritdoc/>
    public Action<string>? DiagnosisModeEntered
    {
        get => Host.DiagnosisModeEntered;
        set => Host.DiagnosisModeEntered = value;
    }

    /// <inheritdoc/>
    public Action? JournalWritten
    {
        get => Writes.JournalWritten;
        set => Writes.JournalWritten = value;
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
    public bool HasLeader => !Host.Leadership.Leader.IsNone;

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
        if (Host.IsInDiagnosisMode)
        {
            return ValueTask.FromResult(false);
        }

        return IsOnlyMember ? ValueTask.FromResult(true) : _reads.WaitForReadIndexAsync();
    }

    /// <inheritdoc/>
    public bool AnswersAtOnce => IsOnlyMember && Report.IsViewCurrent;

    // On a node without peers, every answered write is applied here, so a snapshot taken now contains it.
    private bool IsOnlyMember => _network is null && Host.Leadership.IsReady;

    /// <inheritdoc/>
    public void EndWaitingReads() => _reads.RefuseWaitingAndLater();

    /// <inheritdoc/>
    public ClusterTime Time => _measures.Time.Now;

    /// <summary>
    /// Sets the cluster's time to the median of the voters' clocks, on an operator's order. Works only on the leader.
    /// </summary>
    /// <returns>The result, and a sentence that describes it.</returns>
    public (ClockAnswer Answer, string Sentence) ConfirmClock() => _measures.Time.Confirm();

    /// <inheritdoc/>
    public long AppliedIndex => Host.Progress.Applied;

    private static bool HasOtherMembers(NodeStore store)
    {
        if (store.Journal.Configuration.IsEmpty)
        {
            return store.Options.HasPeers;
        }

        var (configuration, _) = ConfigurationEncoding.Read(store.Journal.Configuration.Span);
        return configuration.Voters.Length + configuration.Learners.Length > 1
            || !configuration.IsVoter(Members.IdOf(store.NodeId));
    }

    // This check is for nodes without an identity (NodeIdentity). Such a node never had other members, so the only
    // member in its log is the node that wrote the log. If the format file named another node, this node would wait
    // forever for that member. If a node has an identity, the format file was already compared with the identity.
    private static void RefuseForeignFormat(NodeStore store)
    {
        if (store.Journal.Configuration.IsEmpty)
        {
            return;
        }

        var (configuration, _) = ConfigurationEncoding.Read(store.Journal.Configuration.Span);
        if (!configuration.IsMember(Members.IdOf(store.NodeId)))
        {
            throw store.MakeForeignFormatException();
        }
    }

    /// <summary>
    /// Opens consensus on a store. If the node is the only member, it becomes leader and applies its journal before
    /// this returns.
    /// </summary>
    /// <exception cref="UnappliedDamageException">A committed entry needs a row that cannot be read.</exception>
    /// <exception cref="DataFormatException">There is no network, and this node is not a member of its log: the format
    /// file belongs to another node.</exception>
    /// <exception cref="IOException">The journal cannot be written or read.</exception>
    public static RaftConsensus Open(NodeStore store, ConsensusOptions options)
    {
        if (options.Network is null)
        {
            RefuseForeignFormat(store);
        }

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
        Contents?.Dispose();
        Installer.Dispose();
        Ticker.Dispose();
        Applies.Dispose();
        lock (Host.Gate)
        {
            // Halt first: a caller that began to wait later would wait for ticks that no longer come.
            Host.Halt();
            Proposals.Forwarder?.WakeLeaderWaiters();
            _reads.RefuseWaiting();
        }
    }

    /// <inheritdoc/>
    public CommitStatistics ReadStatistics() =>
        new(Applies.AppliedEntries, Applies.AppliedCommands, Proposals.Answers.Unanswered);

    /// <summary>
    /// Commits and applies everything queued, on the calling thread. For tests that drive consensus step by step.
    /// </summary>
    internal void RunUntilIdle()
    {
        // Without short-circuiting, so that each round does both.
        while (Writes.WriteOnce() | Applies.ApplyOnce()) { }
    }

    /// <summary>
    /// Returns an offer of this node's state: the changes since an etag if they are much smaller, otherwise the whole
    /// state.
    /// </summary>
    /// <param name="since">The etag through which the member has all changes; null when it needs the whole
    /// state.</param>
    /// <param name="through">The member's applied index. An older state is useless to the member.</param>
    /// <returns>Null while the offer is being written, or while this leader's tables have not reached
    /// <paramref name="through"/>: ask again.</returns>
    /// <exception cref="IOException">This node offers no state; the message says why.</exception>
    public Task<SnapshotOffer?> OfferStateAsync(long? since, long through) => _provider.OfferAsync(since, through);

    /// <summary>The leader; none when this node knows none.</summary>
    public NodeId Leader => Host.Leadership.Leader;

    /// <summary>Invoked under the lock when leader or term may have changed. It must return at once.</summary>
    internal Action? LeadershipChanged
    {
        get => _handler.LeadershipChanged;
        set => _handler.LeadershipChanged = value;
    }

    /// <summary>The newest format level that this node's version supports.</summary>
    internal int NewestFormatLevel => _store.Options.NewestFormatLevel;

    /// <summary>
    /// The configuration as of the core's last step. Each connection reads it every second, without the lock, which is
    /// held for seconds while a snapshot is installed on a slow SD card.
    /// </summary>
    internal Configuration Configuration => Host.Leadership.Configuration;

    /// <summary>Returns the current state of consensus.</summary>
    public ConsensusState ReadState() => Report.ReadState();

    /// <inheritdoc/>
    public ConsensusStatistics ReadCluster() => Report.ReadCluster();

    /// <inheritdoc/>
    public void Received(in Message message, ReadOnlySpan<JournalFrame> frames)
    {
        if (Contents is null || message.To != Self || !Contents.TryHold(message, frames))
        {
            Deliver(message, frames);
        }
    }

    private void Deliver(in Message message, ReadOnlySpan<JournalFrame> frames)
    {
        lock (Host.Gate)
        {
            if (message.To == Self)
            {
                Proposals.Forwarder?.RecordContact(message.From);
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
            Proposals.Forwarder?.RecordBrokenConnection(node);
            Host.Step(Input.PeerUnreachable(Host.Now, node));
            Host.EndStep();
        }
    }

    /// <inheritdoc/>
    public ValueTask<CommandOutcome> ProposeForwardedAsync(
        CommandBuffer command,
        CancellationToken cancellationToken
    ) => Intake.ProposeForwardedAsync(command, cancellationToken);

    /// <summary>Proposes a change of a member's role.</summary>
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

    /// <summary>Transfers leadership to a member, or to the best voter for <see cref="NodeId.None"/>.</summary>
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
        // Report the position of the last flush. Without it, no snapshot could be offered to a lagging member before
        // the next flush.
        OnManifestDurable(_store.DurablePosition);
        Ticker.Tick();
        while (Host.Leadership.IsAlone && !Host.Leadership.IsReady)
        {
            Ticker.Tick();
            bool madeProgress = Writes.WriteOnce() | Applies.ApplyOrThrow();
            if (Refusal is { } refusal)
            {
                throw new DataFormatException(refusal.Message);
            }

            Invariant.Holds(madeProgress || Host.Leadership.IsReady, "a node alone becomes leader by itself");
        }
    }

    /// <inheritdoc cref="RaftHost.HaltInDiagnosisMode"/>
    /// <param name="reason">The reason, and what to do.</param>
    internal void HaltInDiagnosisMode(string reason) => Host.HaltInDiagnosisMode(reason);

    private void OnManifestDurable(JournalPosition position)
    {
        lock (Host.Gate)
        {
            Host.Step(Input.ManifestDurable(Host.Now, new LogPosition(position.Term, position.Index)));
            Host.Step(Input.Released(Host.Now, _store.Journal.FirstIndex - 1));
        }
    }
}
