using System.Net;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.TestHost;
using Microsoft.Extensions.Logging.Abstractions;
using Rookery.Platform;
using Rookery.Server.Dashboard;
using Rookery.Simulation;

namespace Rookery.Server.Tests.Dashboard;

/// <summary>The dashboard's page and files; in a build without `make dashboard`, the page that replaces it.</summary>
public sealed class DashboardRouteTests : IAsyncLifetime
{
    private static readonly Dictionary<string, DashboardFile> Files = DashboardFile.LoadAll();

    private readonly ServerContext _context = new(
        new ServerOptions { Listen = new IPEndPoint(IPAddress.Loopback, 0) },
        new SimulatedTimeProvider(),
        NullLogger.Instance,
        new MemoryBudget(96 << 20),
        new IoTimeline(new SimulatedTimeProvider(), "unknown")
    );

    private WebApplication _app = null!;
    private HttpClient _client = null!;

    public async Task InitializeAsync()
    {
        _app = RookeryServer.Build(_context, host => host.UseTestServer());
        await _app.StartAsync();
        _client = _app.GetTestClient();
    }

    public async Task DisposeAsync()
    {
        _client.Dispose();
        await _app.DisposeAsync();
    }

    [Fact]
    public async Task The_page_loads_nothing_from_elsewhere_and_has_no_inline_script()
    {
        using var answer = await _client.GetAsync("/");
        Assert.Equal(HttpStatusCode.OK, answer.StatusCode);
        Assert.Equal(
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src "
                + "'self'; font-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
            answer.Headers.GetValues("Content-Security-Policy").Single()
        );
        Assert.Equal("no-referrer", answer.Headers.GetValues("Referrer-Policy").Single());
        Assert.Equal("nosniff", answer.Headers.GetValues("X-Content-Type-Options").Single());
        string page = await answer.Content.ReadAsStringAsync();
        Assert.DoesNotContain("style=\"", page, StringComparison.Ordinal);
        Assert.DoesNotContain("<script>", page, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("/studio")]
    [InlineData("/studio/")]
    [InlineData("/studio/index.html")]
    public async Task The_path_of_the_Studio_redirects_to_the_page(string path)
    {
        using var answer = await _client.GetAsync(path);
        Assert.Equal((HttpStatusCode.Found, "/"), (answer.StatusCode, answer.Headers.Location?.OriginalString));
    }

    [Fact]
    public async Task Each_file_is_sent_compressed_or_plain_with_the_same_content()
    {
        foreach (string name in Files.Keys)
        {
            string path = "/" + (name is "index.html" ? string.Empty : name);
            string plain = await _client.GetStringAsync(path);
            using var request = new HttpRequestMessage(HttpMethod.Get, path);
            request.Headers.TryAddWithoutValidation("Accept-Encoding", "gzip, deflate, br, zstd");
            using var compressed = await _client.SendAsync(request);
            Assert.Equal("br", compressed.Content.Headers.ContentEncoding.Single());
            await using var decompressed = new System.IO.Compression.BrotliStream(
                await compressed.Content.ReadAsStreamAsync(),
                System.IO.Compression.CompressionMode.Decompress
            );
            using var reader = new StreamReader(decompressed);
            Assert.Equal(plain, await reader.ReadToEndAsync());
        }
    }

    [Fact]
    public async Task A_file_named_by_its_hash_is_cached_forever_and_others_are_revalidated()
    {
        foreach (var (name, file) in Files)
        {
            string path = "/" + (name is "index.html" ? string.Empty : name);
            using var answer = await _client.GetAsync(path);
            Assert.Equal(
                file.IsNamedByContent ? "public, max-age=31536000, immutable" : "no-cache",
                answer.Headers.GetValues("Cache-Control").Single()
            );
            using var again = new HttpRequestMessage(HttpMethod.Get, path);
            again.Headers.TryAddWithoutValidation("If-None-Match", answer.Headers.ETag!.ToString());
            Assert.Equal(HttpStatusCode.NotModified, (await _client.SendAsync(again)).StatusCode);
        }

        Assert.False(Files.TryGetValue("index.html", out var page) && page.IsNamedByContent);
    }

    [Fact]
    public async Task A_missing_file_is_404_and_not_cached()
    {
        using var answer = await _client.GetAsync("/assets/index-00000000.js");
        Assert.Equal(
            (HttpStatusCode.NotFound, "no-store"),
            (answer.StatusCode, answer.Headers.GetValues("Cache-Control").Single())
        );
    }

    [Fact]
    public async Task The_favicon_comes_from_the_dashboard()
    {
        using var answer = await _client.GetAsync("/favicon.ico");
        Assert.Equal(
            Files.ContainsKey("index.html")
                ? (HttpStatusCode.OK, "image/svg+xml")
                : (HttpStatusCode.NotFound, "text/plain"),
            (answer.StatusCode, answer.Content.Headers.ContentType!.MediaType!)
        );
    }

    [Theory]
    [InlineData("br", true)]
    [InlineData("gzip, deflate, br;q=0.9", true)]
    [InlineData("BR", true)]
    [InlineData("gzip", false)]
    [InlineData("", false)]
    [InlineData("br;q=0", false)]
    [InlineData("br;q=0.0, gzip", false)]
    [InlineData("brotli", false)]
    public void Brotli_is_sent_only_to_clients_that_accept_it(string accepted, bool takes) =>
        Assert.Equal(takes, AcceptedCoding.Includes(accepted, "br"));
}
