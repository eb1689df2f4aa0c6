using System.Text.Json;
using Rookery.Platform;
using Rookery.Server.Alerts;
using Rookery.Server.Observation;
using Rookery.Server.Operations;

namespace Rookery.Server.Tests.Observation;

/// <summary>What members report to each other, and what any of them shows.</summary>
public sealed class MemberRequestTests : IAsyncLifetime
{
    private const long SlowMicroseconds = 150_000;

    private readonly TwoMembers _members = new();

    public Task InitializeAsync() => _members.InitializeAsync();

    public Task DisposeAsync() => _members.DisposeAsync();

    [Fact]
    public async Task Each_member_shows_all_members_with_the_leaders_view()
    {
        foreach (var server in (Raven.RunningServer[])[_members.A, _members.B])
        {
            using var feed = await LiveFeed.OpenAsync(server);
            var state = await feed.FirstAsync(state =>
                NodesOf(state)
                    .All(node =>
                        node.GetProperty("Sample").ValueKind == JsonValueKind.Object
                        && node.GetProperty("LagEntries").ValueKind == JsonValueKind.Number
                    )
            );
            Assert.Equal(["leader", "voter"], NodesOf(state).Select(node => node.GetProperty("Role").GetString()));
            Assert.Equal(["up", "up"], NodesOf(state).Select(node => node.GetProperty("State").GetString()));
            Assert.Equal([false, true], NodesOf(state).Select(node => node.GetProperty("LimitsCapacity").GetBoolean()));
            Assert.Equal(
                [7.0, 7.0],
                NodesOf(state).Select(node => node.GetProperty("SyncP99Milliseconds").GetDouble())
            );
            var board = NodesOf(state)[1].GetProperty("Sample");
            Assert.Equal(61.5, board.GetProperty("TemperatureCelsius").GetDouble());
            Assert.Equal("under_voltage", board.GetProperty("Throttled")[0].GetString());
            Assert.Equal(
                JsonValueKind.Null,
                NodesOf(state)[0].GetProperty("Sample").GetProperty("TemperatureCelsius").ValueKind
            );
            Assert.Equal(
                "Both nodes are well; while either is off, nothing is written.",
                state.GetProperty("Health").GetProperty("Sentence").GetString()
            );
            Assert.Equal(
                "No. There are two voters, and while either is off nothing is written.",
                NodesOf(state)[1].GetProperty("Unplug").GetProperty("Sentence").GetString()
            );
        }
    }

    [Fact]
    public async Task A_failed_member_is_shown_as_down_with_its_history_even_without_a_leader()
    {
        RecordSlowEvent(_members.B);
        await TwoMembers.AwaitAsync(async () =>
            (await _members.A.SendAsync("GET", "/dashboard/history?node=B")).Json.GetProperty("Rows").GetArrayLength()
            > 0
                ? "reported"
                : null
        );
        using var feed = await LiveFeed.OpenAsync(_members.A);
        await feed.FirstAsync(state => NodesOf(state)[1].GetProperty("State").GetString() is "up");
        await TwoMembers.AwaitAsync(async () => await HasSlowScrubAsync(_members.A) ? "reported" : null);

        _members.IsCutOff = true;
        _members.HasLeader = false;
        var state = await feed.FirstAsync(state => NodesOf(state)[1].GetProperty("State").GetString() is "down");
        Assert.Equal(61.5, NodesOf(state)[1].GetProperty("Sample").GetProperty("TemperatureCelsius").GetDouble());
        Assert.Equal(
            ("error", "Nothing is written: There is no leader."),
            (
                state.GetProperty("Health").GetProperty("Level").GetString(),
                state.GetProperty("Health").GetProperty("Sentence").GetString()
            )
        );
        Assert.True(state.GetProperty("Cluster").GetProperty("ReadsAreLocal").GetBoolean());

        var history = (await _members.A.SendAsync("GET", "/dashboard/history?node=B")).Json;
        Assert.True(history.GetProperty("IsObserved").GetBoolean());
        int column = history
            .GetProperty("Columns")
            .EnumerateArray()
            .Select(name => name.GetString())
            .ToList()
            .IndexOf("TemperatureCelsius");
        Assert.Equal(61.5, history.GetProperty("Rows")[0][column].GetDouble());
        Assert.True(await HasSlowScrubAsync(_members.A));
    }

