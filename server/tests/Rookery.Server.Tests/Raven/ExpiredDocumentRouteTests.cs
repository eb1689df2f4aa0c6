using System.IO.Compression;
using System.Text.Json;
using Microsoft.AspNetCore.Http;
using Rookery.Documents.Databases;
using Rookery.Queries.Answering;
using Rookery.Queries.Execution;
using Rookery.Queries.Subscriptions;
using Rookery.Server.Raven;
using Rookery.Server.Raven.Documents;
using Rookery.Server.Subscriptions;
using Rookery.Simulation;

namespace Rookery.Server.Tests.Raven;

/// <summary>Answers beside documents that have expired and are not deleted yet: their totals, and their tags.</summary>
public sealed class ExpiredDocumentRouteTests : IAsyncLifetime
{
    private readonly SimulatedTimeProvider _time = new();
    private readonly RunningServer _server;
    private string _db = "";

    private readonly SteppingTime _timeOfSlices = new();

    public ExpiredDocumentRouteTests() => _server = new RunningServer { NodeTime = _time, Time = _timeOfSlices };

    public async Task InitializeAsync()
    {
        await _server.InitializeAsync();
        _db = await _server.CreateDatabaseAsync();
        await PutAsync("users/1", "Users", expiresAfterSeconds: 0);
        await PutAsync("users/2", "Users", expiresAfterSeconds: 10);
        await PutAsync("users/3", "Users", expiresAfterSeconds: 3600);
        await PutAsync("codes/1", "Codes", expiresAfterSeconds: 10);
    }

    public Task DisposeAsync()
    {
        _timeOfSlices.Step = TimeSpan.Zero;
        return _server.DisposeAsync();
    }

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

    [Fact]
    public async Task A_dump_has_the_documents_that_have_expired_and_are_not_removed_yet()
    {
        AdvanceClock();
        Assert.Equal(404, (await _server.SendAsync("GET", _db + "/docs?id=users/2")).Status);
        using var options = new StringContent("""{"IncludeExpired":true}""");
        using var answer = await _server.Http.PostAsync(new Uri(_server.Address, _db + "/smuggler/export"), options);
        await using var json = new GZipStream(await answer.Content.ReadAsStreamAsync(), CompressionMode.Decompress);
        using var dump = await JsonDocument.ParseAsync(json);
        Assert.Equal(4, dump.RootElement.GetProperty("Docs").GetArrayLength());
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

    [Theory]
    [InlineData("from Users", 1)]
    [InlineData("from @all_docs", 2)]
    [InlineData("from Users where startsWith(id(), 'users')", 1)]
    public void A_walk_of_a_query_pauses_at_documents_that_expired(string query, int expired)
    {
        AdvanceClock();
        using var answer = new DocumentResponse(new DefaultHttpContext(), _server.Context.LargeRequests);
        using var reader = new AnswerReader(Database, answer);
        int interrupted = 0;
        using var walk = new QueryWalk(reader, PlanOf(query).DirectRead!) { Interrupts = () => ++interrupted > 0 };
        int found = 0;
        do
        {
            while (walk.MoveNext())
            {
                found++;
                walk.Pause();
            }
        } while (walk.WasInterrupted);

        Assert.Equal((2, expired), (found, interrupted));
    }

    [Theory]
    [InlineData("from Users")]
    [InlineData("from @all_docs")]
    public async Task A_count_of_a_query_ends_when_its_client_leaves_among_documents_that_expired(string query)
    {
        AdvanceClock();
        _timeOfSlices.Step = TimeSpan.FromSeconds(1); // each reading ends a slice
        using var answer = new DocumentResponse(LeftByClient(), _server.Context.LargeRequests);
        using var reader = new AnswerReader(Database, answer);
        using var walk = new QueryWalk(reader, PlanOf(query).DirectRead!);
        var slices = new QueryTimeSlices(_timeOfSlices, TimeSpan.MaxValue, answer);
        slices.StartClock();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(async () => await walk.CountTotalAsync(slices));
    }

    [Theory]
    [InlineData("?startsWith=codes")]
    [InlineData("")]
    public async Task A_list_ends_when_its_client_leaves_among_documents_that_expired(string query)
    {
        AdvanceClock();
        _timeOfSlices.Step = TimeSpan.FromSeconds(1); // each reading ends a slice
        var http = LeftByClient();
        http.Request.QueryString = new QueryString(query);
        using var answer = new DocumentResponse(http, _server.Context.LargeRequests);
        using var walk = PrefixWalk.Open(http, Database, answer, new RequestTimeSlices(_server.Context, http));
        await Assert.ThrowsAnyAsync<OperationCanceledException>(async () => await walk.MoveNextAsync());
    }

    [Fact]
    public async Task A_subscription_pauses_among_documents_that_expired()
    {
        const int Documents = 3000; // more than it reads without a pause
        string metadata =
            $$"""{"@collection":"Users","@expires":"{{_time.GetUtcNow().AddSeconds(10).UtcDateTime:O}}"}""";
        var puts = Enumerable
            .Range(0, Documents)
            .Select(i => $$"""{"Id":"old/{{i}}","Type":"PUT","Document":{"@metadata":{{metadata}} } }""");
        string batch = $$"""{"Commands":[{{string.Join(',', puts)}}]}""";
        Assert.Equal(201, (await _server.SendAsync("POST", _db + "/bulk_docs", batch)).Status);
        AdvanceClock();
        var database = Database;
        var memory = _server.Context.QueryMemory;
        var criteria = SubscriptionCriteria.Compile("from Users");
        using var feed = new DocumentFeed(database, criteria, isShared: false, database.LastEtag - Documents)
        {
            Version = 1,
        };
        using var run = new SubscriptionRun(criteria, memory, database.HistoryId, CancellationToken.None);
        using var includes = new BatchIncludes(database, criteria, memory, CancellationToken.None);
        using var slice = new FeedSlice(database, criteria, includes, memory, _time);
        slice.Begin(documents: 1);
        Assert.False(feed.Read(new object(), run, slice));
        Assert.InRange(feed.Scanned, database.LastEtag - Documents + 1, database.LastEtag - 1);
        slice.Begin(documents: 1);
        Assert.True(feed.Read(new object(), run, slice));
        Assert.Equal((0, Documents), (slice.Documents, feed.Skipped));
    }

    private static DefaultHttpContext LeftByClient() =>
        new() { RequestAborted = new CancellationToken(canceled: true) };

    private Database Database =>
        _server.Node.Databases.TryGet(_db["/databases/".Length..], out var database)
            ? database
            : throw new InvalidOperationException(_db);

    private QueryPlan PlanOf(string query) =>
        QueryPlan.Read(
            new QueryRequest(query, "{}"u8.ToArray(), Start: 0, long.MaxValue, Wait: null),
            Database,
            new IndexedQueries(_server.Context.Indexes)
        );

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
