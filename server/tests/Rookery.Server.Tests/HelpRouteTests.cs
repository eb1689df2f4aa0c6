using System.Net;
using Rookery.Server.Dashboard;

namespace Rookery.Server.Tests;

public sealed class HelpRouteTests(NodeInDiagnosis node) : IClassFixture<NodeInDiagnosis>
{
    private static readonly string Docs = Path.Join(Repository.Root, "docs");

    [Fact]
    public async Task Each_text_of_the_manual_is_served_as_it_was_written()
    {
        foreach (string path in Texts())
        {
            using var answer = await node.Http.GetAsync("/help/" + path);
            byte[] text = await File.ReadAllBytesAsync(Path.Join(Docs, path));
            Assert.Equal("text/plain; charset=utf-8", answer.Content.Headers.ContentType!.ToString());
            Assert.Equal(text.Length, answer.Content.Headers.ContentLength);
            Assert.Equal(text, await answer.Content.ReadAsByteArrayAsync());
        }
    }

    [Fact]
    public async Task Each_picture_of_the_manual_is_served()
    {
        string[] pictures = Directory.GetFiles(Docs, "*.webp", SearchOption.AllDirectories);
        Assert.NotEmpty(pictures);
        foreach (string path in pictures)
        {
            using var answer = await node.Http.GetAsync("/help/" + Path.GetRelativePath(Docs, path));
            Assert.Equal("image/webp", answer.Content.Headers.ContentType!.ToString());
            Assert.Equal(await File.ReadAllBytesAsync(path), await answer.Content.ReadAsByteArrayAsync());
        }
    }

    /// <summary>The file begins with the length of each text in bytes, by which the dashboard splits it.</summary>
    [Fact]
    public async Task All_texts_are_served_as_one_file()
    {
        string whole = await node.Http.GetStringAsync("/help/manual.txt");
        string[] paths = Texts();
        string lines = string.Concat(paths.Select(path => $"{new FileInfo(Path.Join(Docs, path)).Length} {path}\n"));
        Assert.Equal(
            lines + "\n" + string.Concat(paths.Select(path => File.ReadAllText(Path.Join(Docs, path)))),
            whole
        );
    }

    [Theory]
    [InlineData("/help", true)]
    [InlineData("/help/", true)]
    [InlineData("/help/reference/http", true)]
    [InlineData("/help/reference/http.md", true)]
    [InlineData("/help/reference/http.md?plain", false)]
    [InlineData("/help/reference/ROOKERY-MIB.txt", false)]
    [InlineData("/help/reference/grafana-rookery.json", false)]
    public async Task A_browser_gets_the_dashboard_for_a_page(string path, bool isPage)
    {
        using var request = new HttpRequestMessage(HttpMethod.Get, path);
        request.Headers.TryAddWithoutValidation("Accept", "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8");
        using var answer = await node.Http.SendAsync(request);
        Assert.Equal(HttpStatusCode.OK, answer.StatusCode);
        Assert.Equal(
            isPage && DashboardRoutes.Page is not null ? "text/html" : "text/plain",
            answer.Content.Headers.ContentType!.MediaType
        );
        Assert.Contains("Accept", answer.Headers.Vary);
    }

    [Theory]
    [InlineData("/help", HttpStatusCode.OK)]
    [InlineData("/help/reference/http", HttpStatusCode.OK)]
    [InlineData("/help/nothing", HttpStatusCode.NotFound)]
    [InlineData("/help/nothing.webp", HttpStatusCode.NotFound)]
    public async Task The_extension_of_a_page_may_be_omitted(string path, HttpStatusCode status) =>
        Assert.Equal(status, (await node.Http.GetAsync(path)).StatusCode);

    private static string[] Texts()
    {
        string[] texts =
        [
            .. Directory
                .GetFiles(Docs, "*", SearchOption.AllDirectories)
                .Where(path => Path.GetExtension(path) is ".md" or ".txt" or ".json")
                .Select(path => Path.GetRelativePath(Docs, path))
                .Order(StringComparer.Ordinal),
        ];
        Assert.NotEmpty(texts);
        return texts;
    }
}