    [Fact]
    public async Task A_follower_shows_the_leaders_view_with_the_same_last_heard_time()
    {
        _members.IsCutOff = true;
        var answerOfB = await TwoMembers.AwaitAsync(async () =>
        {
            var answer = await _members.B.SendAsync("GET", "/readyz?verbose");
            return
                answer
                    .Json.GetProperty("Cluster")
                    .GetProperty("Members")[1]
                    .TryGetProperty("IsReachable", out var reachable) && !reachable.GetBoolean()
                ? answer
                : null;
        });
        var unheard = answerOfB.Json.GetProperty("Cluster").GetProperty("Members")[1];
        Assert.InRange(unheard.GetProperty("HeardSeconds").GetDouble(), 4_200, 5_000);
        Assert.Equal(7, unheard.GetProperty("SyncP99Milliseconds").GetDouble());
        var lines = StatusWords.Describe(answerOfB.Json);
        Assert.Contains(
            lines,
            static line => line.StartsWith("B voter, not reachable (heard 42", StringComparison.Ordinal)
        );
        Assert.Contains(
            lines,
            static line =>
                line.StartsWith("The state of the others is what the leader reported ", StringComparison.Ordinal)
        );

        using var feed = await LiveFeed.OpenAsync(_members.A);
        var down = await feed.FirstAsync(state => NodesOf(state)[1].GetProperty("State").GetString() is "down");
        Assert.InRange(NodesOf(down)[1].GetProperty("SeenSeconds").GetDouble(), 4_200, 5_000);
        Assert.False(
            (await _members.A.SendAsync("GET", "/readyz?verbose"))
                .Json.GetProperty("Cluster")
                .TryGetProperty("ToldSecondsAgo", out _)
        );
    }

    [Fact]
    public async Task A_restarted_node_restores_its_history_from_others()
    {
        await TwoMembers.AwaitAsync(async () =>
            (await _members.A.SendAsync("GET", "/dashboard/history?node=B")).Json.GetProperty("Rows").GetArrayLength()
            > 0
                ? "reported"
                : null
        );
        RecordSlowEvent(_members.B);
        using (var feed = await LiveFeed.OpenAsync(_members.A))
        {
            await TwoMembers.AwaitAsync(async () => await HasSlowScrubAsync(_members.A) ? "reported" : null);
        }

        long before = _members.B.Context.Observation.Self.History.NewestUnixMilliseconds;
        await _members.RestartBAsync();
        await TwoMembers.AwaitAsync(() =>
            Task.FromResult(
                _members.B.Context.Observation.Self.History.Between(long.MinValue, before).Any() ? "restored" : null
            )
        );
        Assert.True(await HasSlowScrubAsync(_members.B));
        Assert.False(
            (await _members.B.SendAsync("GET", "/dashboard/history")).Json.GetProperty("IsObserved").GetBoolean()
        );
    }

    [Theory]
    [InlineData(-1.0)]
    [InlineData(-20 * 365.0 * 24)]
    [InlineData(20 * 365.0 * 24)]
    public async Task A_restart_with_a_wrong_clock_loses_no_samples_that_other_members_keep(double hoursAhead)
    {
        using var feed = await LiveFeed.OpenAsync(_members.A);
        await TwoMembers.AwaitAsync(() => Task.FromResult(RememberedByA().Count > 0 ? "reported" : null));
        var rememberedBefore = RememberedByA();

        (_members.ClockOfB, _members.IsTimeKnown) = (TimeSpan.FromHours(hoursAhead), false);
        await _members.RestartBAsync();
        await TwoMembers.AwaitAsync(() =>
            Task.FromResult(RememberedByA().Count > rememberedBefore.Count ? "reported" : null)
        );
        Assert.Equal(rememberedBefore, RememberedByA().Intersect(rememberedBefore));
        Assert.Equal(
            _members.B.Context.Observation.Self.History.NewestUnixMilliseconds,
            _members.A.Context.Observation.Find("B")!.History.NewestUnixMilliseconds
        );

        List<long> RememberedByA() =>
            [
                .. _members
                    .A.Context.Observation.Find("B")
                    ?.History.Between(long.MinValue, long.MaxValue)
                    .Select(row => row.UnixMilliseconds)
                    ?? [],
            ];
    }

    [Fact]
    public async Task A_future_position_in_slow_events_yields_all_events_until_now()
    {
        RecordSlowEvent(_members.B);
        using var port = _members.A.Context.Options.ConnectToMember!("B")!;
        long future = TimeProvider.System.GetUtcNow().AddYears(20).ToUnixTimeMilliseconds() * 1000;
        using var answer = JsonDocument.Parse(
            await port.GetStringAsync(
                new Uri($"/observe/samples?since=0&slowSince={future}&show=true", UriKind.Relative)
            )
        );
        Assert.Contains(
            ObservationJson.ReadSlow(answer.RootElement.GetProperty("Slow")),
            slowEvent => slowEvent.DurationMicroseconds >= SlowMicroseconds
        );
    }

