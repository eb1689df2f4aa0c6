using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Logging;
using Rookery.Documents.Nodes;
using Rookery.Indexing.Indexes;
using Rookery.Platform;
using Rookery.Queries.Answering;
using Rookery.Server.Access;
using Rookery.Server.Alerts;
using Rookery.Server.Support;

namespace Rookery.Server;

/// <summary>
/// What a route needs besides its request: the clock, the limits, the counters, the log. One per server, alive as long
/// as it.
/// </summary>
/// <param name="options">How this server was asked to run.</param>
/// <param name="time">The clock.</param>
/// <param name="log">Where the owner of the node reads what happened.</param>
/// <param name="memory">The budget of the process.</param>
/// <param name="io">What the disk was asked to do.</param>
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
    private Observation.PassedOnRequests? _passedOn;

    /// <summary>How this server was asked to run.</summary>
    public ServerOptions Options => options;

    /// <summary>The clock. Nothing else may be asked for the time.</summary>
    public TimeProvider Time => time;

    /// <summary>
    /// What time it is: for the cluster where that is known, otherwise by this machine's clock, which may have none
    /// while it is off.
    /// </summary>
    public DateTimeOffset KnownTime => Readiness.Node?.Consensus.Time.Known ?? time.GetUtcNow();

    /// <summary>Where the owner of the node reads what happened. Never per request.</summary>
    public ILogger Log => log;

    /// <summary>The same for lines that whoever reaches the port may cause.</summary>
    internal LimitedLog RequestLog { get; } = new(log, time);

    /// <summary>
    /// The same for faults of the node while it answers those who have a right: no stranger can use these lines up.
    /// </summary>
    internal LimitedLog FaultLog { get; } = new(log, time);

    /// <summary>The budget of the process.</summary>
    public MemoryBudget Memory => memory;

    /// <summary>What the disk was asked to do.</summary>
    public IoTimeline Io => io;

    /// <summary>Requests and their durations, by route.</summary>
    public RequestMetrics Metrics { get; } = new(time);

    /// <summary>What bounds the memory of all large requests together.</summary>
    internal Raven.LargeRequests LargeRequests { get; } = new(memory, time);

    /// <summary>What bounds the memory of answers that their clients do not take.</summary>
    internal SlowReaders SlowReaders { get; } = new(memory.TotalBytes / 16, new LimitedLog(log, time), time);

    /// <summary>What bounds answers that are whole in memory and no documents.</summary>
    internal LargeAnswers LargeAnswers { get; } = new(time);

    /// <summary>
    /// What queries hold that gather results before they answer: sorted ones, groups, distinct values.
    /// </summary>
    internal MemoryShare QueryMemory { get; } = memory.AddShare("queries", memory.TotalBytes / 8);

    /// <summary>What goes on behind the answer of its request.</summary>
    internal BackgroundWork Background { get; } = new(log);

    /// <summary>Makes and retires the indexes that queries need.</summary>
    internal Raven.Indexes.AutomaticIndexes AutomaticIndexes =>
        LazyInitializer.EnsureInitialized(ref _automaticIndexes, () => new Raven.Indexes.AutomaticIndexes(this));

    /// <summary>Answers queries. The node must be open.</summary>
    internal QueryEngine Queries =>
        _queries
        ?? LazyInitializer.EnsureInitialized(
            ref _queries,
            () => new QueryEngine(Indexes, AutomaticIndexes, QueryMemory, time, Stopping)
        );

    /// <summary>Who may use which route.</summary>
    internal AccessGate Access => LazyInitializer.EnsureInitialized(ref _access, () => new AccessGate(this));

    /// <summary>
    /// Whether somebody claimed the cluster, or was given all rights otherwise. The node must be open.
    /// </summary>
    public bool HasOwner => Access.IsClaimed(Node);

    /// <summary>
    /// Deletes automatic indexes that no query needs any more, on all members. The leader does it, the others nothing.
    /// </summary>
    public Task RetireIndexesAsync() => AutomaticIndexes.RetireAsync();

    /// <summary>Whether documents are served, and if not, why.</summary>
    public Readiness Readiness { get; } = new();

    /// <summary>
    /// The opened node. Routes without <see cref="WithoutData"/> run only when it is there; the others ask
    /// <see cref="Readiness"/>.
    /// </summary>
    /// <exception cref="InvalidOperationException">It is not open yet.</exception>
    public Node Node =>
        Readiness.Node
        ?? throw new InvalidOperationException("A route that needs documents ran before they were open.");

    /// <summary>The indexes of the opened node, as <see cref="Node"/>.</summary>
    /// <exception cref="InvalidOperationException">It is not open yet.</exception>
    public IndexHost Indexes =>
        Readiness.Indexes
        ?? throw new InvalidOperationException("A route that needs indexes ran before they were open.");

    /// <summary>What its owner should know of this node now; none while nobody watches.</summary>
    public Func<IReadOnlyList<ActiveAlert>> ActiveAlerts { get; set; } = static () => [];

    /// <summary>What the other members say of themselves; null where they do not tell each other.</summary>
    public Func<IReadOnlyList<MemberAlert>>? MemberAlerts { get; set; }

    /// <summary>Sends alerts to the webhook; null without one.</summary>
    public AlertSender? AlertSender { get; set; }

    /// <summary>The last lines of the log.</summary>
    public LogRing RecentLog { get; init; } = new();

    /// <summary>What this node knows of itself and of other members, for whoever watches.</summary>
    internal Observation.NodeObservation Observation =>
        LazyInitializer.EnsureInitialized(ref _observation, () => new Observation.NodeObservation(this));

    /// <summary>Passes requests on to other members, and answers theirs.</summary>
    internal Observation.PassedOnRequests PassedOn =>
        LazyInitializer.EnsureInitialized(ref _passedOn, () => new Observation.PassedOnRequests(this));

    /// <summary>
    /// Answers another member on the port for members, whose path begins with /observe/. The port has proven who asks.
    /// </summary>
    public Task AnswerMemberAsync(HttpContext http) => new Observation.MemberQuestions(this).AnswerAsync(http);

    /// <summary>Cancelled when the server begins to stop; long answers (streams, feeds) end then.</summary>
    public CancellationToken Stopping
    {
        get => _stopping;
        internal set => _stopping = LargeRequests.Stopping = value;
    }

    /// <summary>
    /// Cancelled <see cref="RookeryServer.ReadPatience"/> after <see cref="Stopping"/>: a read that is still answered
    /// then, as one whose client takes nothing, is broken off.
    /// </summary>
    internal CancellationToken ReadsEnd { get; set; }
}
