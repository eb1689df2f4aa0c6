using System.Text;
using System.Text.Json;
using System.Text.RegularExpressions;
using Rookery.Server.FastPath;
using Rookery.Server.Raven;
using Rookery.Server.Tests.Raven;
using Rookery.Simulation;

namespace Rookery.Server.Tests.FastPath;

/// <summary>
/// The fast path answers a query as the full pipeline does, if the query needs no wait and its answer is short. It
/// leaves other queries to the pipeline.
/// </summary>
public sealed partial class FastPathQueryTests : IAsyncLifetime
{
    private const string Host = "Host: localhost\r\n";

    // The fast path leaves requests with headers that it does not know to the full pipeline.
    private const string UnknownHeader = "X-Other: 1\r\n";
    private const int Users = 40;

    private readonly SteppingTime _time = new();
    private readonly RunningServer _server;
    private string _database = "";

    public FastPathQueryTests() => _server = new RunningServer { Time = _time };

    private long FastPathAnswers => _server.Context.Metrics.FastPathRequests;

    public async Task InitializeAsync()
    {
        await _server.InitializeAsync();
        _database = await _server.CreateDatabaseAsync();
        string longText = new('x', 4000);
        for (int i = 0; i < Users; i++)
        {
            await PutAsync(
                $"users/{i}",
                new
                {
                    name = $"n{i % 4}",
                    age = i,
                    city = $"c{i % 3}",
                    text = longText,
                }
            );
        }

        string map = "map('Users', function (u) { return { age: u.age }; })";
        string definition = JsonSerializer.Serialize(new { Name = "Users/ByAge", Maps = new[] { map } });
        var defined = await _server.SendAsync(
            "PUT",
            _database + "/admin/indexes",
            $$"""{"Indexes":[{{definition}}]}"""
        );
        Assert.Equal(201, defined.Status);
        await SendAsync(
            """{"Query":"from index 'Users/ByAge'","WaitForNonStaleResults":true}""",
            "/queries",
            UnknownHeader
        );
    }

    public Task DisposeAsync() => _server.DisposeAsync();

    [Theory]
    [InlineData("from Users where name = 'n1' limit 2")]
    [InlineData("from Users where name = 'N1' and age < 9")]
    [InlineData("from Users where age > 30 order by age desc select age, city")]
    [InlineData("from Users where age between 3 and 5 select { a: this.age * 2 }")]
    [InlineData("from Users where name = 'none'")]
    [InlineData("from Users where id() = 'users/1'")]
    [InlineData("from Users where startsWith(id(), 'users/2') limit 5")]
    [InlineData("from Users where name = 'n1' select facet(city)")]
    [InlineData("from index 'Users/ByAge' where age > 30 order by age limit 3")]
    [InlineData("from Users order by city, age as long limit 3, 2")]
    [InlineData("from Users where name in ('n1', 'n2') order by age limit 0")]
    [InlineData("from Users group by city select key() as city, count() as n")]
    [InlineData("from Users where name = 'n1' order by random() select age limit 40", false)]
    public async Task A_query_that_needs_no_wait_is_answered_as_by_the_full_pipeline(string text, bool hasTag = true)
    {
        // A query for facets waits for no index.
        await DefineIndexAsync(text.Replace(" select facet(city)", "", StringComparison.Ordinal));
        long before = FastPathAnswers;
        var fast = await QueryAsync(text);
        Assert.Equal(before + 1, FastPathAnswers);
        var full = await QueryAsync(text, UnknownHeader);
        Assert.Equal(before + 1, FastPathAnswers);
        Assert.Equal(200, fast.Code);
        Assert.Equal(hasTag, fast.Headers.Contains("ETag: ", StringComparison.Ordinal));
        if (hasTag)
        {
            Assert.Equal(WithoutTimes(full), WithoutTimes(fast));
        }
    }