    [Fact]
    public void Slow_events_are_dropped_in_order_of_arrival()
    {
        var events = new SlowEvents(_members.A.Context.Observation.Memory);
        const long Future = 1_000_000_000;
        for (int at = 0; at < SlowEvents.MaxEvents; at++)
        {
            events.Add([new SlowEvent("scrub", Future + at, 1, 0)]);
        }

        events.Add([new SlowEvent("scrub", 7, 1, 0), new SlowEvent("scrub", 7, 1, 0), new SlowEvent("scrub", 3, 1, 0)]);
        Assert.Equal([3, 7, Future + 2], events.Since(0).Take(3).Select(slowEvent => slowEvent.StartUnixMicroseconds));
        Assert.Equal(SlowEvents.MaxEvents, events.Since(0).Count);

        // The next request asks for events that ended after these.
        Assert.Equal(8, events.NewestUnixMicroseconds);
    }

    [Fact]
    public async Task A_member_whose_clock_starts_in_1970_uses_the_clusters_time()
    {
        _members.ClockOfB = DateTimeOffset.UnixEpoch.AddMinutes(1) - TimeProvider.System.GetUtcNow();
        long before = TimeProvider.System.GetUtcNow().ToUnixTimeMilliseconds();
        await _members.RestartBAsync();
        Assert.InRange(_members.B.Context.Observation.Self.History.NewestUnixMilliseconds, before, long.MaxValue);
        Assert.Equal(
            1,
            (await _members.B.SendAsync("GET", "/dashboard/history")).Json.GetProperty("Rows").GetArrayLength()
        );
    }

    [Fact]
    public async Task Each_node_shows_the_alerts_of_all_answering_nodes_once()
    {
        ActiveAlert alert = new(
            "sync_slow",
            "warning",
            DateTimeOffset.UnixEpoch,
            "Syncs take long.",
            "Look.",
            "/help/reference/alerts.md"
        );
        _members.B.Context.ActiveAlerts = () => [alert];
        using var feed = await LiveFeed.OpenAsync(_members.A);
        var state = await feed.FirstAsync(state => state.GetProperty("Alerts").GetArrayLength() > 0);
        var shown = state.GetProperty("Alerts").EnumerateArray().Single();
        Assert.Equal(
            ("B", "sync_slow", "Syncs take long."),
            (
                shown.GetProperty("Node").GetString(),
                shown.GetProperty("Name").GetString(),
                shown.GetProperty("Sentence").GetString()
            )
        );
        _members.IsCutOff = true;
        await feed.FirstAsync(state => state.GetProperty("Alerts").GetArrayLength() == 0);
    }

    [Fact]
    public async Task A_request_for_another_member_is_forwarded_and_its_answer_returned_unchanged()
    {
        long startedAt = _members.B.Context.Io.Begin();
        _members.B.Context.Io.Record(IoKind.Scrub, startedAt, bytes: 4711);
        var forwarded = await _members.A.SendAsync("GET", "/debug/io?node=B&span=1");
        Assert.Equal(200, forwarded.Status);
        Assert.Contains(
            forwarded.Json.GetProperty("Events").GetProperty("Rows").EnumerateArray(),
            row => row[0].GetString() is "scrub" && row[3].GetInt64() == 4711
        );
        Assert.DoesNotContain(
            "4711",
            (await _members.A.SendAsync("GET", "/debug/io?node=A")).Body,
            StringComparison.Ordinal
        );
        (await _members.A.SendAsync("GET", "/debug/io?node=B&span=0")).IsRefusal(400, "'span' 1 to");
        (await _members.A.SendAsync("POST", "/admin/node/find?node=B")).IsRefusal(
            501,
            "Node B runs on a machine without a light"
        );
    }

