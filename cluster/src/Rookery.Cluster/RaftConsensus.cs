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
/// <para>The lock of <see cref="RaftHost"/> guards the entries in memory; no input or output is done under it. Journal
/// writes belong to who has the turn of <see cref="ProposalQueue"/>, applying to who holds the flag of
/// <see cref="CommitThreads"/>.</para>
/// <para>This class has no thread of its own: <see cref="CommitThreads"/> and the network drive it, or a test step by
/// step.</para>
/// </remarks>
public sealed partial class RaftConsensus : IConsensusHost, IPeerReceiver, IStepHandler
{
    private readonly NodeStore _store;
    private readonly NodeJournal _journal;
    private readonly ConsensusOptions _options;
    private readonly IPeerNetwork? _network;
    private readonly TimeProvider _time;
    private readonly RaftHost _host;
    private readonly ApplyProgress _progress;
    private readonly ReadIndexService _reads;
    private readonly Leadership _leadership;
    private readonly ClusterTimeSource _clusterTime;
    private readonly VoterSpace _space;
    private readonly StoreHealthMeter _health;
    private readonly ProposalAnswers _answers;
    private readonly ReplicatedLog _log;
    private readonly EntrySender _sender;
    private readonly ReceiptKeeper _receipts;
    private readonly ProposalForwarder? _forwarder;
    private readonly ProposalQueue _queue;
    private readonly ProposalIntake _intake;
    private readonly JournalWriter _writer;
    private readonly WritePipeline _writes;
    private readonly ApplyPipeline _applies;
    private readonly CommitThreads _threads;
    private readonly SnapshotInstaller _installer;
    private readonly SnapshotProvider _provider;
    private Tuple<(long, long), ClusterView>? _view;

    private RaftConsensus(NodeStore store, ConsensusOptions options)
    {
        _store = store;
        _options = options;
        _network = options.Network;
        _journal = store.Journal;
        _store.KeepsDeletions = _network is not null;
        _time = store.Time;
        Roster = new MemberRoster(store.ClusterRecords);
        int seed = options.Seed ?? System.Security.Cryptography.RandomNumberGenerator.GetInt32(int.MaxValue);
        var start = LogStart.Of(store, Members.IdOf(store.NodeId), options.MayBegin, seed);
        _host = new RaftHost(start, options, _time, this);
        _progress = new ApplyProgress(store.AppliedIndex);
        _reads = new ReadIndexService(_host, _progress);
        _leadership = new Leadership(_host, _progress, hasNetwork: _network is not null);
        KeepEntries();
        _clusterTime = new ClusterTimeSource(_host, store, options.IsClockSynchronised);
        _space = new VoterSpace(_host, store, Roster, TagOf, options.TroubleFound);
        _health = new StoreHealthMeter(_host, store, _progress, options.BoardPenalty);
        _answers = new ProposalAnswers(store.Admission, options.AnswersInline);
        _log = new ReplicatedLog(_host, _answers, _journal.OperationsBeforeNext);
        _sender = new EntrySender(_host, _log, store, options);
        _receipts = new ReceiptKeeper(Self, TagOf);
        _forwarder = _network is null ? null : new ProposalForwarder(_host, _leadership, _network, options.RunBeside);
        _queue = new ProposalQueue { HasOtherWork = () => HasWork };
        _intake = new ProposalIntake(_host, store, _leadership, _space, _reads, _forwarder, _queue, _answers);
        _writer = new JournalWriter(_host, _log, _journal, _health, _answers, options);
        _writes = new WritePipeline(
            _host,
            _leadership,
            _progress,
            _reads,
            _clusterTime,
            _log,
            _writer,
            _receipts,
            _queue,
            _intake,
            _answers,
            options
        );
        _applies = new ApplyPipeline(
            _host,
            store,
            _leadership,
            _progress,
            _reads,
            _clusterTime,
            _health,
            _log,
            _queue,
            _answers,
            _forwarder,
            options
        );
        _threads = new CommitThreads(_host, _queue, _writes, _applies, _time);
        _intake.CommitHere = _threads.CommitHere;
        _installer = new SnapshotInstaller(
            _host,
            store,
            Roster,
            _leadership,
            _progress,
            _reads,
            _log,
            _writer,
            _applies,
            _queue,
            _threads,
            options
        );
        _applies.Blocked = _installer.SeekStateIfNeeded;
        _provider = new SnapshotProvider(_host, store, _leadership, _progress, options.RunBeside);
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
    public bool IsLeader => Refusal is null && _leadership.IsReady;

    /// <inheritdoc/>
    public string NodeTag => Roster.Of(Self)?.Record.Tag ?? _store.Options.NodeTag;

    /// <inheritdoc/>
    public string? LeaderTag => IsLeader ? NodeTag : Roster.Of(Leader)?.Record.Tag;

    /// <inheritdoc/>
    public ClusterView View
    {
        get
        {
            var stamp = (_leadership.Stamp, _store.ClusterRecords.Revision);
            var known = Volatile.Read(ref _view);
            if (known is null || known.Item1 != stamp)
            {
                known = Tuple.Create(stamp, Roster.View(ReadState(), _store));
                Volatile.Write(ref _view, known);
            }

            return known.Item2;
        }
    }

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
        return _network is null && _leadership.IsReady ? ValueTask.FromResult(true) : _reads.AskAsync();
    }

    /// <inheritdoc/>
    public void EndWaitingReads() => _reads.EndWaiting();

    /// <inheritdoc/>
    public ClusterTime Time => _clusterTime.Now;

    /// <summary>An operator says that the clocks of the voters are right. On the leader.</summary>
    /// <returns>What came of it, and a sentence that says so.</returns>
    public (ClockAnswer Answer, string Sentence) ConfirmClock() => _clusterTime.Confirm();

