using System.Text;
using Microsoft.AspNetCore.Http;
using Rookery.Server.Raven;
using Rookery.Server.Raven.Documents;

namespace Rookery.Server.Tests.Raven;

/// <summary>The walk over documents by the prefix of their ids, while it skips documents.</summary>
public sealed class PrefixWalkTests : IAsyncLifetime
{
    private readonly SteppingTime _time = new();
    private readonly RunningServer _server;
    private string _db = "";

    public PrefixWalkTests() => _server = new RunningServer { Time = _time };

    public async Task InitializeAsync()
    {
        await _server.InitializeAsync();
        _db = await _server.CreateDatabaseAsync();
    }

    public async Task DisposeAsync()
    {
        _time.Step = TimeSpan.Zero;
        await _server.DisposeAsync();
    }

    /// <summary>Each reading of the clock takes a second, so each document that is skipped ends a time slice.</summary>
    [Theory]
    [InlineData("?startsWith=a&matches=*7", "a07 a17 a27")]
    [InlineData("?startsWith=a&exclude=*0|*1|*2|*3|*4|*5|*6|*7|*8&start=1", "a19 a29")]
    [InlineData("?startsWith=a&start=27", "a27 a28 a29")]
    [InlineData("?start=28", "a01 a00")]
    [InlineData("?startsWith=a&matches=x", "")]
    public async Task A_walk_that_yields_finds_the_same(string query, string ids)
    {
        await PutAsync(count: 30);
        _time.Step = TimeSpan.FromSeconds(1);
        Assert.Equal(ids.Split(' ', StringSplitOptions.RemoveEmptyEntries), await WalkAsync(query));
    }

    [Fact]
    public async Task A_walk_that_finds_nothing_for_two_minutes_is_refused()
    {
        // A time slice takes 10 ms at least.
        await PutAsync(count: 12_010);
        _time.Step = TimeSpan.FromSeconds(1);
        var refused = await Assert.ThrowsAsync<RefusedException>(() => WalkAsync("?startsWith=a&matches=x"));
        Assert.Equal(StatusCodes.Status400BadRequest, refused.Status);
        Assert.Equal(2, (await WalkAsync("?startsWith=a&matches=*2000")).Count);
    }

    private async Task<List<string>> WalkAsync(string query)
    {
        Assert.True(_server.Node.Databases.TryGet(_db["/databases/".Length..], out var database));
        var http = new DefaultHttpContext();
        http.Request.QueryString = new QueryString(query);
        using var answer = new DocumentResponse(http, _server.Context.LargeRequests);
        using var walk = PrefixWalk.Open(http, database, answer, new RequestTimeSlices(_server.Context, http));
        var ids = new List<string>();
        while (await walk.MoveNextAsync())
        {
            int before = answer.Buffer.Length;
            walk.Write(answer.Buffer, database);
            string json = Encoding.UTF8.GetString(answer.Buffer.Written.Span[before..]);
            int start = json.IndexOf("\"@id\":\"", StringComparison.Ordinal) + "\"@id\":\"".Length;
            ids.Add(json[start..json.IndexOf('"', start)]);
        }

        return ids;
    }

    private async Task PutAsync(int count)
    {
        var puts = Enumerable
            .Range(0, count)
            .Select(static i => $$"""{"Id":"a{{i:00}}","Type":"PUT","Document":{ } }""");
        string batch = $$"""{"Commands":[{{string.Join(',', puts)}}]}""";
        Assert.Equal(201, (await _server.SendAsync("POST", _db + "/bulk_docs", batch)).Status);
    }
}
