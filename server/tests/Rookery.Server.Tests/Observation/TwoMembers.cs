using System.Net;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.TestHost;
using Rookery.Board;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Server.Tests.Raven;

namespace Rookery.Server.Tests.Observation;

/// <summary>
/// Two nodes configured as members A, the leader, and B of one cluster. They reach each other's port for members by
/// calls within the process.
/// </summary>
public sealed class TwoMembers : IAsyncLifetime
{
    private readonly Dictionary<string, WebApplication> _ports = new(StringComparer.Ordinal);

    // Requests that wait for ForwardedMayContinue.
    private int _waiting;

    public TwoMembers()
    {
        A = CreateServer("A");
        B = CreateServer("B");
    }

    public RunningServer A { get; }

    public RunningServer B { get; private set; }

    /// <summary>Whether B's port for members is closed.</summary>
    public bool IsCutOff { get; set; }

    /// <summary>Whether the answers of B break off after their heads.</summary>
    public bool BreaksBodies { get; set; }

    /// <summary>What forwarded requests to B wait for; null for nothing.</summary>
    public Task? ForwardedMayContinue { get; set; }

    /// <summary>Number of requests that wait for <see cref="ForwardedMayContinue"/>.</summary>
    public int Waiting => _waiting;

    /// <summary>Whether A is leader; otherwise there is no leader.</summary>
    public bool HasLeader { get; set; } = true;

    /// <summary>How far B's own clock is ahead after its next start.</summary>
    public TimeSpan ClockOfB { get; set; }

    /// <summary>Whether B knows the cluster's time after its next start.</summary>
    public bool IsTimeKnown { get; set; } = true;

    /// <summary>B's board.</summary>
    public Simulation.SimulatedBoard BoardOfB { get; } =
        new()
        {
            Next = new BoardReading
            {
                TemperatureCelsius = 61.5,
                KnownFlags = Throttling.All,
                Now = Throttling.UnderVoltage,
            },
        };

    public async Task InitializeAsync()
    {
        await B.InitializeAsync();
        await OpenPortAsync("B", B);
        await A.InitializeAsync();
        await OpenPortAsync("A", A);
    }

    public async Task DisposeAsync()
    {
        await A.DisposeAsync();
        await B.DisposeAsync();
        foreach (var port in _ports.Values)
        {
            await port.DisposeAsync();
        }
    }

    /// <summary>Replaces B by a new process.</summary>
    public async Task RestartBAsync()
    {
        await B.DisposeAsync();
        B = CreateServer("B");
        await B.InitializeAsync();
        await _ports["B"].DisposeAsync();
        await OpenPortAsync("B", B);
    }

    /// <summary>Waits until a function returns a value, and returns it. It is called every 20 ms.</summary>
    /// <param name="read">Returns null while the wait continues.</param>
    public static async Task<T> AwaitAsync<T>(Func<Task<T?>> read)
        where T : class
    {
        using var timeout = new CancellationTokenSource(TimeSpan.FromSeconds(60));
        while (true)
        {
            if (await read() is { } found)
            {
                return found;
            }

            await Task.Delay(20, timeout.Token);
        }
    }

    // Delays only requests that are forwarded to another member.
    private async Task WaitAsync(HttpRequestMessage request)
    {
        if (
            ForwardedMayContinue is { } slow
            && request.RequestUri!.AbsolutePath.StartsWith("/observe/on-any/", StringComparison.Ordinal)
        )
        {
            Interlocked.Increment(ref _waiting);
            await slow;
        }
    }

    private RunningServer CreateServer(string tag) =>
        new()
        {
            Time = new ClockAhead(tag is "B" ? ClockOfB : TimeSpan.Zero),
            WrapConsensus = alone => new ReportingConsensus(
                alone,
                own => StatisticsOf(own, tag),
                IsTimeKnown || tag is "A" ? TimeProvider.System : null
            ),
            ChangeOptions = options =>
                options with
                {
                    NodeTag = tag,
                    NodeName = "pi-" + tag,
                    ClusterName = "home",
                    Board = tag is "B" ? new BoardWatch(BoardOfB, TimeProvider.System) : null,
                    IsObserved = true,
                    ConnectToMember = nodeId =>
                        _ports.TryGetValue(nodeId, out var port)
                            ? new HttpClient(
                                new Line(
                                    port.GetTestServer().CreateHandler(),
                                    () => nodeId is "B" && IsCutOff,
                                    () => nodeId is "B" && BreaksBodies,
                                    WaitAsync
                                )
                            )
                            {
                                BaseAddress = new Uri("http://port"),
                            }
                            : null,
                },
        };

