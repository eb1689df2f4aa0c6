using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.DependencyInjection;
using Rookery.Documents.Consensus;
using Rookery.Server.Raven;

namespace Rookery.Server.Tests.Raven;

/// <summary>A member's answer to a write that it forwarded to a leader which was then lost.</summary>
public sealed class LostLeaderTests : IAsyncLifetime
{
    private const string Lost =
        "The connection to the leader broke after the write was sent: it may or may not have been stored.";
    private const string WithId = """{"@metadata":{"@id":"{0}"}}""";

    private readonly RunningServer _server;
    private Action<Rejection>? _refuse;
    private OneOfThree? _member;

    public LostLeaderTests() =>
        _server = new RunningServer
        {
            WrapConsensus = alone =>
            {
                var member = new OneOfThree(alone, static _ => Task.CompletedTask);
                _refuse = rejection => member.WriteRejection = rejection;
                _member = member;
                return member;
            },
        };

    public async Task InitializeAsync()
    {
        await _server.InitializeAsync();
        Assert.Equal(201, (await _server.SendAsync("PUT", "/admin/databases?name=db", "{}")).Status);
        _refuse!(new Rejection(RejectionKind.OutcomeUnknown, Lost));
    }

    public Task DisposeAsync() => _server.DisposeAsync();

    [Theory]
    [InlineData("PUT", "docs?id=users/1", "{}")]
    [InlineData("GET", "docs?id=users/1", null)]
    [InlineData("POST", "bulk_docs", """{"Commands":[{"Id":"a","Type":"PUT","Document":{}}]}""")]
    [InlineData("POST", "import", """{"@metadata":{"@id":"users/1"}}""")]
    [InlineData("POST", "queries", """{"Query":"from Users"}""")]
    [InlineData("DELETE", "indexes?name=a", null)]
    public async Task A_removed_node_reports_its_removal_instead_of_no_leader(string method, string route, string? body)
    {
        const string Removed = "This node is not a member of its cluster any more.";
        _refuse!(new Rejection(RejectionKind.NoLeader, "No member leads now. Try again in a second."));
        var temporary = await _server.SendAsync(method, "/databases/db/" + route, body);
        temporary.IsRefusal(503, "ry again in a second");
        Assert.False(temporary.Headers.Contains("Takes-No-Part"));
        _member!.WhyNoPart = Removed;
        var answer = await _server.SendAsync(method, "/databases/db/" + route, body);
        answer.IsRefusal(503, Removed);
        Assert.True(answer.Headers.Contains("Takes-No-Part"));
        Assert.DoesNotContain("ry again in a second", answer.Body, StringComparison.Ordinal);
    }

    [Fact]
    public async Task The_configuration_of_clients_is_answered_without_a_leader()
    {
        _refuse!(new Rejection(RejectionKind.NoLeader, "No member leads now. Try again in a second."));
        var answer = await _server.SendAsync("GET", "/databases/db/configuration/client");
        Assert.Equal(200, answer.Status);
        Assert.Equal(0, answer.Json.GetProperty("Etag").GetInt64());
    }

    [Fact]
    public async Task A_request_in_a_multi_get_reports_the_nodes_removal()
    {
        const string Removed = "This node is not a member of its cluster any more.";
        await using var services = new ServiceCollection().AddSingleton(_server.Context).BuildServiceProvider();
        using var answer = ResponseBuffer.Rent();
        var http = new DefaultHttpContext { RequestServices = services };
        using var lease = await _server.Context.LargeRequests.TakeAsync(http, bytes: 0);
        await using var body = new MultiGetPart(http, answer, lease);
        var part = new DefaultHttpContext();
        part.Features.Set(body);
        var noLeader = new Rejection(RejectionKind.NoLeader, "No member leads now. Try again in a second.");
        Assert.Equal(noLeader, RavenErrors.Explain(part, noLeader));
        _member!.WhyNoPart = Removed;
        Assert.Equal(Removed, RavenErrors.Explain(part, noLeader).Message);
    }

