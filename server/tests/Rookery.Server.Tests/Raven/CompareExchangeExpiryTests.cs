using System.Text.Json;
using Rookery.Simulation;

namespace Rookery.Server.Tests.Raven;

/// <summary>
/// Compare-exchange values that expire while nothing is written. No log entry has a later time, so a read must first
/// write one, after which the values are absent.
/// </summary>
public sealed class CompareExchangeExpiryTests : IAsyncLifetime
{
    private readonly SimulatedTimeProvider _time = new();
    private readonly RunningServer _server;
    private string _db = "";

    public CompareExchangeExpiryTests() => _server = new RunningServer { NodeTime = _time };

    public async Task InitializeAsync()
    {
        await _server.InitializeAsync();
        _db = await _server.CreateDatabaseAsync();
        await _server.SendAsync(
            "PUT",
            $"{_db}/docs?id=users/1",
            """{"key":"gone","@metadata":{"@collection":"Users"}}"""
        );
        Assert.True(await PutAsync("kept", "\"none\"", _time.GetUtcNow().AddDays(1)));
        Assert.True(await PutAsync("gone", "\"users/1\"", _time.GetUtcNow().AddSeconds(10)));
    }

    public Task DisposeAsync() => _server.DisposeAsync();

    [Theory]
    [InlineData("GET", "/cmpxchg?key=gone", null)]
    [InlineData("GET", "/cmpxchg", null)]
    [InlineData("GET", "/docs?id=users/1&cmpxchg=key", null)]
    [InlineData("POST", "/docs?cmpxchg=key", """{"Ids":["users/1"]}""")]
    [InlineData("POST", "/queries", """{"Query":"from Users include cmpxchg(key)"}""")]
    public async Task No_read_returns_a_value_that_has_expired(string method, string path, string? body)
    {
        const string Value = "\"Object\":\"users/1\"";
        Assert.Contains(Value, await ReadAsync(method, path, body), StringComparison.Ordinal);
        AdvanceClock();
        Assert.DoesNotContain(Value, await ReadAsync(method, path, body), StringComparison.Ordinal);
        Assert.True(
            await PutAsync("gone", "\"users/2\"", _time.GetUtcNow().AddSeconds(10)),
            "an expired key can be created"
        );
    }

    [Theory]
    [InlineData("/queries")]
    [InlineData("/streams/queries")]
    public async Task A_query_compares_with_no_value_that_has_expired(string path)
    {
        const string Query = """{"Query":"from Users where id() = cmpxchg('gone')"}""";
        Assert.Contains("users/1", await ReadAsync("POST", path, Query), StringComparison.Ordinal);
        AdvanceClock();
        Assert.DoesNotContain("users/1", await ReadAsync("POST", path, Query), StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_change_by_query_compares_with_no_value_that_has_expired()
    {
        AdvanceClock();
        var started = await _server.SendAsync(
            "DELETE",
            $"{_db}/queries",
            """{"Query":"from Users where id() = cmpxchg('gone')"}"""
        );
        Assert.True(started.Status == 200, started.Body);
        long id = started.Json.GetProperty("OperationId").GetInt64();
        JsonElement state;
        do
        {
            await Task.Yield();
            state = (await _server.SendAsync("GET", $"{_db}/operations/state?id={id}&nodeTag=A")).Json;
        } while (state.GetProperty("Status").GetString() is "InProgress");
        Assert.Equal("Completed", state.GetProperty("Status").GetString());
        Assert.Equal(1, await _server.CountAsync(_db));
    }

    [Fact]
    public async Task A_value_that_expires_changes_the_tag_of_a_query_that_reads_it()
    {
        const string Query = """{"Query":"from Users where id() = cmpxchg('gone') include cmpxchg(key)"}""";
        var before = await _server.SendAsync("POST", $"{_db}/queries", Query);
        Assert.Equal(1, before.Json.GetProperty("Results").GetArrayLength());
        (string, string)[] known = [("If-None-Match", before.Tag ?? "")];
        Assert.Equal(304, (await _server.SendAsync("POST", $"{_db}/queries", Query, known)).Status);

        // An entry of another database expires the value, without a new etag in this database.
        AdvanceClock();
        string other = await _server.CreateDatabaseAsync();
        await _server.SendAsync("PUT", $"{other}/docs?id=a", "{}");
        var after = await _server.SendAsync("POST", $"{_db}/queries", Query, known);
        Assert.Equal(200, after.Status);
        Assert.Equal(0, after.Json.GetProperty("Results").GetArrayLength());
        Assert.NotEqual(before.Tag, after.Tag);
    }

    [Fact]
    public async Task The_requests_in_a_local_multi_get_are_local_and_write_nothing()
    {
        AdvanceClock();
        string body = $$"""
            {"Requests":[
              {"Url":"{{_db}}/cmpxchg","Query":"?key=gone"},
              {"Url":"{{_db}}/docs","Query":"?id=users/1&cmpxchg=key"},
              {"Url":"{{_db}}/queries","Method":"POST","Content":{"Query":"from Users where id() = cmpxchg('gone')"} } ]}
            """;
        long applied = _server.Node.Consensus.AppliedIndex;
        var local = await _server.SendAsync("POST", $"{_db}/multi_get?consistency=local", body);
        Assert.Equal(applied, _server.Node.Consensus.AppliedIndex);
        Assert.Equal([1, 1, 1], CountResults(local));
        Assert.Contains("\"Object\":\"users/1\"", local.Body, StringComparison.Ordinal);

        var current = await _server.SendAsync("POST", $"{_db}/multi_get", body);
        Assert.Equal([0, 1, 0], CountResults(current));
        Assert.DoesNotContain("\"Object\":\"users/1\"", current.Body, StringComparison.Ordinal);

        static IEnumerable<int> CountResults(Answer answer) =>
            answer
                .Json.GetProperty("Results")
                .EnumerateArray()
                .Select(static part => part.GetProperty("Result").GetProperty("Results").GetArrayLength());
    }

    // Longer than the life of 'gone', and shorter than the interval in which the node itself removes expired values.
    private void AdvanceClock() => _time.Advance(TimeSpan.FromSeconds(20));

    private async Task<string> ReadAsync(string method, string path, string? body)
    {
        var answer = await _server.SendAsync(method, _db + path, body);
        Assert.True(answer.Status == 200, answer.Body);
        return answer.Body;
    }

    /// <summary>Creates a value. Returns whether there was none with this key.</summary>
    private async Task<bool> PutAsync(string key, string value, DateTimeOffset expires)
    {
        var answer = await _server.SendAsync(
            "PUT",
            $"{_db}/cmpxchg?key={key}&index=0",
            $$"""{"Object":{{value}},"@metadata":{"@expires":"{{expires.UtcDateTime:O}}"} }"""
        );
        Assert.True(answer.Status == 200, answer.Body);
        return answer.Json.GetProperty("Successful").GetBoolean();
    }
}
