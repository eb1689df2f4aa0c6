using System.Net.Security;
using System.Net.Sockets;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using Rookery.Server.Access;
using Rookery.Simulation;

namespace Rookery.Server.Tests.Access;

/// <summary>Which requests the server accepts, by the token or client certificate that they carry.</summary>
public class AccessTests(SecureServer server) : IClassFixture<SecureServer>
{
    // A read of a missing document: 404 means that the credential was accepted.
    private const string Docs = "/databases/Shop/docs?id=none";

    [Fact]
    public async Task Without_a_credential_only_open_routes_answer()
    {
        (await server.SendAsync("GET", Docs)).IsRefusal(401, "credential");
        (await server.SendAsync("GET", "/metrics")).IsRefusal(401, "credential");
        (await server.SendAsync("GET", "/nowhere")).IsRefusal(401, "credential");
        var refused = await server.SendAsync("PUT", "/admin/databases?name=New", body: "{}");
        refused.IsRefusal(401, "credential");
        Assert.Equal("Bearer", refused.Headers.WwwAuthenticate.Single().Scheme);
        foreach (string open in (string[])["/livez", "/readyz", "/readyz?verbose", "/", "/help"])
        {
            Assert.Equal(200, (await server.SendAsync("GET", open)).Status);
        }
    }

    [Fact]
    public async Task The_progress_of_forming_needs_the_scope_metrics()
    {
        foreach (string? credential in new[] { null, "rookery_nonsense", await server.GiveTokenAsync(["read"]) })
        {
            var answer = await server.SendAsync("GET", "/readyz?verbose", credential);
            Assert.Equal(200, answer.Status);
            Assert.DoesNotContain("pi-2", answer.Body, StringComparison.Ordinal);
        }

        Assert.Contains(
            "pi-2",
            (await server.SendAsync("GET", "/readyz?verbose", await server.GiveTokenAsync(["metrics"]))).Body,
            StringComparison.Ordinal
        );
        Assert.Contains(
            "pi-2",
            (await server.SendAsync("GET", "/readyz?verbose", SecureServer.LocalKey)).Body,
            StringComparison.Ordinal
        );
    }

    [Theory]
    [InlineData("read", "GET", Docs, 404)]
    [InlineData("read", "POST", "/databases/Shop/bulk_docs", 403)]
    [InlineData("read", "GET", "/topology?name=Shop", 200)]
    [InlineData("read", "GET", "/metrics", 403)]
    [InlineData("read", "PUT", "/admin/databases?name=New", 403)]
    [InlineData("write", "POST", "/databases/Shop/bulk_docs", 201)]
    [InlineData("write", "GET", Docs, 403)]
    [InlineData("metrics", "GET", "/metrics", 200)]
    [InlineData("metrics", "GET", "/debug/io", 200)]
    [InlineData("metrics", "GET", Docs, 403)]
    [InlineData("metrics", "GET", "/databases", 403)]
    [InlineData("admin", "GET", Docs, 404)]
    [InlineData("admin", "GET", "/metrics", 200)]
    [InlineData("admin", "GET", "/admin/databases?name=Shop", 200)]
    [InlineData("", "GET", "/topology?name=Shop", 403)]
    public async Task A_token_grants_its_scopes_only(string scope, string method, string url, int status)
    {
        string token = await server.GiveTokenAsync([scope, "invented-later"]);
        var answer = await server.SendAsync(
            method,
            url,
            token,
            method is "POST" ? """{"Commands":[]}"""
                : method is "PUT" ? "{}"
                : null
        );
        Assert.True(answer.Status == status, $"the status is {answer.Status} instead of {status}: {answer.Body}");
        if (status == 403)
        {
            answer.IsRefusal(403, "needs the scope");
        }
    }

    [Theory]
    [InlineData("read", true)]
    [InlineData("write", false)]
    public async Task Index_definitions_in_a_database_record_need_the_scope_read(string scope, bool isShown)
    {
        string token = await server.GiveTokenAsync([scope]);
        var record = (await server.SendAsync("GET", "/admin/databases?name=Shop", token)).Json;
        Assert.All(["Indexes", "AutoIndexes"], member => Assert.Equal(isShown, record.TryGetProperty(member, out _)));
    }

