using Microsoft.AspNetCore.Routing;
using Rookery.Server.Tests.Access;

namespace Rookery.Server.Tests.Dashboard;

/// <summary>The headers by which a browser runs nothing but the dashboard's own scripts.</summary>
public sealed class SafeHeaderTests(SecureServer server) : IClassFixture<SecureServer>
{
    /// <summary>Refusals have it too.</summary>
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
}