    /// <summary>
    /// Whether this node has applied all that was committed when it first asked the leader of this term.
    /// </summary>
    internal bool HasCaughtUp => !Leader.IsNone && _reads.CaughtUpIn == Term;

    /// <inheritdoc/>
    public long AppliedIndex => _progress.Applied;

    private const string Diverged =
        "This node came to other results than a majority by applying the same writes, so it stopped taking "
        + "part. Keep its data for a report, and let another, empty card join in its place.";

    internal string TagOf(NodeId member) =>
        member == Self ? NodeTag : Roster.Of(member)?.Record.Tag ?? member.ToString();

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
        MindClock();
    }

    /// <inheritdoc/>
    public void Stop() => _threads.Stop();

    /// <inheritdoc/>
    public void Dispose()
    {
        _installer.Dispose();
        _clock?.Dispose();
        _applies.Dispose();
        lock (_host.Gate)
        {
            // Whoever comes later would wait for a clock that stands.
            _host.End();
            _forwarder?.LetLook();
            _reads.End();
        }
    }

    /// <inheritdoc/>
    public CommitStatistics ReadStatistics() => new(_applies.Frames, _applies.Commands, _answers.Queued);

    /// <summary>
    /// Commits and applies what is queued, here and now: for tests that drive consensus step by step.
    /// </summary>
    internal void RunUntilIdle()
    {
        while (WriteOnce() | ApplyOnce()) { }
    }

    /// <summary>Whether there is something to write that is not in the queue.</summary>
    internal bool HasWork => _writes.HasWork;

    internal ProposalQueue Queue => _queue;

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
    internal bool CannotApply => _progress.IsBlocked;

    /// <summary>Refuses new commands, in order to stop.</summary>
    internal void RefuseBecauseStopping() => _host.RefuseBecauseStopping();

    private void Begin()
    {
        // Else who lacks what the journal has given back would not be offered the state before the next flush.
        OnManifestDurable(_store.Durable);
        Tick();
        while (_leadership.IsAlone && !_leadership.IsReady)
        {
            Tick();
            bool works = WriteOnce() | _applies.ApplyOrThrow();
            if (Refusal is { } refusal)
            {
                throw new DataFormatException(refusal.Message);
            }

            Invariant.Holds(works || _leadership.IsReady, "a node alone becomes leader by itself");
        }
    }

    /// <inheritdoc/>
    void IStepHandler.CarryOut(LogFrame? proposed, ReadOnlySpan<JournalFrame> received)
    {
        _log.TakeIn(proposed, received);
        if (!_receipts.IsIdle)
        {
            _receipts.See(_host.Core, _host.Now);
        }

        _installer.BeginIfOffered();
        if (_writer.BeginIfDue())
        {
            _queue.Wake();
        }

        _sender.Send();
        _reads.Serve();
        SeeRole();
        _progress.MayApplyThrough(_host.Core.ApplyThrough);
        TellEvents();
    }

    private void TellEvents()
    {
        foreach (var (what, node) in _host.Output.Events)
        {
            _options.TroubleFound?.Invoke(
                what switch
                {
                    CoreEvent.PeerLostEntries =>
                        $"{Roster.NameAndTagOf(node)} has fewer entries than it once confirmed: its card lost them. "
                            + $"They are sent again; replace the card.",
                    CoreEvent.LeaderStoreStalled =>
                        "This node's disk did not answer for some seconds, so it hands leadership over.",
                    CoreEvent.QuorumLost =>
                        "This node led and does not hear from a majority of the members any more, so it stepped down.",
                    CoreEvent.OldIncarnation =>
                        $"Messages of an earlier start of {Roster.NameAndTagOf(node)} came in: when this goes on, "
                            + $"an old card or a copy of it is running.",
                    CoreEvent.OutcomesDiffer =>
                        $"{Roster.NameAndTagOf(node)} and others came to different results by applying the same "
                            + $"writes. Nothing is written until a majority agrees.",
                    CoreEvent.Diverged => Diverged,
                    CoreEvent.DamageHealed =>
                        "What this node's disk had lost of its journal was given back by the leader.",
                    CoreEvent.ClockDoubted => ClockStatus.Doubt(_host.Core, _host.Now) ?? string.Empty,
                    CoreEvent.ClockTrusted => "The cluster's time is not in doubt any more.",
                    _ => throw new System.Diagnostics.UnreachableException(),
                }
            );
            if (what == CoreEvent.Diverged)
            {
                _host.Halt(Diverged);
            }
        }
    }

    /// <inheritdoc/>
    void IStepHandler.EndStep()
    {
        _reads.AskForNextIfDue();
        if (HasToApply)
        {
            _threads.WakeToApply();
        }
    }

    /// <inheritdoc/>
    void IStepHandler.EndLatched()
    {
        _reads.End();
        _applies.RefuseNext();
        _queue.Wake();
        _threads.WakeToApply();
    }

    /// <summary>Takes no part any more, because of what other members found wrong.</summary>
    /// <param name="sentence">Why, and what to do.</param>
    internal void Retire(string sentence) => _host.Retire(sentence);

    private void KeepEntries() => _journal.KeptBytes = _leadership.MayBeAskedForEntries ? _options.KeptJournalBytes : 0;

    private void OnManifestDurable(JournalPosition position)
    {
        lock (_host.Gate)
        {
            _host.Step(Input.ManifestDurable(_host.Now, new LogPosition(position.Term, position.Index)));
            _host.Step(Input.Released(_host.Now, _journal.FirstIndex - 1));
        }
    }
}
