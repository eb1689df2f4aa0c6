namespace Rookery.Server.Tests.Raven;

/// <summary>
/// What a page of another site can make its visitor's browser do to a node without credentials: follow links to pages
/// for people.
/// </summary>
public sealed class ForeignPageTests(RunningServer server) : IClassFixture<RunningServer>
{
    [Theory]
    [InlineData("{db}/hilo/next?tag=users")]
    [InlineData("{db}/operations/next-operation-id")]
    [InlineData("{db}/docs?id=a")]
    [InlineData("{db}/indexes/progress?wait=1")]
    [InlineData("{db}/changes/stream")]
    [InlineData("/admin/node/debug-package")]
    [InlineData("/admin/node/backup")]
    [InlineData("/dashboard/live")]
    [InlineData("/dashboard/history?node=A")]
    [InlineData("/debug/io")]
    [InlineData("/metrics/machine")]
    public async Task A_link_on_another_site_has_no_effect(string route)
    {
        string path = route.Replace("{db}", await server.CreateDatabaseAsync(), StringComparison.Ordinal);
        foreach (var headers in ForeignNavigations)
        {
            (await server.SendAsync("GET", path, (string?)null, headers)).IsRefusal(403, "another site");
        }
    }

    [Theory]
    [InlineData("/help")]
    [InlineData("/livez")]
    [InlineData("/metrics")]
    public async Task A_link_on_another_site_opens_pages_for_people(string path)
    {
        foreach (var headers in ForeignNavigations)
        {
            Assert.Equal(200, (await server.SendAsync("GET", path, (string?)null, headers)).Status);
        }
    }

    [Fact]
    public async Task Requests_of_programs_of_own_pages_and_of_typed_addresses_are_admitted()
    {
        string path = await server.CreateDatabaseAsync() + "/hilo/next?tag=users";
        Assert.Equal(200, (await server.SendAsync("GET", path)).Status);
        Assert.Equal(
            200,
            (
                await server.SendAsync(
                    "GET",
                    path,
                    (string?)null,
                    ("Sec-Fetch-Site", "none"),
                    ("Sec-Fetch-Mode", "navigate")
                )
            ).Status
        );
        Assert.Equal(
            200,
            (await server.SendAsync("GET", path, (string?)null, ("Sec-Fetch-Site", "same-origin"))).Status
        );
        Assert.Equal(
            200,
            (await server.SendAsync("GET", path, (string?)null, ("Referer", server.Address + "#query"))).Status
        );
    }

    // Headers of a browser that follows a link on another site. An old browser sends only the referrer.
    private static (string, string)[][] ForeignNavigations =>
        [
            [("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "iframe")],
            [("Sec-Fetch-Site", "same-site"), ("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "document")],
            [("Referer", "http://evil.example/")],
        ];
}