    [Fact]
    public async Task Parameters_start_and_page_size_in_the_body_are_obeyed()
    {
        const string Body =
            """{"Query":"from Users where age >= $p order by age","QueryParameters":{"p":7},"Start":1,"PageSize":2}""";
        const string Target = "/queries?queryHash=89a7d&addTimeSeriesNames=true";
        await DefineIndexAsync("from Users where age >= 7 order by age");
        long before = FastPathAnswers;
        var fast = await SendAsync(Body, Target);
        Assert.Equal(before + 1, FastPathAnswers);
        using var answer = JsonDocument.Parse(fast.Body);
        Assert.Equal(
            [8, 9],
            answer
                .RootElement.GetProperty("Results")
                .EnumerateArray()
                .Select(each => each.GetProperty("age").GetInt32())
        );
        Assert.Equal(Users - 7, answer.RootElement.GetProperty("TotalResults").GetInt32());
        Assert.Equal(WithoutTimes(await SendAsync(Body, Target, UnknownHeader)), WithoutTimes(fast));
    }

    [Fact]
    public async Task An_answer_that_the_client_has_is_not_sent_again_until_a_document_changes()
    {
        const string Text = "from Users where name = 'n2' order by age limit 1";
        await DefineIndexAsync(Text);
        var first = await QueryAsync(Text);
        string tag = first
            .Headers.Split('\n')
            .Single(static line => line.StartsWith("ETag: ", StringComparison.Ordinal));
        string known = $"If-None-Match: {tag["ETag: ".Length..]}\r\n";
        long before = FastPathAnswers;
        var fast = await QueryAsync(Text, known);
        Assert.Equal((304, before + 1), (fast.Code, FastPathAnswers));
        Assert.Equal(await QueryAsync(Text, known + UnknownHeader), fast);
        await PutAsync("users/x", new { name = "n2", age = -1 });
        Assert.Contains("\"age\":-1", (await QueryAsync(Text, known)).Body, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("from Users")]
    [InlineData("from Users where name = 'n1' limit 1 include timings()")]
    [InlineData("from Users where name = 'n1' limit 1 include city")]
    [InlineData("from Users where name = ")]
    [InlineData("from index 'none'")]
    [InlineData("from Users where name = 'n1' order by age limit 'x'")]
    [InlineData("from Users update { this.a = 1 }")]
    [InlineData("from Users where spatial.within(a, spatial.circle(1, 2, 3))")]
    [InlineData("from Users where age >= 0")]
    public async Task A_query_that_is_not_simple_is_left_to_the_full_pipeline(string text)
    {
        await DefineIndexAsync(text);
        long before = FastPathAnswers;
        var answer = await QueryAsync(text);
        Assert.Equal(WithoutTimes(await QueryAsync(text, UnknownHeader)), WithoutTimes(answer));
        Assert.Equal(before, FastPathAnswers);
    }

    [Theory]
    [InlineData("/queries?metadataOnly=true")]
    [InlineData("/queries?debug=explain")]
    [InlineData("/queries?consistency=local")]
    [InlineData("/queries?queryHash=1&metadataOnly=true")]
    [InlineData("/queries?queryHash=1&addTimeSeriesNames=true&metadataOnly=true")]
    [InlineData("/queries?queryHash=1%31")]
    [InlineData("/queries/")]
    [InlineData("/QUERIES")]
    [InlineData("/streams/queries")]
    [InlineData("/docs?id=users/1")]
    public async Task A_query_with_an_unknown_target_is_left_to_the_full_pipeline(string target)
    {
        const string Body = """{"Query":"from Users where name = 'n1' limit 1"}""";
        long before = FastPathAnswers;
        using var connection = await RawConnection.OpenAsync(_server);
        string head = $"POST {_database}{target} HTTP/1.1\r\n{Host}Content-Length: {Body.Length}\r\n\r\n";
        await connection.SendAsync(head + Body);
        Assert.NotNull(await connection.ReadAsync());
        Assert.Equal(before, FastPathAnswers);
    }

    [Fact]
    public async Task A_query_after_a_write_waits_for_its_index()
    {
        for (int i = 100; i < 120; i++)
        {
            await PutAsync($"users/{i}", new { name = "new", age = i });
            var answer = await QueryAsync($"from index 'Users/ByAge' where age = {i}");
            Assert.Contains("\"TotalResults\":1,", answer.Body, StringComparison.Ordinal);
        }
    }

    [Fact]
    public async Task An_automatic_index_is_made_by_the_full_pipeline_and_used_by_the_fast_path()
    {
        // A query of a smaller collection does not wait for its index.
        const int Documents = 600;
        var commands = Enumerable
            .Range(0, Documents)
            .Select(static i => new
            {
                Type = "PUT",
                Id = $"dogs/{i}",
                Document = new Dictionary<string, object>
                {
                    ["age"] = i,
                    ["@metadata"] = new Dictionary<string, string> { ["@collection"] = "Dogs" },
                },
            });
        var stored = await _server.SendAsync(
            "POST",
            _database + "/bulk_docs",
            JsonSerializer.Serialize(new { Commands = commands })
        );
        Assert.Equal(201, stored.Status);
        long before = FastPathAnswers;
        Assert.Contains("\"IndexName\":\"Auto/Dogs/", await QueryByAgeAsync(7), StringComparison.Ordinal);
        Assert.Equal(before, FastPathAnswers);
        Assert.Contains("\"TotalResults\":1,", await QueryByAgeAsync(8), StringComparison.Ordinal);
        Assert.Equal(before + 1, FastPathAnswers);
        await PutAsync("users/late", new { name = "late" });
        Assert.Contains("\"TotalResults\":1,", await QueryByAgeAsync(9), StringComparison.Ordinal);

        async Task<string> QueryByAgeAsync(int age) => (await QueryAsync($"from Dogs where age = {age}")).Body;
    }

    [Fact]
    public async Task A_query_that_runs_long_is_left_to_the_full_pipeline()
    {
        const string Text = "from Users where city = 'c1' and age = 7";
        _time.Step = QueryHandler.MaxDuration / 2;
        long before = FastPathAnswers;
        Assert.Contains("\"age\":7", (await QueryAsync(Text)).Body, StringComparison.Ordinal);
        Assert.Equal(before, FastPathAnswers);
    }

    /// <summary>The reservation for a result counts its document, not what a script loads.</summary>
    [Fact]
    public async Task An_answer_that_becomes_long_is_left_to_the_full_pipeline()
    {
        await PutAsync("big/1", new { text = new string('y', LargeRequests.BytesWithoutLease) });
        await PutAsync("small/1", new { big = "big/1" });
        const string Text = "from Users as u where id() = 'small/1' load u.big as b select { t: b.text }";
        long before = FastPathAnswers;
        string body = JsonSerializer.Serialize(new { Query = Text });
        var answer = await _server.SendAsync("POST", _database + "/queries", body);
        Assert.InRange(answer.Body.Length, LargeRequests.BytesWithoutLease, 2 * LargeRequests.BytesWithoutLease);
        Assert.Equal(before, FastPathAnswers);
    }

    [Fact]
    public async Task Responses_keep_the_order_of_pipelined_requests()
    {
        var requests = new StringBuilder();
        for (int i = 0; i < Users; i++)
        {
            string body = JsonSerializer.Serialize(new { Query = $"from Users where age = {i}" });
            requests.Append($"POST {_database}/queries HTTP/1.1\r\n{Host}Content-Length: {body.Length}\r\n\r\n{body}");
            requests.Append($"GET {_database}/docs?id=users/{i} HTTP/1.1\r\n{Host}\r\n");
        }

        using var connection = await RawConnection.OpenAsync(_server);
        await connection.SendAsync(requests.ToString());
        for (int i = 0; i < Users; i++)
        {
            var ofQuery = (await connection.ReadAsync())!;
            Assert.Contains($"\"age\":{i},", ofQuery.Body, StringComparison.Ordinal);
            Assert.Contains("\"TotalResults\":1,", ofQuery.Body, StringComparison.Ordinal);
            var ofRead = (await connection.ReadAsync())!;
            Assert.Contains($"\"age\":{i},", ofRead.Body, StringComparison.Ordinal);
            Assert.DoesNotContain("TotalResults", ofRead.Body, StringComparison.Ordinal);
        }
    }

    [Fact]
    public void A_query_text_that_the_fast_path_could_not_answer_is_not_tried_again_for_a_second()
    {
        var time = new SimulatedTimeProvider();
        var attempts = new QueryAttempts(time);
        attempts.AddFailure("from Users");
        Assert.False(attempts.MayTry("from Users"));
        Assert.True(attempts.MayTry("from Dogs"));
        time.Advance(TimeSpan.FromSeconds(1));
        Assert.True(attempts.MayTry("from Users"));
    }

    [Fact]
    public void No_query_is_tried_for_the_rest_of_a_second_in_which_most_attempts_failed()
    {
        var time = new SimulatedTimeProvider();
        var attempts = new QueryAttempts(time);
        for (int i = 0; i < 40; i++)
        {
            Assert.True(attempts.MayTry("from New"));
            attempts.AddSuccess();
            attempts.AddFailure($"from Users where age = {i}");
        }

        for (int i = 0; i < 40; i++)
        {
            attempts.AddFailure($"from Dogs where age = {i}");
        }

        Assert.False(attempts.MayTry("from New"));
        time.Advance(TimeSpan.FromSeconds(1));
        Assert.True(attempts.MayTry("from New"));
    }

    /// <summary>Stores a document of the collection Users.</summary>
    private async Task PutAsync(string id, object document)
    {
        string members = JsonSerializer.Serialize(document)[1..];
        var stored = await _server.SendAsync(
            "PUT",
            $"{_database}/docs?id={id}",
            """{"@metadata":{"@collection":"Users"},""" + members
        );
        Assert.Equal(201, stored.Status);
    }

    // The full pipeline defines the automatic index of a query, and waits until it is built.
    private Task<RawResponse> DefineIndexAsync(string query) =>
        SendAsync(
            JsonSerializer.Serialize(new { Query = query, WaitForNonStaleResults = true }),
            "/queries",
            UnknownHeader
        );

    private async Task<RawResponse> QueryAsync(string query, string headers = "") =>
        await SendAsync(JsonSerializer.Serialize(new { Query = query }), "/queries", headers);

    private async Task<RawResponse> SendAsync(string body, string target, string headers = "")
    {
        using var connection = await RawConnection.OpenAsync(_server);
        await connection.SendAsync(
            $"POST {_database}{target} HTTP/1.1\r\n{Host}{headers}Content-Length: {body.Length}\r\n\r\n{body}"
        );
        return (await connection.ReadAsync())!;
    }

    /// <summary>Returns a response without the times in it, and without its length, which depends on them.</summary>
    private static RawResponse WithoutTimes(RawResponse response) =>
        response with
        {
            Body = Times().Replace(response.Body, ""),
            Headers = Length().Replace(response.Headers, ""),
        };

    [GeneratedRegex(
        "\"(LastQueryTime|IndexTimestamp|DurationInMs)\":[^,}]*",
        RegexOptions.NonBacktracking | RegexOptions.ExplicitCapture
    )]
    private static partial Regex Times();

    [GeneratedRegex("Content-Length: [0-9]+", RegexOptions.NonBacktracking | RegexOptions.ExplicitCapture)]
    private static partial Regex Length();

    /// <summary>A clock whose timestamps grow by a step each time it is read.</summary>
    private sealed class SteppingTime : TimeProvider
    {
        private long _now;

        public TimeSpan Step { get; set; }

        public override long TimestampFrequency => TimeSpan.TicksPerSecond;

        public override long GetTimestamp() => Interlocked.Add(ref _now, Step.Ticks);
    }
}
