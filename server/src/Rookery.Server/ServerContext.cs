using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Logging;
using Rookery.Documents.Nodes;
using Rookery.Indexing.Indexes;
using Rookery.Platform;
using Rookery.Queries.Answering;
using Rookery.Server.Access;
using Rookery.Server.Alerts;
using Rookery.Server.Observation;
using Rookery.Server.Support;

namespace Rookery.Server;

/// <summary>
/// State that all routes share: options, clock, log, memory, counters. There is one for each server, with the same
/// lifetime.
/// </summary>
/// <param name="options">Options of the server.</param>
/// <param name="time">The clock.</param>
/// <param name="log">Log of the node.</param>
/// <param name="memory">Memory budget of the process.</param>
/// <param name="io">Records disk operations.</param>
public sealed class ServerContext(
    ServerOptions options,
    TimeProvider time,
    ILogger log,
    MemoryBudget memory,
    IoTimeline io
)
{
    private AccessGate? _access;
    private CancellationToken _stopping;
    private Raven.Indexes.AutomaticIndexes? _automaticIndexes;
    private QueryEngine? _queries;
    private Observation.NodeObservation? _observation;
    private Observation.ForwardedRequests? _forwarding;
    private CredentialQuota? _credentialQuota;
    private PublicText? _publicText;

    /// <summary>Options of the server.</summary>
    public ServerOptions Options => options;

    /// <summary>The clock. No other source of time may be used.</summary>
    public TimeProvider Time => time;

    /// <summary>
    /// The cluster's time if it is known, otherwise the time of this machine. A machine's clock may not run while it is
    /// off.
    /// </summary>
    public DateTimeOffset KnownTime => Readiness.Node?.Consensus.Time.Known ?? time.GetUtcNow();

    /// <summary>Log of the node. Nothing is logged for each request.</summary>
    public ILogger Log => log;

    /// <summary>Log for lines that any remote caller can cause; limited.</summary>
    internal LimitedLog RequestLog { get; } = new(log, time);

    /// <summary>
    /// Log for faults in answering authorised requests. Its limit is separate, so that callers without a credential
    /// cannot exhaust it.
    /// </summary>
    internal LimitedLog FaultLog { get; } = new(log, time);

    /// <summary>Memory budget of the process.</summary>
    public MemoryBudget Memory => memory;

    /// <summary>Records disk operations.</summary>
    public IoTimeline Io => io;

    /// <summary>Counts requests and durations by route.</summary>
    public RequestMetrics Metrics { get; } = new(time);

    /// <summary>
    /// Reads the card and the load of the machine for samples, metrics and alerts, so that a hanging driver holds one
    /// thread and not one for each.
    /// </summary>
    internal BoardReader BoardReader { get; } = new(options.Board?.Board);

    /// <summary>Limits the memory that large requests hold together.</summary>
    internal Raven.LargeRequests LargeRequests { get; } = new(memory, time);

    /// <summary>Limits the memory of answers whose clients do not read them.</summary>
    internal SlowReaders SlowReaders { get; } = new(memory.TotalBytes / 16, new LimitedLog(log, time), time);

    /// <summary>Limits answers that are built as a whole and are not documents.</summary>
    internal LargeAnswers LargeAnswers { get; } = new(time);

    /// <summary>
    /// Memory for queries that collect results before they answer: sorted, grouped or distinct ones. A part of it is
    /// assured, because slow readers and large requests can fill a small budget.
    /// </summary>
    internal MemoryShare QueryMemory { get; } =
        memory.AddShare("queries", memory.TotalBytes / 8, assuredBytes: memory.TotalBytes / 32, isManaged: true);

    /// <summary>Work that continues after its request is answered.</summary>
    internal BackgroundWork Background { get; } = new(log);

    /// <summary>Defines and deletes automatic indexes.</summary>
    internal Raven.Indexes.AutomaticIndexes AutomaticIndexes =>
        LazyInitializer.EnsureInitialized(ref _automaticIndexes, () => new Raven.Indexes.AutomaticIndexes(this));

    /// <summary>Answers queries. The node must be open.</summary>
    internal QueryEngine Queries =>
        _queries
        ?? LazyInitializer.EnsureInitialized(
            ref _queries,
            () => new QueryEngine(Indexes, AutomaticIndexes, QueryMemory, time, Stopping)
        );

    /// <summary>The subscriptions whose workers are connected to this node.</summary>
    internal Subscriptions.ServedSubscriptions Subscriptions { get; } = new(memory.TotalBytes);

    /// <summary>The protocols besides HTTP that other projects serve. Add them before the server is built.</summary>
    public IList<ServedProtocol> Protocols { get; } = [];

    /// <summary>Reads what Redis clients are served; null if they are not.</summary>
    internal ProtocolState? ReadRedis() => Protocols.Count == 0 ? null : Protocols[0].ReadState(); // the only protocol

    /// <summary>Decides who may use which route.</summary>
    internal AccessGate Access => LazyInitializer.EnsureInitialized(ref _access, () => new AccessGate(this));

    /// <summary>The connections by address; null for a server without sockets.</summary>
    internal ConnectionsByAddress? Connections { get; set; }

    /// <summary>Sentences for callers without a credential.</summary>
    internal PublicText PublicText => LazyInitializer.EnsureInitialized(ref _publicText, () => new PublicText(this));

    /// <summary>Bounds the size of all tokens and certificates.</summary>
    internal CredentialQuota CredentialQuota =>
        LazyInitializer.EnsureInitialized(ref _credentialQuota, () => new CredentialQuota(this, new SemaphoreSlim(1)));

    /// <summary>
    /// Whether the cluster has an owner: an admin token or certificate was created once. The node must be open.
    /// </summary>
    public bool HasOwner => Access.IsClaimed(Node);

    /// <summary>Deletes unused automatic indexes on all members. Does nothing unless this node is leader.</summary>
    public Task RetireIndexesAsync() => AutomaticIndexes.RetireAsync();

    /// <summary>Whether documents are served, or why not.</summary>
    public Readiness Readiness { get; } = new();

    /// <summary>
    /// The opened node. Routes without <see cref="WithoutData"/> run only when it is open; other routes check
    /// <see cref="Readiness"/>.
    /// </summary>
    /// <exception cref="InvalidOperationException">The node is not open yet.</exception>
    public Node Node =>
        Readiness.Node
        ?? throw new InvalidOperationException("A route that needs documents ran before they were open.");

    /// <summary>The indexes of the opened <see cref="Node"/>.</summary>
    /// <exception cref="InvalidOperationException">The node is not open yet.</exception>
    public IndexHost Indexes =>
        Readiness.Indexes
        ?? throw new InvalidOperationException("A route that needs indexes ran before they were open.");

    /// <summary>Returns the active alerts of this node; empty while alerts are not evaluated.</summary>
    public Func<IReadOnlyList<ActiveAlert>> ActiveAlerts { get; set; } = static () => [];

    /// <summary>Returns the active alerts of the other members; null if members do not exchange them.</summary>
    public Func<IReadOnlyList<MemberAlert>>? MemberAlerts { get; set; }

    /// <summary>Sends alerts to the webhook; null in a server that sends none.</summary>
    public AlertSender? AlertSender { get; set; }

    /// <summary>The last lines of the log.</summary>
    public LogRing RecentLog { get; init; } = new();

    /// <summary>Samples this node, and keeps the samples of the other members.</summary>
    internal Observation.NodeObservation Observation =>
        LazyInitializer.EnsureInitialized(ref _observation, () => new Observation.NodeObservation(this));

    /// <summary>Forwards requests to other members, and answers theirs.</summary>
    internal Observation.ForwardedRequests Forwarding =>
        LazyInitializer.EnsureInitialized(ref _forwarding, () => new Observation.ForwardedRequests(this));

    /// <summary>
    /// Answers a request of another member, whose path begins with /observe/. The port for members has already
    /// authenticated it.
    /// </summary>
    public Task AnswerMemberAsync(HttpContext http) => new Observation.MemberRequests(this).AnswerAsync(http);

    /// <summary>Cancelled when the server begins to stop; streams and feeds then end.</summary>
    public CancellationToken Stopping
    {
        get => _stopping;
        internal set => _stopping = LargeRequests.Stopping = value;
    }

    /// <summary>
    /// Cancelled <see cref="RookeryServer.ReadStopTimeout"/> after <see cref="Stopping"/>: reads that are still running
    /// are then cut off.
    /// </summary>
    internal CancellationToken ReadsEnd { get; set; }
}
