using System.Net;
using Rookery.Server.Operations;

namespace Rookery.Server.Tests;

/// <summary>The manual, the folder docs, which every node serves under /help without a credential.</summary>
/// <param name="node">A node; the manual is served even in diagnosis mode.</param>
public sealed class HelpRouteTests(NodeInDiagnosis node) : IClassFixture<NodeInDiagnosis>
{
    [Fact]
    public async Task Each_page_of_the_manual_is_served_as_it_was_written()
    {
        string list = await node.Http.GetStringAsync("/help");
        string manual = Path.Join(Repository.Root, "docs");
        string[] pages = Directory.GetFiles(manual, "*.md", SearchOption.AllDirectories);
        Assert.NotEmpty(pages);
        foreach (string page in pages)
        {
            string path = Path.GetRelativePath(manual, page);
            Assert.Contains($"({path})", list, StringComparison.Ordinal);
            var answer = await node.Http.GetAsync("/help/" + path);
            byte[] written = await File.ReadAllBytesAsync(page);
            Assert.Equal(written.Length, answer.Content.Headers.ContentLength);
            Assert.Equal(written, await answer.Content.ReadAsByteArrayAsync());
        }
    }

    [Fact]
    public async Task The_list_of_the_manual_shows_the_title_of_each_page() =>
        Assert.Contains(
            "<a href=\"/help/reference/http.md\">HTTP",
            await node.Http.GetStringAsync("/help"),
            StringComparison.Ordinal
        );

    /// <summary>
    /// To find the titles, all pages are decompressed. Every client may request the list, so that must happen only
    /// once.
    /// </summary>
    [Fact]
    public void The_list_of_the_manual_is_computed_once() => Assert.Same(HelpRoutes.PageList, HelpRoutes.PageList);

    [Theory]
    [InlineData("/help/reference/http", HttpStatusCode.OK)]
    [InlineData("/help/reference/ROOKERY-MIB.txt", HttpStatusCode.OK)]
    [InlineData("/help/reference/grafana-rookery.json", HttpStatusCode.OK)]
    [InlineData("/help/nothing", HttpStatusCode.NotFound)]
    public async Task A_page_may_be_named_without_its_ending(string path, HttpStatusCode status) =>
        Assert.Equal(status, (await node.Http.GetAsync(path)).StatusCode);
}