    [Fact]
    public async Task A_token_for_one_database_sees_no_other()
    {
        string token = await server.GiveTokenAsync(["read"], ["sHOP"]);
        Assert.Equal(404, (await server.SendAsync("GET", "/databases/shop/docs?id=none", token)).Status);
        Assert.Equal(200, (await server.SendAsync("GET", "/topology?name=SHOP", token)).Status);
        Assert.Equal(
            ["Shop"],
            (await server.SendAsync("GET", "/databases?namesOnly=true", token))
                .Json.GetProperty("Databases")
                .EnumerateArray()
                .Select(name => name.GetString())
        );
        foreach (
            string url in (string[])
                [
                    "/databases/Other/docs?id=none",
                    "/topology?name=Other",
                    "/topology?name=Other&name=Shop",
                    "/admin/databases?name=%4fther",
                    "/databases/Missing/docs?id=none",
                ]
        )
        {
            (await server.SendAsync("GET", url, token)).IsRefusal(403, "'test'");
        }
    }

    [Fact]
    public async Task A_revoked_or_expired_token_is_refused_at_once()
    {
        var expires = server.Time.GetUtcNow().AddHours(1);
        string ending = await server.GiveTokenAsync(["read"], expires: expires);
        string token = await server.GiveTokenAsync(["read"]);
        using var http = server.NewClient();
        Assert.Equal(404, (await server.SendAsync(http, "GET", Docs, token)).Status);
        Assert.Equal(404, (await server.SendAsync(http, "GET", Docs, ending)).Status);
        await server.RevokeAsync(token);
        (await server.SendAsync(http, "GET", Docs, token)).IsRefusal(401, "revoked");
        server.Time.Advance(TimeSpan.FromHours(1));
        (await server.SendAsync(http, "GET", Docs, ending)).IsRefusal(401, "expired at");
    }

    /// <summary>
    /// Tokens expire by the cluster's time; how the cluster treats a wrong clock is tested with consensus.
    /// </summary>
    [Theory]
    [InlineData(1970)]
    [InlineData(2080)]
    public async Task While_the_time_is_in_doubt_no_credential_expires_and_none_with_an_expiry_is_created(int year)
    {
        var node = new SecureServer();
        await node.InitializeAsync();
        string ending = await node.GiveTokenAsync(["read"], expires: node.Time.GetUtcNow().AddHours(1));
        using var certificate = node.Identity.NewClient("app");
        await node.RegisterAsync(certificate, isAdmin: true);
        node.IsClockSynchronised = false;
        node.Time.SetUtcNow(new DateTimeOffset(year, 1, 1, 0, 0, 0, TimeSpan.Zero));
        node.Time.Advance(TimeSpan.FromHours(2));
        Assert.Equal(404, (await node.SendAsync("GET", Docs, ending)).Status);
        Assert.Equal(404, (await node.SendAsync("GET", Docs, certificate: certificate)).Status);
        const string Tokens = "/admin/access/tokens";
        (
            await node.SendAsync(
                "POST",
                Tokens,
                SecureServer.LocalKey,
                """{"Name":"ci","Scopes":["read"],"LifetimeSeconds":60}"""
            )
        ).IsRefusal(503, "`rookery cluster clock confirm`");
        var endless = await node.SendAsync(
            "POST",
            Tokens,
            SecureServer.LocalKey,
            """{"Name":"ci","Scopes":["read"]}"""
        );
        Assert.Equal(201, endless.Status);

        // The cluster's time, not this machine's.
        Assert.Equal(2026, endless.Json.GetProperty("Created").GetDateTimeOffset().Year);
        using var key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        string request = new CertificateRequest("CN=late", key, HashAlgorithmName.SHA256)
            .CreateSigningRequestPem()
            .ReplaceLineEndings("\\n");
        Assert.Equal(
            201,
            (
                await node.SendAsync(
                    "POST",
                    "/admin/access/certificates",
                    SecureServer.LocalKey,
                    $$"""{"Name":"late","Request":"{{request}}","Admin":true}"""
                )
            ).Status
        );
        Assert.Equal(2026, node.Identity.LastSignedAt.Year);
        await node.DisposeAsync();
    }

    [Fact]
    public async Task An_expired_client_certificate_is_refused_on_an_open_connection()
    {
        var node = CreateWithCertificatesNearExpiry();
        await node.InitializeAsync();
        using var certificate = node.Identity.NewClient("app");
        await node.RegisterAsync(certificate, isAdmin: true);
        using var http = node.NewClient(certificate);
        Assert.Equal(404, (await node.SendAsync(http, "GET", Docs)).Status);
        // More than the two months that the certificate has left.
        node.Time.Advance(TimeSpan.FromDays(70));
        (await node.SendAsync(http, "GET", Docs)).IsRefusal(403, "It ended. Make another");
        await node.DisposeAsync();
    }

