using System.Globalization;
using System.Text;
using System.Text.Json;
using Microsoft.AspNetCore.Http;
using Rookery.Server.Raven;
using Rookery.Server.Raven.Queries;

namespace Rookery.Server.Tests.Raven;

/// <summary>
/// Long answers while their data changes or is deleted: they are complete and from one snapshot, or cut off.
/// </summary>
public sealed class CompleteAnswersTests : IAsyncLifetime
{
    // 16 MB: more than a connection buffers of an answer that is not read.
    private const int Documents = 4000;
    private static readonly string Text = new('x', 4000);

    private readonly RunningServer _server = new();
    private string _db = "";

    public async Task InitializeAsync()
    {
        await _server.InitializeAsync();
        _db = await _server.CreateDatabaseAsync();
        await FillAsync();
    }

    public Task DisposeAsync() => _server.DisposeAsync();

    /// <summary>Method and route, and the query; null for none.</summary>
    public static TheoryData<string, string?> LongAnswers { get; } =
        new()
        {
            { "GET /export", null },
            { "GET /streams/docs?format=jsonl", null },
            { "GET /streams/docs?format=jsonl&startsWith=d", null },
            { "GET /docs", null },
            { "POST /queries", "from Ds" },
            { "POST /queries", "from Ds where id() != 'x'" },
            { "POST /streams/queries?format=jsonl", "from @all_docs" },
            { "POST /streams/queries?format=jsonl", "from Ds" },
            { "POST /streams/queries?format=jsonl", "from Ds where startsWith(id(), 'd')" },
            { "POST /streams/queries?format=jsonl", "from Ds where n < 100000" },
            { "POST /streams/queries?format=jsonl", "from Ds where n < 100000 order by n as long" },
            { "POST /streams/queries?format=jsonl", "from Ds where id() != 'x'" },
            { "POST /streams/queries?format=jsonl", "from Ds as d where d.n < 100000 select { n: d.n, t: d.t }" },
            { "POST /streams/queries?format=jsonl", "from index 'ByN' where n < 100000" },
        };

    [Theory]
    [MemberData(nameof(LongAnswers))]
    public async Task An_answer_is_complete_though_its_database_is_deleted_and_created_again(
        string route,
        string? query
    )
    {
        await DefineIndexIfNamedAsync(query);
        using var answer = await BeginAsync(route, query);
        string name = _db["/databases/".Length..];
        Assert.Equal(
            200,
            (
                await _server.SendAsync(
                    "DELETE",
                    $"/admin/databases",
                    $$"""{"DatabaseNames":["{{name}}"],"HardDelete":true}"""
                )
            ).Status
        );
        Assert.Equal(
            201,
            (
                await _server.SendAsync("PUT", $"/admin/databases?name={name}", $$"""{"DatabaseName":"{{name}}"}""")
            ).Status
        );
        Assert.Equal(
            201,
            (
                await _server.SendAsync(
                    "PUT",
                    _db + "/docs?id=d9999",
                    """{"n":1,"t":"anew","@metadata":{"@collection":"Ds"} }"""
                )
            ).Status
        );
        await AssertCompleteAsync(answer);
    }

    [Theory]
    [MemberData(nameof(LongAnswers))]
    public async Task An_answer_during_a_delete_by_query_is_complete_with_its_count(string route, string? query)
    {
        await DefineIndexIfNamedAsync(query);
        using var answer = await BeginAsync(route, query);
        await DeleteAllAsync();
        await AssertCompleteAsync(answer);
    }

    [Theory]
    [InlineData("from Ds where n < 100000 filter n >= 0")]
    [InlineData("from Ds where id() != 'x'")]
    [InlineData("from Ds where startsWith(id(), 'd')")]
    public async Task A_second_pass_over_counted_results_finds_the_same_number(string query)
    {
        Assert.True(_server.Node.Databases.TryGet(_db["/databases/".Length..], out var database));
        string requestJson = $$"""{"Query":{{JsonSerializer.Serialize(query)}},"WaitForNonStaleResults":true}""";
        using var body = new MemoryStream(Encoding.UTF8.GetBytes(requestJson));
        var http = new DefaultHttpContext();
        (http.Request.Body, http.Request.ContentLength) = (body, body.Length);
        using var received = await PlannedQuery.ReadAsync(http, database, _server.Context);
        using var output = new DocumentResponse(http, _server.Context.LargeRequests);
        using (var answer = await _server.Context.Queries.ExecuteAsync(database, received.Plan, output))
        {
            var results = answer.Results;
            Assert.Null(results.KnownTotal);
            Assert.Equal(Documents, await results.CountAsync());
            await DeleteAllAsync();
            await _server.SendAsync("GET", _db + "/indexes/progress?wait=15000");
            await results.RewindAsync();
            long count = 0;
            while (await results.MoveNextAsync())
            {
                // The buffer is emptied instead of sent.
                count++;
                output.Buffer.Truncate(0);
            }

            Assert.Equal(Documents, count);
        }
    }