    // Only the leader knows who is reachable, who lags, how long syncs take, and who leads next.
    private ConsensusStatistics StatisticsOf(ConsensusStatistics own, string tag) =>
        own with
        {
            LeaderTag = HasLeader ? "A" : null,
            Trouble = HasLeader ? null : "There is no leader.",
            SuccessorTag = HasLeader && tag is "A" ? "B" : null,
            Capacity = HasLeader && tag is "A" ? new ClusterCapacity("B", SpareBytes: 5_000, Refusal: null) : null,
            Members =
            [
                .. ((string[])["A", "B"]).Select(member => new MemberStatistics(
                    new ClusterViewMember(
                        member,
                        member,
                        "pi-" + member,
                        Urls: [],
                        PublicUrl: null,
                        IsVoter: true,
                        IsLeader: HasLeader && member is "A",
                        IsSelf: string.Equals(member, tag, StringComparison.Ordinal)
                    ),
                    RecordVersion: 1,
                    IsReachable: HasLeader && tag is "A" ? member is "A" || !IsCutOff : null,
                    LagEntries: HasLeader && tag is "A" ? 0 : null,
                    SyncMicroseconds: HasLeader && tag is "A" ? 7_000 : null
                )
                {
                    HeardSeconds =
                        HasLeader && tag is "A" && member is "B"
                            ? IsCutOff
                                ? 4_200
                                : 0.1
                            : null,
                }),
            ],
        };

    private async Task OpenPortAsync(string tag, RunningServer server)
    {
        var builder = WebApplication.CreateEmptyBuilder(new WebApplicationOptions());
        builder.WebHost.UseTestServer();
        var port = builder.Build();
        port.Run(server.Context.AnswerMemberAsync);
        await port.StartAsync();
        _ports[tag] = port;
    }

    /// <summary>A connection that can be cut or slow.</summary>
    private sealed class Line(
        HttpMessageHandler port,
        Func<bool> isCut,
        Func<bool> breaksBodies,
        Func<HttpRequestMessage, Task> wait
    ) : DelegatingHandler(port)
    {
        protected override async Task<HttpResponseMessage> SendAsync(
            HttpRequestMessage request,
            CancellationToken cancellationToken
        )
        {
            await wait(request);
            if (isCut())
            {
                throw new HttpRequestException("Connection refused");
            }

            var answer = await base.SendAsync(request, cancellationToken);
            if (breaksBodies())
            {
                var broken = new BrokenContent();
                foreach (var (name, values) in answer.Content.Headers)
                {
                    broken.Headers.TryAddWithoutValidation(name, values);
                }

                answer.Content = broken;
            }

            return answer;
        }
    }

    private sealed class BrokenContent : HttpContent
    {
        protected override Task SerializeToStreamAsync(Stream stream, TransportContext? context) =>
            Task.FromException(new IOException("The line broke."));

        protected override bool TryComputeLength(out long length)
        {
            length = 0;
            return false;
        }
    }

    /// <summary>Consensus of a single node that reports other statistics and another time.</summary>
    /// <param name="alone">Consensus of the single node.</param>
    /// <param name="change">Returns the statistics to report instead of its own.</param>
    /// <param name="time">The cluster's time; null if it is not known.</param>
    private sealed class ReportingConsensus(
        IConsensusHost alone,
        Func<ConsensusStatistics, ConsensusStatistics> change,
        TimeProvider? time
    ) : IConsensusHost
    {
        public Action<string>? DiagnosisModeEntered
        {
            get => alone.DiagnosisModeEntered;
            set => alone.DiagnosisModeEntered = value;
        }

        public Action? JournalWritten
        {
            get => alone.JournalWritten;
            set => alone.JournalWritten = value;
        }

        public Rejection? Refusal => alone.Refusal;

        public bool IsLeader => alone.IsLeader;

        public string NodeTag => alone.NodeTag;

        public string? LeaderTag => alone.LeaderTag;

        public ClusterView View => alone.View;

        public long Term => alone.Term;

        public ClusterTime Time => time is null ? default : new ClusterTime(time.GetUtcNow().UtcTicks, IsSure: true);

        public long AppliedIndex => alone.AppliedIndex;

        public ValueTask<CommandOutcome> ProposeAsync(CommandBuffer command, CancellationToken cancellationToken) =>
            alone.ProposeAsync(command, cancellationToken);

        public ValueTask<bool> ReadBarrierAsync() => alone.ReadBarrierAsync();

        public void EndWaitingReads() => alone.EndWaitingReads();

        public void Start() => alone.Start();

        public void Stop() => alone.Stop();

        public CommitStatistics ReadStatistics() => alone.ReadStatistics();

        public ConsensusStatistics ReadCluster() => change(alone.ReadCluster());

        public void Dispose() => alone.Dispose();
    }

    /// <summary>The machine's clock with an offset.</summary>
    private sealed class ClockAhead(TimeSpan ahead) : TimeProvider
    {
        public override DateTimeOffset GetUtcNow() => base.GetUtcNow() + ahead;
    }
}
