using Rookery.Server.Dashboard;
using Rookery.Server.Tests.Access;
using Rookery.Server.Tests.Raven;
using Rookery.Simulation;

namespace Rookery.Server.Tests.Dashboard;

/// <summary>Sessions of browsers that sign in with a token.</summary>
public sealed class SessionTests : IAsyncLifetime
{
    private readonly SecureServer _server = new();

    public Task InitializeAsync() => _server.InitializeAsync();

    public Task DisposeAsync() => _server.DisposeAsync();

    [Fact]
    public async Task A_token_sent_once_becomes_a_cookie_that_no_script_can_read()
    {
        var started = await SignInAsync(await _server.GiveTokenAsync(["metrics"]));
        Assert.Equal(204, started.Status);
        Assert.Matches(
            "^rookery_session=[A-Za-z0-9_-]{43}; Path=/; HttpOnly; SameSite=Strict; Secure$",
            started.Headers.GetValues("Set-Cookie").Single()
        );
        Assert.Equal(200, (await AskAsync("GET", "/metrics", CookieOf(started))).Status);
        (await AskAsync("GET", "/admin/access/tokens", CookieOf(started))).IsRefusal(403, "needs the scope admin");
    }

    // A well-formed token that was never registered, and bodies without a token of Rookery.
    [Theory]
    [InlineData("""{"Token":"rookery_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAB"}""", 401, "not known")]
    [InlineData("""{"Token":"something"}""", 401, "not a token of Rookery")]
    [InlineData("{}", 401, "not a token of Rookery")]
    [InlineData("""{"Password":"x"}""", 400, "unknown member")]
    public async Task An_unknown_token_begins_no_session(string body, int status, string why)
    {
        var answer = await _server.SendAsync("POST", "/session", body: body);
        answer.IsRefusal(status, why);
        Assert.False(answer.Headers.Contains("Set-Cookie"));
    }

    [Fact]
    public async Task A_revoked_token_ends_its_sessions_at_once()
    {
        string token = await _server.GiveTokenAsync(["metrics"]);
        string cookie = CookieOf(await SignInAsync(token));
        await _server.RevokeAsync(token);
        (await AskAsync("GET", "/metrics", cookie)).IsRefusal(401, "revoked");
    }

    [Fact]
    public async Task An_expired_token_ends_its_sessions()
    {
        string cookie = CookieOf(
            await SignInAsync(await _server.GiveTokenAsync(["metrics"], expires: _server.Time.GetUtcNow().AddHours(1)))
        );
        _server.Time.Advance(TimeSpan.FromHours(2));
        (await AskAsync("GET", "/metrics", cookie)).IsRefusal(401, "expired at");
    }

    [Fact]
    public async Task Signing_out_ends_the_session()
    {
        string cookie = CookieOf(await SignInAsync(await _server.GiveTokenAsync(["metrics"])));
        (await AskAsync("DELETE", "/session", cookie)).IsRefusal(403, "Rookery-Request: dashboard");
        var signedOut = await AskAsync("DELETE", "/session", cookie, isOwnPage: true);
        Assert.Equal(204, signedOut.Status);
        Assert.StartsWith(
            "rookery_session=; Max-Age=0;",
            signedOut.Headers.GetValues("Set-Cookie").Single(),
            StringComparison.Ordinal
        );
        (await AskAsync("GET", "/metrics", cookie)).IsRefusal(401, "session of this browser has ended");
    }

    [Fact]
    public async Task A_writing_request_with_the_cookie_needs_the_request_header()
    {
        string cookie = CookieOf(await SignInAsync(await _server.GiveTokenAsync(["write"])));
        (await AskAsync("PUT", "/databases/Shop/docs?id=a", cookie, body: "{}")).IsRefusal(
            403,
            "Rookery-Request: dashboard"
        );
        Assert.Equal(
            201,
            (await AskAsync("PUT", "/databases/Shop/docs?id=a", cookie, isOwnPage: true, body: "{}")).Status
        );
    }

    [Fact]
    public async Task A_credential_in_the_request_takes_precedence_over_the_cookie()
    {
        string cookie = CookieOf(await SignInAsync(SecureServer.LocalKey));
        using var http = _server.NewClient();
        http.DefaultRequestHeaders.Add("Cookie", cookie);
        Assert.Equal(200, (await _server.SendAsync(http, "GET", "/admin/access/tokens")).Status);
        (
            await _server.SendAsync(http, "GET", "/admin/access/tokens", await _server.GiveTokenAsync(["metrics"]))
        ).IsRefusal(403, "needs the scope admin");
    }

    [Fact]
    public void Sessions_end_when_idle_and_after_their_longest_lifetime()
    {
        var time = new SimulatedTimeProvider();
        var sessions = new Sessions(time);
        byte[] hash = [1, 2, 3];
        string used = sessions.Begin(hash);
        string idle = sessions.Begin(hash);
        var step = Sessions.Idle - TimeSpan.FromHours(1);
        // The session `used` is used again and again, each time shortly before it would count as idle.
        for (var age = step; age < Sessions.MaxLifetime; age += step)
        {
            time.Advance(step);
            Assert.True(sessions.TryUse(used, out byte[]? tokenHash));
            Assert.Equal(hash, tokenHash);
        }

        Assert.False(sessions.TryUse(idle, out _));
        time.Advance(step);
        Assert.False(sessions.TryUse(used, out _));
    }

