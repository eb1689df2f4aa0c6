using System.Diagnostics.CodeAnalysis;
using System.Net;
using System.Text;
using Rookery.Server.Observation;
using Rookery.Server.Tests.Raven;
using Rookery.Simulation;

namespace Rookery.Server.Tests.Observation;

/// <summary>A member that is polled and gives unexpected answers.</summary>
[SuppressMessage("Design", "CA1001", Justification = "xunit calls DisposeAsync of IAsyncLifetime.")]
public sealed class MemberWatchTests : IAsyncLifetime
{
    private const string NoHistory =
        """{"History":{"Columns":["UnixMilliseconds"],"Rows":[]},"HasMore":false,"Slow":{"Rows":[]}}""";
    private const string Sample = """
        {"Tag":"B","Sample":{"Reason":null,"UptimeSeconds":5},"Sight":null,"Alerts":[],"History":{"Columns":["UnixMilliseconds"],"Rows":[[1000]]},"HasMore":false,"Slow":{"Rows":[]}}
        """;

    private readonly SimulatedTimeProvider _time = new();
    private readonly MemberPort _port = new();
    private readonly RunningServer _server;
    private Action _beforeConnect = static () => { };

    public MemberWatchTests() =>
        _server = new RunningServer
        {
            Time = _time,
            ChangeOptions = options =>
                options with
                {
                    ConnectToMember = _ =>
                    {
                        _beforeConnect();
                        return new HttpClient(_port, disposeHandler: false) { BaseAddress = new Uri("http://port") };
                    },
                },
        };

    public Task InitializeAsync() => _server.InitializeAsync();

    public async Task DisposeAsync()
    {
        await _server.DisposeAsync();
        _port.Dispose();
    }

    [Theory]
    [InlineData("no JSON at all")]
    [InlineData("[]")]
    [InlineData("7")]
    [InlineData("{}")]
    [InlineData(
        """{"Tag":"B","Sample":7,"Sight":null,"Alerts":[],"History":{"Columns":[],"Rows":[]},"HasMore":false,"Slow":{"Rows":[]}}"""
    )]
    [InlineData(
        """{"Tag":"B","Sample":{"Reason":7},"Sight":null,"Alerts":{},"History":{"Columns":[],"Rows":[]},"HasMore":false,"Slow":{"Rows":[]}}"""
    )]
    [InlineData(
        """{"Tag":"B","Sample":{"Reason":null},"Sight":{"Members":"all"},"Alerts":[],"History":{"Columns":[],"Rows":[]},"HasMore":false,"Slow":{"Rows":[]}}"""
    )]
    [InlineData(
        """{"Tag":"B","Sample":{"Reason":null},"Sight":null,"Alerts":[{"Name":null}],"History":{"Columns":[],"Rows":[]},"HasMore":false,"Slow":{"Rows":[]}}"""
    )]
    [InlineData(
        """{"Tag":"B","Sample":{"Reason":null},"Sight":null,"Alerts":[],"History":{"Columns":{},"Rows":[]},"HasMore":"perhaps","Slow":{"Rows":7}}"""
    )]
    [InlineData(null)]
    public async Task A_member_with_unreadable_answers_counts_as_silent_and_is_still_polled(string? unreadable)
    {
        _port.AnswerTo = path =>
            path.StartsWith(MemberRequests.KeptPath, StringComparison.Ordinal) ? NoHistory : unreadable;
        var observation = _server.Context.Observation;
        var member = new ObservedNode("B", observation.Memory, _time);
        using var watched = observation.Watch();
        using var stop = new CancellationTokenSource();
        var watching = new MemberWatch(_server.Context, observation, member, "B").RunAsync(stop.Token);
        // Several requests, so that it was asked again after an unreadable answer.
        await AdvanceUntilAsync(() => _port.Requests >= 5);
        Assert.False(member.IsAnswering(TimeSpan.Zero));
        Assert.False(watching.IsCompleted);

        _port.AnswerTo = path =>
            path.StartsWith(MemberRequests.KeptPath, StringComparison.Ordinal) ? NoHistory : Sample;
        await AdvanceUntilAsync(() =>
            member.IsAnswering(TimeSpan.Zero) == true && member.History.NewestUnixMilliseconds == 1000
        );
        Assert.Equal(TimeSpan.FromSeconds(5), member.LastAnswer!.Uptime);
        await stop.CancelAsync();
        await watching;
    }

