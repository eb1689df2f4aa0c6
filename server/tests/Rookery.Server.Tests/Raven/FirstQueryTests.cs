using System.Globalization;
using System.Text.Json;
using Rookery.Simulation;

namespace Rookery.Server.Tests.Raven;

/// <summary>A query whose index is not built yet.</summary>
public sealed class FirstQueryTests : IAsyncLifetime
{
    private const int Documents = 300;

    // Half of the indexes that the memory of the test allows: one for each of its 64 MiB.
    private const int MaxAutomaticIndexes = 32;

    private readonly SimulatedTimeProvider _time = new();
    private readonly RunningServer _server;
    private string _db = "";

    public FirstQueryTests() => _server = new RunningServer { IndexTime = _time, HoldsIndexing = true };

    public async Task InitializeAsync()
    {
        await _server.InitializeAsync();
        _db = await _server.CreateDatabaseAsync();
        var commands = Enumerable
            .Range(0, Documents)
            .Select(number =>
                string.Create(
                    CultureInfo.InvariantCulture,
                    $$$"""{"Id":"u{{{number}}}","Type":"PUT","Document":{"bio":"a fish of the river","n":{{{number % 3}}},"@metadata":{"@collection":"Us"} } }"""
                )
            );
        Assert.Equal(
            201,
            (
                await _server.SendAsync(
                    "POST",
                    _db + "/bulk_docs",
                    $$"""{"Commands":[{{string.Join(',', commands)}}]}"""
                )
            ).Status
        );
    }

    public Task DisposeAsync() => _server.DisposeAsync();

    [Theory]
    [InlineData("from Us where search(bio, 'fish')", Documents)]
    [InlineData("from Us where boost(search(bio, 'river'), 2) and n = 1", Documents / 3)]
    [InlineData("from Us where search(bio, 'fish') order by score()", Documents)]
    [InlineData("from Us where n < 3", Documents)]
    [InlineData("from Us group by n select n, count()", 3)]
    public async Task A_query_is_answered_by_a_scan_if_its_index_is_not_built_in_time(string query, int total)
    {
        // The first attempt defines the index, the second finds it unbuilt.
        for (int attempt = 0; attempt < 2; attempt++)
        {
            var answering = _server.SendAsync(
                "POST",
                _db + "/queries",
                $$"""{"Query":{{JsonSerializer.Serialize(query)}}}"""
            );
            while (!answering.IsCompleted)
            {
                _time.Advance(TimeSpan.FromSeconds(1));
                await Task.Delay(1);
            }

            var answer = await answering;
            Assert.True(answer.Status == 200, answer.Body);
            Assert.Equal(total, answer.Json.GetProperty("TotalResults").GetInt32());
            Assert.Equal(total, answer.Json.GetProperty("Results").GetArrayLength());
            Assert.False(answer.Json.GetProperty("IsStale").GetBoolean());
        }
    }

    [Fact]
    public async Task A_query_too_costly_to_scan_waits_longer_for_its_index()
    {
        var answering = _server.SendAsync(
            "POST",
            _db + "/queries",
            """{"Query":"from Us where search(bio, 'fish')"}"""
        );
        while (
            (await _server.SendAsync("GET", _db + "/indexes?namesOnly=true"))
                .Json.GetProperty("Results")
                .GetArrayLength() == 0
        )
        {
            Assert.False(answering.IsCompleted);
        }

        // Longer than a query with a cheap scan waits.
        _time.Advance(TimeSpan.FromSeconds(10));
        _server.HoldsIndexing = false;
        _server.Context.Indexes.TrimMemory(); // wakes the thread
        var answer = await answering;
        Assert.StartsWith("Auto/Us/", answer.Json.GetProperty("IndexName").GetString(), StringComparison.Ordinal);
        Assert.Equal(Documents, answer.Json.GetProperty("TotalResults").GetInt32());
        Assert.NotEqual(
            0,
            (await _server.SendAsync("GET", _db + "/indexes/stats"))
                .Json.GetProperty("Results")[0]
                .GetProperty("EntriesCount")
                .GetInt64()
        );
    }

    [Fact]
    public async Task Concurrent_queries_define_no_more_indexes_than_the_node_keeps()
    {
        // Each query is for another collection, and would define an index of its own.
        var answering = Enumerable
            .Range(0, 120)
            .Select(static number => $$"""{"Query":"from Us{{number}} where search(bio, 'fish')"}""")
            .Select(query => _server.SendAsync("POST", _db + "/queries", query))
            .ToList();
        var all = Task.WhenAll(answering);
        while (!all.IsCompleted)
        {
            _time.Advance(TimeSpan.FromSeconds(1));
            await Task.Delay(1);
        }

        Assert.All(await all, static answer => Assert.Equal(200, answer.Status));
        var names = (await _server.SendAsync("GET", _db + "/indexes?namesOnly=true")).Json.GetProperty("Results");
        Assert.InRange(names.GetArrayLength(), 1, MaxAutomaticIndexes);
    }
}
