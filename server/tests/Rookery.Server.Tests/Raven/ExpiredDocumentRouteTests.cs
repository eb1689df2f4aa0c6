using System.Text.Json;
using Rookery.Simulation;

namespace Rookery.Server.Tests.Raven;

/// <summary>Answers beside documents that have expired and are not deleted yet: their totals, and their tags.</summary>
public sealed class ExpiredDocumentRouteTests : IAsyncLifetime
{
    private readonly SimulatedTimeProvider _time = new();
    private readonly RunningServer _server;
    private string _db = "";

    public ExpiredDocumentRouteTests() => _server = new RunningServer { NodeTime = _time };

    public async Task InitializeAsync()
    {
        await _server.InitializeAsync();
        _db = await _server.CreateDatabaseAsync();
        await PutAsync("users/1", "Users", expiresAfterSeconds: 0);
        await PutAsync("users/2", "Users", expiresAfterSeconds: 10);
        await PutAsync("users/3", "Users", expiresAfterSeconds: 3600);
        await PutAsync("codes/1", "Codes", expiresAfterSeconds: 10);
    }

    public Task DisposeAsync() => _server.DisposeAsync();

    [Fact]
    public async Task An_export_announces_as_many_documents_as_it_has()
    {
        await AssertExportAsync(4);
        AdvanceClock();
        Assert.Equal(4, await _server.CountAsync(_db)); // none is deleted yet
        await AssertExportAsync(2);

        async Task AssertExportAsync(int documents)
        {
            var export = await _server.SendAsync("GET", _db + "/export");
            Assert.Equal(200, export.Status);
            Assert.Equal(documents, export.Body.Split('\n', StringSplitOptions.RemoveEmptyEntries).Length);
            Assert.Equal($"{documents}", export.Headers.GetValues("Rookery-Documents").Single());
        }
    }

    [Theory]
    [InlineData("from Users", 3, 2)]
    [InlineData("from @all_docs", 4, 2)]
    [InlineData("from Users where startsWith(id(), 'users')", 3, 2)]
    public async Task A_query_that_reads_documents_counts_those_that_it_finds(string query, int before, int after)
    {
        await AssertTotalAsync(before);
        AdvanceClock();
        await AssertTotalAsync(after);

        async Task AssertTotalAsync(int total)
        {
            foreach (string path in (string[])["/queries", "/streams/queries"])
            {
                var answer = (await QueryAsync(query, path)).Json;
                Assert.Equal(total, answer.GetProperty("Results").GetArrayLength());
                Assert.Equal(total, answer.GetProperty("TotalResults").GetInt32());
            }
        }
    }

    [Fact]
    public async Task A_stream_of_an_index_announces_as_many_results_as_it_has()
    {
        const string Query = "from Users where name = 'ann'";
        Assert.Equal(3, (await QueryAsync(Query)).Json.GetProperty("Results").GetArrayLength());
        AdvanceClock();
        var stream = (await QueryAsync(Query, "/streams/queries")).Json;
        Assert.Equal(2, stream.GetProperty("Results").GetArrayLength());
        Assert.Equal(2, stream.GetProperty("TotalResults").GetInt32());
    }

    [Theory]
    [InlineData("from Users")]
    [InlineData("from Users where name = 'ann'")]
    [InlineData("from Users where id() = 'users/1' include next")]
    [InlineData("from Users where endsWith(name, 'nn') select name")]
    public async Task A_document_that_expires_changes_the_tag_of_a_query(string query)
    {
        var before = await QueryAsync(query);
        for (
            int tries = 0;
            tries < 100 && !string.Equals((await QueryAsync(query)).Tag, before.Tag, StringComparison.Ordinal);
            tries++
        )
        {
            before = await QueryAsync(query); // the first query may have defined an index meanwhile
        }

        Assert.NotNull(before.Tag);
        (string, string)[] known = [("If-None-Match", before.Tag)];
        Assert.Equal(304, (await QueryAsync(query, "/queries", known)).Status);

        AdvanceClock();
        var after = await QueryAsync(query, "/queries", known);
        Assert.Equal(200, after.Status);
        Assert.NotEqual(before.Tag, after.Tag);
        Assert.NotEqual(Documents(before), Documents(after));
        Assert.Equal(304, (await QueryAsync(query, "/queries", [("If-None-Match", after.Tag ?? "")])).Status);

        static string Documents(Answer answer) =>
            answer.Json.GetProperty("Results").GetRawText() + answer.Json.GetProperty("Includes").GetRawText();
    }

    // Longer than the life of two documents, and shorter than the interval in which the node deletes them.
    private void AdvanceClock() => _time.Advance(TimeSpan.FromSeconds(20));

    private async Task<Answer> QueryAsync(
        string query,
        string path = "/queries",
        params (string Name, string Value)[] headers
    )
    {
        string text = JsonSerializer.Serialize(query);
        var answer = await _server.SendAsync("POST", _db + path, $$"""{"Query":{{text}}}""", headers);
        Assert.True(answer.Status is 200 or 304, answer.Body);
        return answer;
    }

    private async Task PutAsync(string id, string collection, int expiresAfterSeconds)
    {
        string expires =
            expiresAfterSeconds == 0
                ? ""
                : $",\"@expires\":\"{_time.GetUtcNow().AddSeconds(expiresAfterSeconds).UtcDateTime:O}\"";
        var stored = await _server.SendAsync(
            "PUT",
            $"{_db}/docs?id={id}",
            $$"""{"name":"ann","next":"users/2","@metadata":{"@collection":"{{collection}}"{{expires}}} }"""
        );
        Assert.Equal(201, stored.Status);
    }
}