    /// <summary>
    /// The browser opens the dashboard when a poll has begun, but has not been sent. Formerly, the member then seemed
    /// to be down until that poll was answered or timed out.
    /// </summary>
    [Fact]
    public async Task A_browser_that_opens_the_dashboard_as_a_poll_begins_gets_the_next_one()
    {
        var observation = _server.Context.Observation;
        var member = new ObservedNode("B", observation.Memory, _time);
        IDisposable? watched = null;
        _port.AnswerTo = path =>
            path.StartsWith(MemberRequests.KeptPath, StringComparison.Ordinal) ? NoHistory
            : path.Contains("show=true", StringComparison.Ordinal) ? Sample
            : MemberPort.Never;
        _beforeConnect = () => watched ??= observation.Watch();
        using var stop = new CancellationTokenSource();
        var watching = new MemberWatch(_server.Context, observation, member, "B").RunAsync(stop.Token);

        // The clock stands still, so nothing times out.
        using var guard = new CancellationTokenSource(TimeSpan.FromSeconds(30));
        while (member.LastAnswer is null)
        {
            await Task.Delay(5, guard.Token);
        }

        await stop.CancelAsync();
        await watching;
        watched!.Dispose();
    }

    [Fact]
    public async Task A_restore_that_breaks_off_releases_its_memory()
    {
        const string FirstPart =
            """{"History":{"Columns":["UnixMilliseconds"],"Rows":[[1000],[2000]]},"HasMore":true,"Slow":{"Rows":[]}}""";
        _port.AnswerTo = path => path.Contains("since=0&", StringComparison.Ordinal) ? FirstPart : "no JSON";
        var observation = _server.Context.Observation;
        using var watched = observation.Watch();
        using var stop = new CancellationTokenSource();
        var watching = new MemberWatch(
            _server.Context,
            observation,
            new ObservedNode("B", observation.Memory, _time),
            "B"
        ).RunAsync(stop.Token);
        // The first answer announces more, and the following are unreadable.
        await AdvanceUntilAsync(() => _port.Requests >= 7);
        await stop.CancelAsync();
        await watching;
        Assert.Equal(0, observation.Memory.UsedBytes);
    }

    // Advances the simulated clock until a condition holds.
    private async Task AdvanceUntilAsync(Func<bool> holds)
    {
        for (int tries = 0; !holds(); tries++)
        {
            Assert.True(tries < 3000, "the condition holds within ten simulated minutes");
            _time.Advance(TimeSpan.FromMilliseconds(200));
            await Task.Delay(5);
        }
    }

    /// <summary>The port of the member: answers each request with a text, or with status 500 for null.</summary>
    private sealed class MemberPort : HttpMessageHandler
    {
        /// <summary>The text of a request that is not answered before its client gives up.</summary>
        public const string Never = "never";

        private int _requests;

        /// <summary>Returns the answer to a path with its query.</summary>
        public Func<string, string?> AnswerTo { get; set; } = static _ => null;

        public int Requests => Volatile.Read(ref _requests);

        protected override async Task<HttpResponseMessage> SendAsync(
            HttpRequestMessage request,
            CancellationToken cancellationToken
        )
        {
            Interlocked.Increment(ref _requests);
            string? body = AnswerTo(request.RequestUri!.PathAndQuery);
            if (body is Never)
            {
                await Task.Delay(Timeout.Infinite, cancellationToken);
            }

            return new HttpResponseMessage(body is null ? HttpStatusCode.InternalServerError : HttpStatusCode.OK)
            {
                Content = new StringContent(body ?? "broken", Encoding.UTF8, "application/json"),
            };
        }
    }
}
