using System.Text;
using System.Text.RegularExpressions;
using Microsoft.AspNetCore.Routing;
using Microsoft.Extensions.Logging.Abstractions;
using Rookery.Hosting;
using Rookery.Server.Access;
using Rookery.Server.Raven;

namespace Rookery.Server.Tests.Access;

/// <summary>
/// Sends requests to every route with every kind of credential and compares the answers with docs/reference/access.md.
/// </summary>
public partial class RouteAccessTests(SecureServer server) : IClassFixture<SecureServer>
{
    private const string Secret = "hunter2";

    /// <summary>The value of a counter.</summary>
    private const string SecretNumber = "7766554433";

    // Adds nothing to the counter.
    private const string CounterBody =
        """{"Documents":[{"DocumentId":"users/1","Operations":[{"Type":"Increment","CounterName":"a","Delta":0}]}]}""";

    // A database to which the credential gives no right: neither its name nor its content may appear in an answer.
    private const string Elsewhere = "Other";
    private const string ElsewhereSecret = "swordfish";

    // The callers that a route admits, by the scope of the route.
    private static readonly Dictionary<string, string[]> Admitted = new()
    {
        ["open"] = ["nobody", "read", "write", "read and write", "metrics", "admin"],
        ["read"] = ["read", "read and write", "admin"],
        ["write"] = ["write", "read and write", "admin"],
        ["read and write"] = ["read and write", "admin"],
        ["read or write"] = ["read", "write", "read and write", "admin"],
        ["metrics"] = ["metrics", "admin"],
        ["admin"] = ["admin"],
    };

    private IEnumerable<Route> Routes =>
        ((IEndpointRouteBuilder)server.App)
            .DataSources.SelectMany(source => source.Endpoints)
            .OfType<RouteEndpoint>()
            .SelectMany(static endpoint =>
                MethodsOf(endpoint)
                    .Select(method => new Route(
                        method,
                        endpoint.RoutePattern.RawText!,
                        endpoint.Metadata.GetMetadata<RouteScope>()!.Name
                    )
                    {
                        Parameters = endpoint.Metadata.GetMetadata<RouteParameters>(),
                    })
            );

