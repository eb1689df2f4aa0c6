using System.Net;
using System.Net.Sockets;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using System.Text;
using Rookery.Server.Welcome;

namespace Rookery.Server.Tests.Access;

/// <summary>
/// The page over plain HTTP for people who do not trust the cluster's authority yet: it offers the authority's
/// certificate, and accepts no credential.
/// </summary>
public sealed class WelcomeTests : IAsyncLifetime
{
    private readonly SecureServer _node = new();
    private HttpClient _http = null!;
    private WelcomeServer _welcome = null!;

    public async Task InitializeAsync()
    {
        await _node.InitializeAsync();
        _welcome = await StartAsync(_node.Context);
        _http = _node.NewClient();
        _http.BaseAddress = _welcome.Address;
    }

    public async Task DisposeAsync()
    {
        _http.Dispose();
        await _welcome.DisposeAsync();
        await _node.DisposeAsync();
    }

    [Fact]
    public async Task The_page_shows_names_state_and_the_fingerprint_of_its_certificate_file()
    {
        string page = await _http.GetStringAsync("/");
        byte[] file = await _http.GetByteArrayAsync("/rookery-ca.crt");

        string fingerprint = Convert.ToHexString(SHA256.HashData(file));
        Assert.Equal(
            fingerprint,
            Convert.ToHexString(_node.Identity.Authorities[0].GetCertHash(HashAlgorithmName.SHA256))
        );
        string[] pairs = [.. fingerprint.Chunk(2).Select(static pair => new string(pair))];
        Assert.All(
            pairs.Chunk(8),
            group => Assert.Contains($"<code>{string.Join(':', group)}</code>", page, StringComparison.Ordinal)
        );
        Assert.Contains("<h1>pi-1</h1>", page, StringComparison.Ordinal);
        Assert.Contains("the cluster <strong>home</strong>", page, StringComparison.Ordinal);
        Assert.Contains(
            $"href=\"https://pi-1.local:{_node.Context.Options.Listen.Port}\"",
            page,
            StringComparison.Ordinal
        );
        // Every placeholder in braces is filled.
        Assert.DoesNotContain("{", page[page.IndexOf("<body>", StringComparison.Ordinal)..], StringComparison.Ordinal);
    }

