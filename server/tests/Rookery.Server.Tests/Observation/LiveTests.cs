using System.Text.Json;
using Rookery.Server.Observation;
using Rookery.Server.Tests.Raven;

namespace Rookery.Server.Tests.Observation;

/// <summary>
/// GET /dashboard/live of a single node: a stream of events, one a second, with the state of the cluster. A listener is
/// a client that follows the stream.
/// </summary>
public sealed class LiveTests : IAsyncLifetime
{
    private readonly RunningServer _server = new()
    {
        ChangeOptions = static options => options with { IsObserved = true },
    };

    public Task InitializeAsync() => _server.InitializeAsync();

    public Task DisposeAsync() => _server.DisposeAsync();

    [Fact]
    public async Task A_single_node_reports_its_state_and_that_it_is_alone()
    {
        string database = await _server.CreateDatabaseAsync();
        using var feed = await LiveFeed.OpenAsync(_server);
        await feed.NextAsync();
        for (int write = 0; write < 20; write++)
        {
            Assert.Equal(201, (await _server.SendAsync("PUT", $"{database}/docs?id=a", "{}")).Status);
            Assert.Equal(200, (await _server.SendAsync("GET", $"{database}/docs?id=a")).Status);
        }

        var state = await feed.FirstAsync(state =>
            SampleOf(state).GetProperty("WritesPerSecond") is { ValueKind: JsonValueKind.Number } rate
            && rate.GetDouble() > 0
        );
        Assert.Equal(JsonValueKind.Null, state.GetProperty("Cluster").ValueKind);
        Assert.Equal(
            "This node is well. It is the only one: its data are nowhere else but in backups.",
            state.GetProperty("Health").GetProperty("Sentence").GetString()
        );
        var node = state.GetProperty("Nodes").EnumerateArray().Single();
        Assert.Equal(
            ("alone", "up", true),
            (
                node.GetProperty("Role").GetString(),
                node.GetProperty("State").GetString(),
                node.GetProperty("IsSelf").GetBoolean()
            )
        );
        Assert.False(node.GetProperty("Unplug").GetProperty("MayI").GetBoolean());
        var sample = SampleOf(state);
        Assert.True(sample.GetProperty("Ready").GetBoolean());
        foreach (
            string positive in (string[])
                [
                    "WriteP50Milliseconds",
                    "WriteP99Milliseconds",
                    "SyncsPerSecond",
                    "JournalBytesPerSecond",
                    "AppliedIndex",
                    "LastIndex",
                    "Sequence",
                    "ResidentBytes",
                    "MemoryBudgetBytes",
                    "DiskFreeBytes",
                ]
        )
        {
            Assert.True(sample.GetProperty(positive).GetDouble() > 0, positive);
        }

        // Unknown values are null, not zero.
        foreach (
            string unknown in (string[])
                [
                    "TemperatureCelsius",
                    "Throttled",
                    "LifeUsedRatio",
                    "LifeLeftDays",
                    "MachineCpuRatio",
                    "CertificateDaysLeft",
                    "Model",
                ]
        )
        {
            Assert.Equal(JsonValueKind.Null, sample.GetProperty(unknown).ValueKind);
        }
    }

    [Fact]
    public async Task No_state_is_built_without_listeners()
    {
        Assert.False(_server.Context.Observation.IsWatched);
        using (var feed = await LiveFeed.OpenAsync(_server))
        {
            await feed.NextAsync();
            Assert.True(_server.Context.Observation.IsWatched);
        }

        await TwoMembers.AwaitAsync(() =>
            Task.FromResult(_server.Context.Observation.IsWatched ? null : "not watched")
        );
    }

    [Fact]
    public async Task Listeners_are_limited_and_one_that_leaves_frees_a_place()
    {
        var feeds = new List<LiveFeed>();
        for (int listener = 0; listener < LiveStream.MaximumListeners; listener++)
        {
            feeds.Add(await LiveFeed.OpenAsync(_server));
        }

        (await _server.SendAsync("GET", "/dashboard/live")).IsRefusal(429, "pages follow this node already");
        feeds[0].Dispose();
        await TwoMembers.AwaitAsync(async () =>
        {
            using var answer = await _server.Http.GetAsync(
                new Uri(_server.Address, "/dashboard/live"),
                HttpCompletionOption.ResponseHeadersRead
            );
            return answer.IsSuccessStatusCode ? "admitted" : null;
        });
        feeds.ForEach(feed => feed.Dispose());
    }

    [Fact]
    public void One_credential_may_have_only_a_part_of_all_listeners()
    {
        var stream = new LiveStream(_server.Context);
        var listeners = Enumerable
            .Range(0, LiveStream.MaximumPerName)
            .Select(_ => stream.TryListen("a", out string _)!)
            .ToList();
        Assert.DoesNotContain(null, listeners);
        Assert.Null(stream.TryListen("a", out string refusal));
        Assert.Contains("as 'a' already", refusal, StringComparison.Ordinal);
        listeners.Add(stream.TryListen("b", out string _)!);
        listeners.Add(stream.TryListen(name: null, out string _)!);
        listeners[0].Dispose();
        listeners.Add(stream.TryListen("a", out string _)!);
        Assert.DoesNotContain(null, listeners);
        listeners.ForEach(listener => listener.Dispose());
    }

    [Fact]
    public async Task The_live_stream_ends_when_the_node_stops()
    {
        var stopping = new RunningServer();
        await stopping.InitializeAsync();
        var feed = await LiveFeed.OpenAsync(stopping);
        await feed.NextAsync();
        stopping.Context.Readiness.MarkStopping();
        await feed.FirstAsync(state =>
            state.GetProperty("Health").GetProperty("Sentence").GetString() is "The node is stopping."
        );
        await stopping.DisposeAsync();
        feed.Dispose();
    }

    private static JsonElement SampleOf(JsonElement state) => state.GetProperty("Nodes")[0].GetProperty("Sample");
}