    [Fact]
    public void The_reference_lists_every_route_with_its_scope()
    {
        var cluster = new ClusterRoutes(NullLogger.Instance).All.Select(static route => new Route(
            route.Method,
            route.Path,
            "admin"
        ));
        var served = Routes
            .Concat(cluster)
            .Select(static route => $"{route.Scope}: {route.Method} {route.Pattern}")
            .Order(StringComparer.Ordinal)
            .ToArray();
        string text = File.ReadAllText(Path.Join(Repository.Root, "docs/reference/access.md"));
        var written = ScopeRow()
            .Matches(text)
            .SelectMany(static row =>
                RouteName()
                    .Matches(row.Groups["routes"].Value)
                    .Select(route =>
                        $"{row.Groups["scope"].Value.Replace("`", "", StringComparison.Ordinal)}: "
                        + $"{route.Groups["name"].Value.Replace("…/", "/databases/{database}/", StringComparison.Ordinal)}"
                    )
            );
        Assert.Equal(served, written.Order(StringComparer.Ordinal));
    }

    [Fact]
    public async Task Each_route_admits_exactly_the_callers_with_its_scope()
    {
        using var http = server.NewClient();
        foreach (var (name, token) in await CreateCredentialsAsync("Shop"))
        {
            foreach (var route in Routes.Where(route => !(name is "admin" && route.HasLastingEffect)))
            {
                var (status, body) = await AskAsync(http, route, token);
                bool isRefused =
                    (status is 401 or 403 && route.Method is "HEAD")
                    || (status == 401 && body.Contains("No credential came", StringComparison.Ordinal))
                    || (status == 403 && body.Contains("needs the scope", StringComparison.Ordinal));
                Assert.True(
                    isRefused != Admitted[route.Scope].Contains(name),
                    $"{name} asks {route}, and the answer is {status}: {body}"
                );
            }
        }
    }

    [Fact]
    public async Task Rights_in_one_database_neither_grant_nor_reveal_another()
    {
        await server.SendAsync(
            "PUT",
            $"/databases/{Elsewhere}/docs?id=users/1",
            SecureServer.LocalKey,
            $$"""{"s":"{{ElsewhereSecret}}"}"""
        );
        using var http = server.NewClient();
        foreach (
            var (name, token) in (await CreateCredentialsAsync("Shop")).Where(static credential =>
                credential.Name is "read" or "write" or "read and write"
            )
        )
        {
            foreach (var route in Routes)
            {
                var (_, body) = await AskAsync(http, route, token);
                Assert.False(
                    body.Contains(Elsewhere, StringComparison.Ordinal)
                        || body.Contains(ElsewhereSecret, StringComparison.Ordinal),
                    $"{name} of Shop asks {route}, and is told: {body}"
                );
                if (route.IsOfDatabase)
                {
                    var (status, refusal) = await AskAsync(http, route, token, Elsewhere);
                    Assert.True(
                        status == 403,
                        $"{name} of Shop asks {route} of another database, and the answer is {status}: {refusal}"
                    );
                    Assert.DoesNotContain(ElsewhereSecret, refusal, StringComparison.Ordinal);
                }
            }
        }
    }

    [Fact]
    public async Task No_route_reveals_a_document_without_the_scope_read()
    {
        using var http = server.NewClient();
        foreach (
            var (name, token) in (await CreateCredentialsAsync("Shop")).Where(static credential =>
                credential.Name is "nobody" or "write" or "metrics"
            )
        )
        {
            foreach (var route in Routes)
            {
                // Each request finds the document in its original state.
                Assert.Equal(
                    201,
                    (
                        await server.SendAsync(
                            http,
                            "PUT",
                            "/databases/Shop/docs?id=users/1",
                            SecureServer.LocalKey,
                            $$"""{"s":"{{Secret}}"}"""
                        )
                    ).Status
                );
                await server.SendAsync(
                    http,
                    "PUT",
                    "/databases/Shop/cmpxchg?key=users/1&index=0",
                    SecureServer.LocalKey,
                    $$"""{"Object":"{{Secret}}"}"""
                );
                var (status, body) = await AskAsync(http, route, token);
                Assert.False(
                    body.Contains(Secret, StringComparison.Ordinal),
                    $"{name} asks {route}, and the answer is {status}: {body}"
                );
            }
        }
    }

    [Theory]
    [InlineData("counters", CounterBody)]
    [InlineData(
        "bulk_docs",
        """
            {"Commands":[{"Id":"users/1","Type":"Counters","Counters":{"Operations":[
            {"Type":"Increment","CounterName":"a","Delta":0}]}}]}
            """
    )]
    public async Task An_increment_reveals_the_counter_only_with_the_scope_read(string route, string increment)
    {
        using var http = server.NewClient();
        const string Document = "/databases/Shop/docs?id=users/1";
        await server.SendAsync(http, "PUT", Document, SecureServer.LocalKey, "{}");
        string secret = $$"""
            {"Documents":[{"DocumentId":"users/1","Operations":[{"Type":"Delete","CounterName":"a"},
            {"Type":"Increment","CounterName":"a","Delta":{{SecretNumber}}}]}]}
            """;
        await server.SendAsync(http, "POST", "/databases/Shop/counters", SecureServer.LocalKey, secret);
        foreach (var (name, token) in await CreateCredentialsAsync("Shop"))
        {
            if (token is null || !name.Contains("write", StringComparison.Ordinal))
            {
                continue;
            }

            var answer = await server.SendAsync(http, "POST", "/databases/Shop/" + route, token, increment);
            Assert.True(answer.Status is 200 or 201, $"{name}: {answer.Body}");
            Assert.Equal(
                name.Contains("read", StringComparison.Ordinal),
                answer.Body.Contains(SecretNumber, StringComparison.Ordinal)
            );
            string get = increment.Replace("Increment", "Get", StringComparison.Ordinal);
            var read = await server.SendAsync(http, "POST", "/databases/Shop/" + route, token, get);
            Assert.Equal(name.Contains("read", StringComparison.Ordinal), read.Status is 200 or 201);
        }
    }

    private async Task<(string Name, string? Token)[]> CreateCredentialsAsync(string database) =>
        [
            ("nobody", null),
            ("read", await server.GiveTokenAsync(["read"], [database])),
            ("write", await server.GiveTokenAsync(["write"], [database])),
            ("read and write", await server.GiveTokenAsync(["read", "write"], [database])),
            ("metrics", await server.GiveTokenAsync(["metrics"])),
            ("admin", await server.GiveTokenAsync(["admin"])),
        ];

    /// <summary>Sends a request and reads the first part of the answer, because some answers never end.</summary>
    private async Task<(int Status, string Body)> AskAsync(
        HttpClient http,
        Route route,
        string? token,
        string database = "Shop"
    )
    {
        string path = route
            .Pattern.Replace("{database}", database, StringComparison.Ordinal)
            .Replace("{**rest}", "no/such/route", StringComparison.Ordinal)
            .Replace("{**path}", "none", StringComparison.Ordinal)
            .Replace("{**name}", "none", StringComparison.Ordinal);
        using var request = new HttpRequestMessage(
            new HttpMethod(route.Method is "any" ? "GET" : route.Method),
            new Uri(server.Address, path + QueryOf(route, database))
        );
        request.Content =
            HttpMethod.Get == request.Method
            || HttpMethod.Head == request.Method
            || route.Parameters is { TakesNoBody: true }
                ? null
                : new StringContent(
                    BodyOf(route),
                    Encoding.UTF8,
                    route.IsMergePatch ? "application/merge-patch+json" : "application/json"
                );
        if (token is not null)
        {
            request.Headers.TryAddWithoutValidation("Authorization", "Bearer " + token);
        }

        using var answer = await SendAsync(http, request);
        bool isEndless =
            (int)answer.StatusCode == 200
            && (
                route.Pattern.EndsWith("/stream", StringComparison.Ordinal)
                || route.Pattern.EndsWith("/live", StringComparison.Ordinal)
            );
        string body = isEndless ? "" : await answer.Content.ReadAsStringAsync();

        // A request with an unknown parameter does not reach the handler, so it would not test what the route reveals.
        bool isUnknown =
            body.Contains("The parameter '", StringComparison.Ordinal)
            && body.Contains("is not supported by this version", StringComparison.Ordinal);
        Assert.False(isUnknown, $"{route} got a parameter that it does not know: {body}");
        return ((int)answer.StatusCode, body);
    }

    /// <summary>
    /// Returns query parameters that the route accepts and that name the document, its database or the index of ids.
    /// </summary>
    private static string QueryOf(Route route, string database)
    {
        (string Name, string Value)[] parameters =
        [
            ("id", "users/1"),
            ("name", database),
            ("tag", "users"),
            ("details", "true"),
            ("field", "s"),
            ("value", "0"),
            ("docId", "users/1"),
            ("key", "users/1"),
            ("index", "1"),
            ("database", database),
            ("remote-task", "orders"),
            ("taskName", "orders"),
            ("type", "Subscription"),
            ("query", "from%20@all_docs%20where%20startsWith(s,'hun')"),
        ];
        var accepted = parameters.Where(parameter =>
            route.Parameters?.Obeyed.Contains(parameter.Name, StringComparer.OrdinalIgnoreCase) ?? true
        );
        return "?" + string.Join('&', accepted.Select(static parameter => $"{parameter.Name}={parameter.Value}"));
    }

    private static string BodyOf(Route route) =>
        route.Pattern[(route.Pattern.IndexOf("}/", StringComparison.Ordinal) + 1)..] switch
        {
            "/bulk_docs" => """{"Commands":[{"Id":"users/1","Type":"PUT","ChangeVector":"A:1-none","Document":{}}]}""",
            "/queries" when route.Method is "PATCH" =>
                """{"Query":{"Query":"from @all_docs where startsWith(s,'hun') update { throw this.s; }"}}""",
            "/cmpxchg" => """{"Object":1}""",
            "/subscriptions" => """{"Query":"from @all_docs where startsWith(s,'hun')"}""",
            "/counters" => """{"Documents":[]}""",
            "/queries" or "/streams/queries" => """{"Query":"from @all_docs where startsWith(s,'hun')"}""",
            _ => "{}",
        };

    private static IEnumerable<string> MethodsOf(RouteEndpoint endpoint) =>
        endpoint.Metadata.GetMetadata<HttpMethodMetadata>() is { HttpMethods: { Count: > 0 } methods }
            ? methods.Count > 1
                ? methods.Where(static method => method is not "HEAD")
                : methods
            : ["any"];

    [GeneratedRegex(
        @"^\| (?<scope>open|`[a-z]+`( (and|or) `write`)?) \| (?<routes>`[^|]* /[^|]*`|`[^|]* …/[^|]*`) \|",
        RegexOptions.Multiline | RegexOptions.ExplicitCapture,
        1000
    )]
    private static partial Regex ScopeRow();

    [GeneratedRegex("`(?<name>[^`]+)`", RegexOptions.ExplicitCapture, 1000)]
    private static partial Regex RouteName();

    private sealed record Route(string Method, string Pattern, string Scope)
    {
        public RouteParameters? Parameters { get; init; }

        public bool IsOfDatabase => Pattern.Contains("{database}", StringComparison.Ordinal);

        public bool IsMergePatch => Method is "PATCH" && Pattern.EndsWith("/docs", StringComparison.Ordinal);

        /// <summary>Whether a request with these parameters would disturb other tests of this server.</summary>
        public bool HasLastingEffect => Pattern is "/admin/databases" && Method is "DELETE";
    }

    private static async Task<HttpResponseMessage> SendAsync(HttpClient http, HttpRequestMessage request)
    {
        try
        {
            return await http.SendAsync(request, HttpCompletionOption.ResponseHeadersRead);
        }
        catch (TaskCanceledException silence)
        {
            throw new TimeoutException($"{request.Method} {request.RequestUri} was not answered.", silence);
        }
    }
}