    [Fact]
    public async Task The_page_shows_how_to_claim_the_node_until_it_has_an_owner()
    {
        string before = await _http.GetStringAsync("/");
        Assert.Contains("has no owner yet", before, StringComparison.Ordinal);
        Assert.Contains("rookery claim", before, StringComparison.Ordinal);
        await _node.SendAsync("POST", "/claim", body: $$"""{"Code":"{{SecureServer.ClaimCode}}"}""");
        string after = await _http.GetStringAsync("/");
        Assert.Contains("Member of its cluster", after, StringComparison.Ordinal);
        Assert.DoesNotContain("rookery claim", after, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Problems_with_the_settings_on_the_card_are_shown_and_after_the_claim_only_counted()
    {
        Assert.DoesNotContain("settings on its card", await _http.GetStringAsync("/"), StringComparison.Ordinal);
        _node.SettingsNotes = ["timezone: 'Zulu' must be a name", "network-config: '<b>{url}</b>' is not used"];
        string before = await _http.GetStringAsync("/");
        Assert.Contains("<li>timezone: &#39;Zulu&#39; must be a name</li>", before, StringComparison.Ordinal);
        Assert.Contains("&lt;b&gt;{url}&lt;/b&gt;", before, StringComparison.Ordinal);
        await _node.SendAsync("POST", "/claim", body: $$"""{"Code":"{{SecureServer.ClaimCode}}"}""");
        string after = await _http.GetStringAsync("/");
        Assert.Contains("The settings on its card have 2 problems", after, StringComparison.Ordinal);
        Assert.DoesNotContain("Zulu", after, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Certificates_have_content_types_that_programs_and_phones_recognise()
    {
        using var pem = await _http.GetAsync("/rookery-ca.pem");
        var read = new X509Certificate2Collection();
        read.ImportFromPem(await pem.Content.ReadAsStringAsync());
        Assert.Equal(_node.Identity.Authorities[0].Thumbprint, Assert.Single(read).Thumbprint);
        using var binary = await _http.GetAsync("/rookery-ca.crt");
        Assert.Equal("application/x-x509-ca-cert", binary.Content.Headers.ContentType?.MediaType);
    }

    [Fact]
    public async Task The_page_runs_no_script_and_loads_no_other_resource()
    {
        using var answer = await _http.GetAsync("/");
        string policy = answer.Headers.GetValues("Content-Security-Policy").Single();
        string page = await answer.Content.ReadAsStringAsync();
        string style = page[
            (page.IndexOf("<style>", StringComparison.Ordinal) + 7)..page.IndexOf("</style>", StringComparison.Ordinal)
        ];
        Assert.StartsWith(
            $"default-src 'none'; style-src "
                + $"'sha256-{Convert.ToBase64String(SHA256.HashData(Encoding.UTF8.GetBytes(style)))}';",
            policy,
            StringComparison.Ordinal
        );
        Assert.Equal("nosniff", answer.Headers.GetValues("X-Content-Type-Options").Single());
        Assert.DoesNotContain(" style=", page, StringComparison.Ordinal);
        Assert.DoesNotContain("<script", page, StringComparison.OrdinalIgnoreCase);
    }

    [Theory]
    [InlineData("GET /readyz", 404)]
    [InlineData("GET /?next=/databases", 404)]
    [InlineData("GET /%2e", 404)]
    [InlineData("GET http://pi-1.local/", 404)]
    [InlineData("GET /admin/databases", 404)]
    [InlineData("HEAD /", 200)]
    [InlineData("POST /claim", 405)]
    [InlineData("OPTIONS *", 405)]
    public async Task Other_paths_are_refused(string line, int status) =>
        Assert.StartsWith(
            $"HTTP/1.1 {status} ",
            await SendAsync($"{line} HTTP/1.1\r\nHost: pi-1.local\r\nConnection: close\r\n\r\n"),
            StringComparison.Ordinal
        );

    [Theory]
    [InlineData("Authorization: Bearer rookery_secret")]
    [InlineData("Cookie: session=secret")]
    public async Task A_credential_is_refused_and_not_repeated(string header)
    {
        string answer = await SendAsync($"GET / HTTP/1.1\r\nHost: pi-1.local\r\n{header}\r\n\r\n");
        Assert.StartsWith("HTTP/1.1 400 ", answer, StringComparison.Ordinal);
        Assert.DoesNotContain("secret", answer, StringComparison.Ordinal);
        Assert.Contains($"https://pi-1.local:{_node.Context.Options.Listen.Port}", answer, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_request_with_a_body_is_refused_without_reading_it()
    {
        // The connection ends after the answer although no byte of the body was sent.
        string answer = await SendAsync("POST /claim HTTP/1.1\r\nHost: pi-1.local\r\nContent-Length: 100\r\n\r\n");
        Assert.StartsWith("HTTP/1.1 405 ", answer, StringComparison.Ordinal);
        Assert.Contains("Connection: close", answer, StringComparison.Ordinal);
    }

    private static async Task<WelcomeServer> StartAsync(ServerContext context)
    {
        var welcome = new WelcomeServer(context, new IPEndPoint(IPAddress.Loopback, 0));
        await welcome.StartAsync();
        return welcome;
    }

    /// <summary>Sends a request and reads until the connection ends.</summary>
    private async Task<string> SendAsync(string request)
    {
        using var client = new TcpClient();
        await client.ConnectAsync(IPAddress.Loopback, _welcome.Address.Port);
        await client.GetStream().WriteAsync(Encoding.ASCII.GetBytes(request));
        using var reader = new StreamReader(client.GetStream());
        return await reader.ReadToEndAsync();
    }
}