    [Theory]
    [InlineData(RejectionKind.NoLeader, "{}", 503, "All lines through {0} are stored: send the lines after it again.")]
    [InlineData(
        RejectionKind.OutcomeUnknown,
        WithId,
        504,
        "lines through {0} are stored: send the lines after it again."
    )]
    [InlineData(RejectionKind.OutcomeUnknown, "{}", 500, "All lines through {0} are stored. ")]
    [InlineData(RejectionKind.DatabaseMissing, "{}", 503, null)]
    public async Task A_refused_import_reports_the_last_stored_line_and_what_to_send(
        RejectionKind kind,
        string goodLine,
        int status,
        string? advice
    )
    {
        _member!.WriteRejection = null;
        var first = new TaskCompletionSource();
        var second = new TaskCompletionSource();
        _member.WritesMayContinue = first.Task;
        int before = _member.ProposedWrites;
        string lines = string.Join(
            '\n',
            Enumerable
                .Range(1, 6000)
                .Select(line => line == 10 ? "bad" : goodLine.Replace("{0}", $"users/{line}", StringComparison.Ordinal))
        );
        var import = _server.SendAsync("POST", "/databases/db/import", lines);
        using var timeout = new CancellationTokenSource(TimeSpan.FromSeconds(60));
        while (_member.ProposedWrites == before)
        {
            await Task.Delay(10, timeout.Token);
        }

        // The second command of an import waits for the first.
        _member.WritesMayContinue = second.Task;
        first.SetResult();
        long stored;
        while ((stored = await _server.CountAsync("/databases/db")) == 0)
        {
            await Task.Delay(10, timeout.Token);
        }

        _refuse!(new Rejection(kind, "It is refused."));
        second.SetResult();
        var answer = await import;
        answer.IsRefusal(status, $"{stored} documents of the import were stored before.");
        if (advice is null)
        {
            Assert.DoesNotContain("All lines through", answer.Body, StringComparison.Ordinal);
        }
        else
        {
            answer.IsRefusal(status, advice.Replace("{0}", $"{stored + 1}", StringComparison.Ordinal));
        }
    }

    /// <summary>
    /// RavenDB's clients send the write again after 504, to the next node; after 500 they leave it to the application.
    /// </summary>
    [Theory]
    [InlineData("PUT", "/databases/db/docs?id=users/1", "{}", 504)]
    [InlineData("PUT", "/databases/db/docs?id=users/", "{}", 500)]
    [InlineData("PUT", "/databases/db/docs?id=users|", "{}", 500)]
    [InlineData("PUT", "/databases/db/docs", "{}", 500)]
    [InlineData("DELETE", "/databases/db/docs?id=users/1", null, 504)]
    [InlineData(
        "POST",
        "/databases/db/bulk_docs",
        """{"Commands":[{"Id":"a","Type":"PUT","Document":{}},{"Id":"b","Type":"DELETE"}]}""",
        504
    )]
    [InlineData(
        "POST",
        "/databases/db/bulk_docs",
        """{"Commands":[{"Id":"a","Type":"PUT","Document":{}},"""
            + """{"Id":"b","Type":"PUT","ChangeVector":"","Document":{}}]}""",
        500
    )]
    [InlineData(
        "POST",
        "/databases/db/bulk_docs",
        """{"Commands":[{"Id":"users/","Type":"PUT","Document":{}}]}""",
        500
    )]
    [InlineData(
        "POST",
        "/databases/db/bulk_docs",
        """{"Commands":[{"Id":"a","Type":"PATCH","Patch":{"Script":"this.n = args.val_0;","Values":{"val_0":1}}}]}""",
        500
    )]
    [InlineData("POST", "/databases/db/import", """{"@metadata":{"@id":"users/1"}}""", 504)]
    [InlineData("POST", "/databases/db/import", """{"@metadata":{"@id":"users/"}}""", 500)]
    [InlineData("POST", "/databases/db/import", "{}", 500)]
    [InlineData("POST", "/databases/db/identity/next?name=users", null, 500)]
    [InlineData(
        "POST",
        "/databases/db/identity/next?name=users&raft-request-id=0b0f6a36-2c4b-4a8e-9d54-0d3d8f1d7a11",
        null,
        504
    )]
    [InlineData("GET", "/databases/db/hilo/next?tag=users", null, 504)]
    [InlineData("PUT", "/databases/db/hilo/return?tag=users&end=96&last=64", null, 500)]
    public async Task A_repeatable_write_with_unknown_outcome_is_504(
        string method,
        string path,
        string? body,
        int status
    ) => (await _server.SendAsync(method, path, body)).IsRefusal(status, Lost);

    [Theory]
    [InlineData("PUT", "/databases/db/docs", "{}")]
    [InlineData(
        "POST",
        "/databases/db/bulk_docs",
        """{"Commands":[{"Id":"a","Type":"PATCH","Patch":{"Script":"this.n = args.val_0;","Values":{"val_0":1}}}]}"""
    )]
    public async Task A_write_with_a_key_and_unknown_outcome_is_504(string method, string path, string body) =>
        (await _server.SendAsync(method, path, body, ("Idempotency-Key", "\"once\""))).IsRefusal(504, Lost);

    [Fact]
    public async Task A_write_with_If_Match_and_unknown_outcome_is_500() =>
        (await _server.SendAsync("PUT", "/databases/db/docs?id=users/1", "{}", ("If-Match", "\"A:1-x\""))).IsRefusal(
            500,
            Lost
        );
}