    /// <summary>
    /// Formerly, a connection that sent a request between the end of the trust in the log and on this node kept its
    /// rights until the certificate expired.
    /// </summary>
    [Fact]
    public async Task A_client_certificate_of_an_authority_that_is_retired_is_refused_on_an_open_connection()
    {
        var node = new SecureServer();
        await node.InitializeAsync();
        using var certificate = node.Identity.NewClient("app");
        await node.RegisterAsync(certificate, isAdmin: true);
        using var http = node.NewClient(certificate);
        Assert.Equal(404, (await node.SendAsync(http, "GET", Docs)).Status);
        using var next = new TestIdentity { RefusalReason = "Its authority is retired." };
        node.NextIdentity = next;
        (await node.SendAsync(http, "GET", Docs)).IsRefusal(403, "Its authority is retired.");
        await node.DisposeAsync();
    }

    // A token of the right form that was never registered, one too short, another program's, and one too long.
    [Theory]
    [InlineData("rookery_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAB", "not known")]
    [InlineData("rookery_short", "holds no token")]
    [InlineData("eyJhbGciOiJub25lIn0.e30.", "holds no token")]
    [InlineData("rookery_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "holds no token")]
    public async Task An_invalid_token_is_refused_and_not_logged(string token, string sentence)
    {
        (await server.SendAsync("GET", Docs, token)).IsRefusal(401, sentence);
        Assert.DoesNotContain(server.Log.Lines, line => line.Contains(token, StringComparison.Ordinal));
    }

    [Fact]
    public async Task The_local_token_grants_everything()
    {
        Assert.Equal(200, (await server.SendAsync("GET", "/metrics", SecureServer.LocalKey)).Status);
        Assert.Equal(404, (await server.SendAsync("GET", Docs, SecureServer.LocalKey)).Status);
    }

    [Fact]
    public async Task Without_the_right_to_read_a_forced_revision_reveals_only_the_change_vector()
    {
        string token = await server.GiveTokenAsync(["write"]);
        const string Batch = "/databases/Shop/bulk_docs";
        const string Put =
            """{"Commands":[{"Id":"Users/7","Type":"PUT","Document":{"@metadata":{"@collection":"Users"}}}]}""";
        const string Force = """{"Commands":[{"Id":"users/7","Type":"ForceRevisionCreation"}]}""";
        Assert.Equal(201, (await server.SendAsync("POST", Batch, token, Put)).Status);
        var forced = await server.SendAsync("POST", Batch, token, Force);
        Assert.Equal(201, forced.Status);
        Assert.Equal(
            ["Type", "RevisionCreated", "@id", "@change-vector"],
            forced.Json.GetProperty("Results")[0].EnumerateObject().Select(static member => member.Name)
        );
        Assert.DoesNotContain("Users", forced.Body, StringComparison.Ordinal);
        var put = await server.SendAsync("POST", Batch, token, Put);
        Assert.DoesNotContain("@flags", put.Body, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_client_certificate_grants_its_registered_databases_only()
    {
        using var certificate = server.Identity.NewClient("app");
        (await server.SendAsync("GET", Docs, certificate: certificate)).IsRefusal(
            403,
            AccessGate.ThumbprintOf(certificate)
        );
        await server.RegisterAsync(certificate, isAdmin: false, ("Shop", "rw"), ("Other", "ro"));
        using var http = server.NewClient(certificate);
        for (int round = 0; round < 2; round++)
        {
            Assert.Equal(404, (await server.SendAsync(http, "GET", Docs)).Status);
            Assert.Equal(
                201,
                (await server.SendAsync(http, "POST", "/databases/Shop/bulk_docs", body: """{"Commands":[]}""")).Status
            );
            Assert.Equal(404, (await server.SendAsync(http, "GET", "/databases/Other/docs?id=none")).Status);
            (await server.SendAsync(http, "POST", "/databases/Other/bulk_docs", body: """{"Commands":[]}""")).IsRefusal(
                403,
                "needs the scope write in database 'Other'"
            );
            (await server.SendAsync(http, "GET", "/admin/node/backup")).IsRefusal(403, "admin");
        }

        // The certificate's right to Shop is revoked while the connection stays open.
        await server.RegisterAsync(certificate, isAdmin: false, ("Other", "ro"));
        (await server.SendAsync(http, "GET", Docs)).IsRefusal(403, "'Shop'");
        await server.RegisterAsync(certificate, isAdmin: true);
        Assert.Equal(200, (await server.SendAsync(http, "GET", "/metrics")).Status);
    }

    [Fact]
    public async Task An_invalid_client_certificate_is_refused_with_the_reason()
    {
        using var certificate = server.Identity.NewClient("app");
        await server.RegisterAsync(certificate, isAdmin: true);
        server.Identity.RefusalReason = "It ended.";
        try
        {
            (await server.SendAsync("GET", Docs, certificate: certificate)).IsRefusal(403, "It ended. Make another");
        }
        finally
        {
            server.Identity.RefusalReason = null;
        }
    }

    [Fact]
    public async Task The_certificates_expiry_is_reported_with_a_warning_when_near()
    {
        var node = CreateWithCertificatesNearExpiry();
        await node.InitializeAsync();
        var ends = node.Identity.Certificate.NotAfter.ToUniversalTime();
        Assert.Contains(
            $"\nrookery_certificate_not_after_seconds {(ends - DateTime.UnixEpoch).TotalSeconds}\n",
            (await node.SendAsync("GET", "/metrics", SecureServer.LocalKey)).Body,
            StringComparison.Ordinal
        );
        Assert.Null(await TroubleAsync());
        node.Time.Advance(ends - node.Time.GetUtcNow().UtcDateTime - TimeSpan.FromDays(30));
        Assert.Contains($"expires on {ends:yyyy-MM-dd}", await TroubleAsync(), StringComparison.Ordinal);
        await node.DisposeAsync();

        async Task<string?> TroubleAsync() =>
            (await node.SendAsync("GET", "/readyz?verbose"))
                .Json.GetProperty("Certificate")
                .GetProperty("Trouble")
                .GetString();
    }

    /// <summary>
    /// A server whose certificates expire two months after its simulated clock begins.
    /// </summary>
    private static SecureServer CreateWithCertificatesNearExpiry() =>
        new() { Time = new SimulatedTimeProvider(TimeProvider.System.GetUtcNow().AddMonths(4)) };

    /// <summary>
    /// A browser prompts its user only if it has a certificate of an authority that the server names.
    /// </summary>
    [Fact]
    public async Task The_handshake_names_only_the_clusters_authority()
    {
        using var client = new TcpClient();
        await client.ConnectAsync(server.Address.Host, server.Address.Port);
        string[]? issuers = null;
        await using var tls = new SslStream(client.GetStream());
        await tls.AuthenticateAsClientAsync(
            new SslClientAuthenticationOptions
            {
                TargetHost = "127.0.0.1",
                CertificateChainPolicy = server.TrustPolicy(),
                LocalCertificateSelectionCallback = (_, _, _, _, acceptable) =>
                {
                    issuers = acceptable;
                    return null!;
                },
            }
        );
        Assert.Equal("CN=test authority", Assert.Single(issuers ?? []));
    }

    [Fact]
    public async Task A_page_of_another_site_may_not_use_the_certificate_of_its_visitor()
    {
        using var certificate = server.Identity.NewClient("browser");
        await server.RegisterAsync(certificate, isAdmin: true);
        using var http = server.NewClient(certificate);
        http.DefaultRequestHeaders.Add("Origin", "https://elsewhere.example");
        (await server.SendAsync(http, "GET", "/databases")).IsRefusal(403, "elsewhere.example");
    }

    [Theory]
    [InlineData("Origin", "https://127.0.0.1", 200)]
    [InlineData("Origin", "http://127.0.0.1", 403)]
    [InlineData("Referer", "https://127.0.0.1/#query", 200)]
    [InlineData("Referer", "http://127.0.0.1/", 403)]
    public async Task A_page_in_plain_HTTP_may_not_use_a_node_with_TLS_of_the_same_host(
        string header,
        string value,
        int status
    )
    {
        // A port is in neither, if both are the usual one of their scheme.
        using var certificate = server.Identity.NewClient("browser");
        await server.RegisterAsync(certificate, isAdmin: true);
        using var http = server.NewClient(certificate);
        http.DefaultRequestHeaders.Host = "127.0.0.1";
        http.DefaultRequestHeaders.Add(header, value);
        Assert.Equal(status, (await server.SendAsync(http, "GET", "/databases")).Status);
    }
}