    [Theory]
    [InlineData("/DEBUG/io?node=B&span=1")]
    [InlineData("/debug/io/?node=B&span=1")]
    [InlineData("/debug/IO/?NODE=B&span=1")]
    [InlineData("/debug/i%6f?node=B&span=1")]
    public async Task A_request_is_forwarded_however_its_path_is_spelled(string path)
    {
        _members.B.Context.Io.Record(IoKind.Scrub, _members.B.Context.Io.Begin(), bytes: 4711);
        var answer = await _members.A.SendAsync("GET", path);
        Assert.Equal(200, answer.Status);
        Assert.Contains("4711", answer.Body, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Concurrent_forwarded_requests_are_limited()
    {
        var slow = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        _members.ForwardedMayContinue = slow.Task;
        const string SettingsOfB = "/admin/node/settings?node=B";
        var asking = Enumerable
            .Range(0, ForwardedRequests.MaxConcurrent)
            .Select(_ => _members.A.SendAsync("GET", SettingsOfB))
            .ToArray();
        await TwoMembers.AwaitAsync(() => Task.FromResult(_members.Waiting == asking.Length ? "all" : null));
        var refused = await _members.A.SendAsync("GET", SettingsOfB);
        refused.IsRefusal(429, "ask B itself");
        Assert.Equal("1", refused.Headers.RetryAfter?.ToString());
        slow.SetResult();
        Assert.All(await Task.WhenAll(asking), answer => Assert.Equal(200, answer.Status));
        Assert.Equal(200, (await _members.A.SendAsync("GET", SettingsOfB)).Status);
    }

    [Fact]
    public async Task A_forwarded_answer_keeps_its_cache_control() =>
        Assert.Equal(
            "no-store",
            (await _members.A.SendAsync("GET", "/admin/node/debug-package?node=B")).Headers.CacheControl?.ToString()
        );

    [Fact]
    public async Task The_refusal_of_a_file_that_broke_off_has_not_the_name_of_the_file()
    {
        _members.BreaksBodies = true;
        var refused = await _members.A.Http.GetAsync(new Uri(_members.A.Address, "/admin/node/debug-package?node=B"));
        Assert.Equal(502, (int)refused.StatusCode);
        Assert.Null(refused.Content.Headers.ContentDisposition);
        Assert.Equal("application/json", refused.Content.Headers.ContentType?.MediaType);
    }

    [Fact]
    public void Only_the_rows_in_an_unknown_form_are_skipped()
    {
        using var slow = JsonDocument.Parse(
            """{"Rows":[["scrub",1],7,[null,1,2,3],["scrub",1.5,2,3],["scrub",1,2,3,"new"]]}"""
        );
        Assert.Equal([3L], ObservationJson.ReadSlow(slow.RootElement).Select(slowEvent => slowEvent.Bytes));
        using var history = JsonDocument.Parse(
            """{"Columns":["UnixMilliseconds","New"],"Rows":[7,[1.5],["x"],[1000,1,2,3]]}"""
        );
        Assert.Equal([1000L], ObservationJson.ReadHistory(history.RootElement).Select(row => row.UnixMilliseconds));
    }

    [Fact]
    public async Task An_unknown_or_silent_member_is_reported()
    {
        (await _members.A.SendAsync("GET", "/debug/io?node=X")).IsRefusal(
            400,
            "No member has the letter 'X'; the members are A, B."
        );
        (await _members.A.SendAsync("GET", "/dashboard/history?node=X")).IsRefusal(400, "This node knows no node 'X'");
        _members.IsCutOff = true;
        _members.HasLeader = false;
        (await _members.A.SendAsync("GET", "/debug/io?node=B")).IsRefusal(
            502,
            "Node A could not ask pi-B (B): it does not answer: Connection refused"
        );
    }

    [Fact]
    public async Task Only_marked_routes_answer_forwarded_requests()
    {
        using var port = _members.A.Context.Options.ConnectToMember!("B")!;
        foreach (
            string path in (string[])["/admin/databases", "/databases", "/admin/access/tokens", "/../admin/databases"]
        )
        {
            Assert.NotEqual(
                200,
                (int)(await port.GetAsync(new Uri("/observe/on-any" + path, UriKind.Relative))).StatusCode
            );
        }

        Assert.Equal(404, (int)(await port.GetAsync(new Uri("/observe/else", UriKind.Relative))).StatusCode);
    }

    [Theory]
    [InlineData("/dashboard/history?from=20&to=10")]
    [InlineData("/dashboard/history?points=0")]
    [InlineData("/dashboard/history?points=1441")]
    [InlineData("/dashboard/history?from=yesterday")]
    [InlineData("/admin/node/find?seconds=0")]
    public async Task Invalid_parameters_are_refused(string path) =>
        Assert.Equal(
            400,
            (
                await _members.A.SendAsync(path.StartsWith("/admin", StringComparison.Ordinal) ? "POST" : "GET", path)
            ).Status
        );

    private static JsonElement[] NodesOf(JsonElement state) => [.. state.GetProperty("Nodes").EnumerateArray()];

    private static async Task<bool> HasSlowScrubAsync(Raven.RunningServer server) =>
        (await server.SendAsync("GET", "/dashboard/slow?node=B"))
            .Json.GetProperty("Rows")
            .EnumerateArray()
            .Any(row => row[0].GetString() is "scrub" && row[2].GetInt64() >= SlowMicroseconds);

    /// <summary>Records a quick operation first, and then a slow one of the same kind.</summary>
    private static void RecordSlowEvent(Raven.RunningServer server)
    {
        // Slow means slower than nearly all others of its kind. The kind is one that the node does not use meanwhile,
        // so a slow disk has no effect.
        var io = server.Context.Io;
        for (int quick = 0; quick < 16; quick++)
        {
            io.Record(IoKind.Scrub, io.Begin(), bytes: 0);
        }

        long startedAt = io.Begin();
        SpinWait.SpinUntil(() =>
            TimeProvider.System.GetElapsedTime(startedAt) > TimeSpan.FromMicroseconds(SlowMicroseconds)
        );
        io.Record(IoKind.Scrub, startedAt, bytes: 0);
    }
}
