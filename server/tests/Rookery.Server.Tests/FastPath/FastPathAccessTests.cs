using Rookery.Server.Tests.Access;

namespace Rookery.Server.Tests.FastPath;

/// <summary>The fast path accepts a credential only if the full pipeline has checked it on the same
/// connection.</summary>
public sealed class FastPathAccessTests : IAsyncLifetime
{
    private const string Document = "/databases/Shop/docs?id=a";

    private readonly SecureServer _server = new();

    private long FastPathAnswers => _server.Context.Metrics.FastPathRequests;

    public async Task InitializeAsync()
    {
        await _server.InitializeAsync();
        string token = await _server.GiveTokenAsync(["write"]);
        Assert.Equal(201, (await _server.SendAsync("PUT", Document, token, "{}")).Status);
    }

    public Task DisposeAsync() => _server.DisposeAsync();

    [Fact]
    public async Task A_token_is_remembered_until_it_is_revoked()
    {
        string token = await _server.GiveTokenAsync(["read", "write"]);
        using var http = _server.NewClient();
        await AssertAnswerAsync(http, "GET", Document, token, status: 200, isFast: false);
        await AssertAnswerAsync(http, "GET", Document, token, status: 200, isFast: true);
        await AssertAnswerAsync(http, "PUT", Document, token, status: 201, isFast: true);
        await _server.RevokeAsync(token);
        await AssertAnswerAsync(http, "GET", Document, token, status: 401, isFast: false);
        await AssertAnswerAsync(http, "PUT", Document, token, status: 401, isFast: false);
    }

    [Fact]
    public async Task A_token_is_remembered_until_it_expires()
    {
        string token = await _server.GiveTokenAsync(["read"], expires: _server.Time.GetUtcNow().AddSeconds(30));
        using var http = _server.NewClient();
        await AssertAnswerAsync(http, "GET", Document, token, status: 200, isFast: false);
        await AssertAnswerAsync(http, "GET", Document, token, status: 200, isFast: true);
        _server.Time.Advance(TimeSpan.FromSeconds(31));
        await AssertAnswerAsync(http, "GET", Document, token, status: 401, isFast: false);
    }

    [Fact]
    public async Task A_remembered_token_grants_only_its_scopes_and_databases()
    {
        string token = await _server.GiveTokenAsync(["read"], ["Shop"]);
        using var http = _server.NewClient();
        await AssertAnswerAsync(http, "GET", Document, token, status: 200, isFast: false);
        await AssertAnswerAsync(http, "GET", Document, token, status: 200, isFast: true);
        await AssertAnswerAsync(http, "PUT", Document, token, status: 403, isFast: false);
        await AssertAnswerAsync(http, "GET", "/databases/Other/docs?id=a", token, status: 403, isFast: false);
    }

    [Fact]
    public async Task A_remembered_token_admits_queries_and_batches_by_its_scopes()
    {
        const string Queries = "/databases/Shop/queries";
        const string Batches = "/databases/Shop/bulk_docs";
        const string Query = """{"Query":"from Dogs where id() = 'dogs/1'"}""";
        const string Batch = """{"Commands":[{"Type":"DELETE","Id":"no"}]}""";
        string reader = await _server.GiveTokenAsync(["read"]);
        using var reading = _server.NewClient();
        await AssertAnswerAsync(reading, "GET", Document, reader, status: 200, isFast: false);
        await AssertAnswerAsync(reading, "POST", Queries, reader, status: 200, isFast: true, Query);
        await AssertAnswerAsync(reading, "POST", Batches, reader, status: 403, isFast: false, Batch);
        string both = await _server.GiveTokenAsync(["read", "write"]);
        using var changing = _server.NewClient();
        await AssertAnswerAsync(changing, "PUT", Document, both, status: 201, isFast: false, "{}");
        await AssertAnswerAsync(changing, "POST", Batches, both, status: 201, isFast: true, Batch);

        // The full pipeline leaves out of the results what this token may not read.
        string writer = await _server.GiveTokenAsync(["write"]);
        using var writing = _server.NewClient();
        await AssertAnswerAsync(writing, "PUT", Document, writer, status: 201, isFast: false, "{}");
        await AssertAnswerAsync(writing, "POST", Batches, writer, status: 201, isFast: false, Batch);
        await AssertAnswerAsync(writing, "POST", Queries, writer, status: 403, isFast: false, Query);
    }

    [Fact]
    public async Task Another_token_on_the_same_connection_is_checked_anew()
    {
        string first = await _server.GiveTokenAsync(["read"]);
        string second = await _server.GiveTokenAsync(["write"]);
        using var http = _server.NewClient();
        await AssertAnswerAsync(http, "GET", Document, first, status: 200, isFast: false);
        await AssertAnswerAsync(http, "GET", Document, second, status: 403, isFast: false);
        // A refusal is not remembered.
        await AssertAnswerAsync(http, "GET", Document, second, status: 403, isFast: false);
        await AssertAnswerAsync(http, "GET", Document, token: null, status: 401, isFast: false);
        await AssertAnswerAsync(http, "GET", Document, first, status: 200, isFast: false);
        await AssertAnswerAsync(http, "GET", Document, first, status: 200, isFast: true);
    }

    [Fact]
    public async Task A_certificate_is_remembered_with_its_databases()
    {
        using var certificate = _server.Identity.NewClient("app");
        await _server.RegisterAsync(certificate, isAdmin: false, ("Shop", "ro"));
        using var http = _server.NewClient(certificate);
        await AssertAnswerAsync(http, "GET", Document, token: null, status: 200, isFast: false);
        await AssertAnswerAsync(http, "GET", Document, token: null, status: 200, isFast: true);
        await AssertAnswerAsync(http, "PUT", Document, token: null, status: 403, isFast: false);
        await AssertAnswerAsync(http, "GET", "/databases/Other/docs?id=a", token: null, status: 403, isFast: false);
    }

    // Sends a request and asserts the status, and whether the fast path answered.
    private async Task AssertAnswerAsync(
        HttpClient http,
        string method,
        string url,
        string? token,
        int status,
        bool isFast,
        string? body = null
    )
    {
        long before = FastPathAnswers;
        var answer = await _server.SendAsync(http, method, url, token, body ?? (method is "PUT" ? "{}" : null));
        Assert.Equal((status, isFast), (answer.Status, FastPathAnswers > before));
    }
}