    [Fact]
    public async Task A_feed_reports_the_deletion_of_its_database()
    {
        using var answer = await BeginAsync("GET /changes/stream?since=0", query: null);
        await _server.SendAsync(
            "DELETE",
            "/admin/databases",
            $$"""{"DatabaseNames":["{{_db["/databases/".Length..]}}"],"HardDelete":true}"""
        );
        Assert.Contains(
            "event: end\ndata: {\"Reason\":\"",
            await answer.Content.ReadAsStringAsync(),
            StringComparison.Ordinal
        );
    }

    private async Task FillAsync()
    {
        for (int first = 0; first < Documents; first += 1000)
        {
            var commands = Enumerable
                .Range(first, 1000)
                .Select(number =>
                    string.Create(
                        CultureInfo.InvariantCulture,
                        $$$"""{"Id":"d{{{number:D4}}}","Type":"PUT","Document":{"n":{{{number}}},"t":"{{{Text}}}","@metadata":{"@collection":"Ds"} } }"""
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
    }

    private async Task DefineIndexIfNamedAsync(string? query)
    {
        if (query?.Contains("'ByN'", StringComparison.Ordinal) == true)
        {
            Assert.Equal(
                201,
                (
                    await _server.SendAsync(
                        "PUT",
                        _db + "/admin/indexes",
                        """{"Indexes":[{"Name":"ByN","Maps":["from d in docs.Ds select new { d.n }"]}]}"""
                    )
                ).Status
            );
        }
    }

    /// <summary>
    /// Sends a request and reads the head of the answer; the rest is sent as far as the connection buffers it.
    /// </summary>
    private async Task<HttpResponseMessage> BeginAsync(string route, string? query)
    {
        string[] parts = route.Split(' ');
        using var request = new HttpRequestMessage(new HttpMethod(parts[0]), new Uri(_server.Address, _db + parts[1]));
        if (query is not null)
        {
            request.Content = new StringContent(
                $$"""{"Query":{{JsonSerializer.Serialize(query)}},"WaitForNonStaleResults":true}""",
                Encoding.UTF8,
                "application/json"
            );
        }

        var answer = await _server.Http.SendAsync(request, HttpCompletionOption.ResponseHeadersRead);
        Assert.Equal(200, (int)answer.StatusCode);
        return answer;
    }

    private async Task DeleteAllAsync()
    {
        var operation = (await _server.SendAsync("DELETE", _db + "/queries", """{"Query":"from Ds"}"""))
            .Json.GetProperty("OperationId")
            .GetInt64();
        while (
            (
                await _server.SendAsync(
                    "GET",
                    string.Create(CultureInfo.InvariantCulture, $"{_db}/operations/state?id={operation}")
                )
            )
                .Json.GetProperty("Status")
                .GetString()
                is "InProgress"
        )
        {
            await Task.Delay(20);
        }

        Assert.Equal(0, await _server.CountAsync(_db));
    }

    private static async Task AssertCompleteAsync(HttpResponseMessage answer)
    {
        string body = await answer.Content.ReadAsStringAsync();
        Assert.Equal(Documents, body.Split(Text).Length - 1);
        int total = body.IndexOf("\"TotalResults\":", StringComparison.Ordinal);
        if (total >= 0)
        {
            Assert.StartsWith(
                string.Create(CultureInfo.InvariantCulture, $"\"TotalResults\":{Documents},"),
                body[total..],
                StringComparison.Ordinal
            );
        }

        if (answer.Headers.TryGetValues("Rookery-Documents", out var counts))
        {
            Assert.Equal(Documents, int.Parse(counts.Single(), CultureInfo.InvariantCulture));
        }
    }
}
