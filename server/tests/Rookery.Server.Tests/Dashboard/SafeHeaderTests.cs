using Microsoft.AspNetCore.Routing;
using Rookery.Server.Dashboard;
using Rookery.Server.Tests.Access;

namespace Rookery.Server.Tests.Dashboard;

/// <summary>Headers that prevent a browser from running scripts other than the dashboard's own.</summary>
public sealed class SafeHeaderTests(SecureServer server) : IClassFixture<SecureServer>
{
    /// <summary>Refusals, too, have the header X-Content-Type-Options.</summary>
    [Fact]
    public async Task No_route_lets_a_browser_guess_the_type_of_a_response()
    {
        var paths = ((IEndpointRouteBuilder)server.App)
            .DataSources.SelectMany(source => source.Endpoints)
            .OfType<RouteEndpoint>()
            .Select(route =>
                route.RoutePattern.RawText!.Split("/{**")[0].Replace("{database}", "db", StringComparison.Ordinal)
            )
            .Distinct(StringComparer.Ordinal)
            .ToList();
        Assert.Contains("/assets", paths);
        using var http = server.NewClient();
        foreach (string path in paths)
        {
            using var answer = await http.SendAsync(
                new HttpRequestMessage(HttpMethod.Head, new Uri(server.Address, path))
            );
            Assert.True(
                answer.Headers.TryGetValues("X-Content-Type-Options", out var values) && values.Single() is "nosniff",
                path
            );
        }
    }

    [Fact]
    public async Task No_page_may_run_inline_scripts_or_load_from_elsewhere()
    {
        string[] paths =
        [
            "/",
            "/favicon.ico",
            "/help",
            "/help/nothing",
            "/help/manual.txt",
            "/help/tutorial/pictures/dashboard-overview.webp",
            "/help/reference/http.md",
            "/help/reference/ROOKERY-MIB.txt",
            .. DashboardFile.LoadAll().Keys.Select(static name => name is "index.html" ? "/" : "/" + name),
        ];
        using var http = server.NewClient();
        foreach (string path in paths)
        {
            foreach (string accept in (string[])["text/html", "*/*"])
            {
                using var request = new HttpRequestMessage(HttpMethod.Get, new Uri(server.Address, path));
                request.Headers.TryAddWithoutValidation("Accept", accept);
                using var answer = await http.SendAsync(request);
                string policy = answer.Headers.GetValues("Content-Security-Policy").Single();
                Assert.StartsWith(
                    "default-src 'none'; script-src 'self'; style-src 'self';",
                    policy,
                    StringComparison.Ordinal
                );
                Assert.DoesNotContain("unsafe", policy, StringComparison.Ordinal);
            }
        }
    }
}