    [Fact]
    public async Task Above_the_limit_the_least_recently_used_session_ends()
    {
        string token = await _server.GiveTokenAsync(["metrics"]);
        string first = CookieOf(await SignInAsync(token));
        _server.Time.Advance(TimeSpan.FromSeconds(1));
        string second = CookieOf(await SignInAsync(token));
        _server.Time.Advance(TimeSpan.FromSeconds(1));
        Assert.Equal(200, (await AskAsync("GET", "/metrics", first)).Status);
        // With the two above, there is one session more than the limit.
        for (int more = 2; more <= Sessions.MaxSessions; more++)
        {
            _server.Context.Access.Sessions.Begin(BitConverter.GetBytes(more));
        }

        Assert.Equal(200, (await AskAsync("GET", "/metrics", first)).Status);
        Assert.Equal(401, (await AskAsync("GET", "/metrics", second)).Status);
    }

    [Fact]
    public void One_token_cannot_end_the_sessions_of_another()
    {
        var time = new SimulatedTimeProvider();
        var sessions = new Sessions(time);
        string other = sessions.Begin([1]);
        time.Advance(TimeSpan.FromSeconds(1));
        string[] own =
        [
            .. Enumerable
                .Range(0, Sessions.MaxSessions)
                .Select(_ =>
                {
                    time.Advance(TimeSpan.FromSeconds(1));
                    return sessions.Begin([2]);
                }),
        ];
        Assert.True(sessions.TryUse(other, out _));
        Assert.Equal(own[^Sessions.MaximumPerToken..], own.Where(secret => sessions.TryUse(secret, out _)));
    }

    [Fact]
    public async Task GET_session_reports_the_callers_rights_and_never_refuses()
    {
        var nobody = (await _server.SendAsync("GET", "/session")).Json;
        Assert.False(nobody.GetProperty("SignedIn").GetBoolean());
        Assert.Null(nobody.GetProperty("By").GetString());
        Assert.Equal(
            ("pi-1", "home", "A", true),
            (
                nobody.GetProperty("NodeName").GetString(),
                nobody.GetProperty("ClusterName").GetString(),
                nobody.GetProperty("NodeTag").GetString(),
                nobody.GetProperty("IsSecure").GetBoolean()
            )
        );
        Assert.False(nobody.GetProperty("IsClaimed").GetBoolean());

        var reader = (
            await AskAsync(
                "GET",
                "/session",
                CookieOf(await SignInAsync(await _server.GiveTokenAsync(["read", "metrics"], ["shop"])))
            )
        ).Json;
        Assert.Equal(
            ("session", "test"),
            (reader.GetProperty("By").GetString(), reader.GetProperty("Name").GetString())
        );
        Assert.Equal(["metrics"], reader.GetProperty("Scopes").EnumerateArray().Select(scope => scope.GetString()));
        Assert.Equal(
            ["read"],
            reader.GetProperty("Databases").GetProperty("Shop").EnumerateArray().Select(scope => scope.GetString())
        );

        var admin = (await _server.SendAsync("GET", "/session", await _server.GiveTokenAsync(["admin"]))).Json;
        Assert.Equal("token", admin.GetProperty("By").GetString());
        Assert.Equal(
            ["read", "write", "admin", "metrics"],
            admin.GetProperty("Scopes").EnumerateArray().Select(scope => scope.GetString())
        );

        Assert.False(
            (await AskAsync("GET", "/session", "rookery_session=" + new string('A', 43)))
                .Json.GetProperty("SignedIn")
                .GetBoolean()
        );
    }

    private Task<Answer> SignInAsync(string token) =>
        _server.SendAsync("POST", "/session", body: $$"""{"Token":"{{token}}"}""");

    // Sends a request with a cookie; isOwnPage adds the header that only the dashboard's own page can send.
    private async Task<Answer> AskAsync(
        string method,
        string path,
        string cookie,
        bool isOwnPage = false,
        string? body = null
    )
    {
        using var http = _server.NewClient();
        http.DefaultRequestHeaders.Add("Cookie", cookie);
        if (isOwnPage)
        {
            http.DefaultRequestHeaders.Add("Rookery-Request", "dashboard");
        }

        return await _server.SendAsync(http, method, path, body: body);
    }

    private static string CookieOf(Answer answer) => answer.Headers.GetValues("Set-Cookie").Single().Split(';')[0];
}

/// <summary>Sessions on a node with plain HTTP.</summary>
public sealed class PlainSessionTests : IAsyncLifetime
{
    private readonly SecureServer _server = new() { IsSecure = false };

    public Task InitializeAsync() => _server.InitializeAsync();

    public Task DisposeAsync() => _server.DisposeAsync();

    [Fact]
    public async Task On_plain_http_a_foreign_cookie_is_ignored()
    {
        using var http = _server.NewClient();
        http.DefaultRequestHeaders.Add("Cookie", "rookery_session=" + new string('A', 43));
        var shown = (await _server.SendAsync(http, "GET", "/session")).Json;
        Assert.Equal((true, "open"), (shown.GetProperty("SignedIn").GetBoolean(), shown.GetProperty("By").GetString()));
        Assert.Equal(201, (await _server.SendAsync(http, "PUT", "/databases/Shop/docs?id=a", body: "{}")).Status);
    }

    [Fact]
    public async Task On_plain_http_a_session_has_its_tokens_rights_only()
    {
        var started = await _server.SendAsync(
            "POST",
            "/session",
            body: $$"""{"Token":"{{await _server.GiveTokenAsync(["metrics"])}}"}"""
        );
        string cookie = started.Headers.GetValues("Set-Cookie").Single();
        Assert.DoesNotContain("Secure", cookie, StringComparison.Ordinal);
        using var http = _server.NewClient();
        http.DefaultRequestHeaders.Add("Cookie", cookie.Split(';')[0]);
        (await _server.SendAsync(http, "GET", "/databases/Shop/docs?id=a")).IsRefusal(403, "needs the scope read");
        Assert.Equal("session", (await _server.SendAsync(http, "GET", "/session")).Json.GetProperty("By").GetString());
    }
}
