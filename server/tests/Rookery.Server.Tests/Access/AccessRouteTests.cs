using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using Rookery.Documents.Commands;
using Rookery.Documents.Records;
using Rookery.Server.Access;
using Rookery.Server.Tests.Raven;

namespace Rookery.Server.Tests.Access;

/// <summary>How a node is claimed, and how tokens and certificates are created and revoked.</summary>
public class AccessRouteTests : IAsyncLifetime
{
    private const string Tokens = "/admin/access/tokens";
    private const string Certificates = "/admin/access/certificates";

    // A read of a missing document: 404 means that the credential was accepted.
    private const string Docs = "/databases/Shop/docs?id=none";

    private readonly SecureServer _server = new();

    public Task InitializeAsync() => _server.InitializeAsync();

    public Task DisposeAsync() => _server.DisposeAsync();

    [Fact]
    public async Task The_claim_code_yields_the_first_admin_token_only_once()
    {
        (await _server.SendAsync("GET", Docs)).IsRefusal(401, "no owner yet");
        (await _server.SendAsync("POST", "/claim", body: """{"Code":"ABCDEFGH2345678X"}""")).IsRefusal(
            403,
            "not the code"
        );
        (await _server.SendAsync("POST", "/claim", body: "{}")).IsRefusal(403, "not the code");
        var claimed = await _server.SendAsync("POST", "/claim", body: """{"Code":"abcd-efgh-2345-6789"}""");
        Assert.Equal(201, claimed.Status);
        string token = claimed.Json.GetProperty("Token").GetString()!;
        Assert.Equal(200, (await _server.SendAsync("GET", Tokens, token)).Status);
        (await _server.SendAsync("POST", "/claim", body: $$"""{"Code":"{{SecureServer.ClaimCode}}"}""")).IsRefusal(
            409,
            "has an owner"
        );

        // The node stays claimed even if no admin is left.
        Assert.Equal(204, (await _server.SendAsync("DELETE", Tokens + "?name=admin", token)).Status);
        (await _server.SendAsync("POST", "/claim", body: $$"""{"Code":"{{SecureServer.ClaimCode}}"}""")).IsRefusal(
            409,
            "token reset"
        );
        (await _server.SendAsync("GET", Docs, token)).IsRefusal(401, "not known");
        Assert.DoesNotContain(
            _server.Log.Lines,
            line =>
                line.Contains(token, StringComparison.Ordinal)
                || line.Contains(SecureServer.ClaimCode, StringComparison.Ordinal)
        );
    }

    /// <summary>Formerly, 1,100 tokens that name 200 databases each took all memory of a node with 128 MiB.</summary>
    [Fact]
    public async Task Credentials_are_refused_when_all_together_are_too_large()
    {
        // A token takes about 52 KB, and all credentials together may take 1 MiB.
        string databases = string.Join(',', Enumerable.Range(0, 500).Select(i => $"\"{new string('d', 100)}{i}\""));
        Answer created;
        int count = 0;
        do
        {
            created = await _server.SendAsync(
                "POST",
                Tokens,
                SecureServer.LocalKey,
                $$"""{"Name":"t{{count++}}","Scopes":["read"],"Databases":[{{databases}}]}"""
            );
        } while (created.Status == 201 && count < 100);
        created.IsRefusal(409, "the maximum");
        // About 20 fit.
        Assert.InRange(count, 10, 30);
        await _server.SendAsync("DELETE", Tokens + "?name=t0", SecureServer.LocalKey);
        await _server.SendAsync("DELETE", Tokens + "?name=t1", SecureServer.LocalKey);
        created = await _server.SendAsync("POST", Tokens, SecureServer.LocalKey, """{"Name":"x","Scopes":["read"]}""");
        Assert.Equal(201, created.Status);
    }

    /// <summary>A node may join another cluster only while it has no record of a token.</summary>
    [Fact]
    public async Task No_access_record_remains_after_the_last_token_is_revoked()
    {
        await _server.SendAsync("POST", Tokens, SecureServer.LocalKey, """{"Name":"x","Scopes":["read"]}""");
        Assert.NotEmpty(_server.Node.ClusterRecords.List(ClusterRecordPrefix.Access));
        await _server.SendAsync("DELETE", Tokens + "?name=x", SecureServer.LocalKey);
        Assert.Empty(_server.Node.ClusterRecords.List(ClusterRecordPrefix.Access));
    }

    /// <summary>Formerly, each of several concurrent requests saw room for one more credential, and all were
    /// stored.</summary>
    [Fact]
    public async Task Credentials_created_at_the_same_time_do_not_exceed_the_maximum()
    {
        // A token takes about 58 KB, and all credentials together may take 1 MiB.
        string databases = string.Join(',', Enumerable.Range(0, 550).Select(i => $"\"{new string('d', 100)}{i}\""));
        var answers = await Task.WhenAll(
            Enumerable
                .Range(0, 40)
                .Select(i =>
                    _server.SendAsync(
                        "POST",
                        Tokens,
                        SecureServer.LocalKey,
                        $$"""{"Name":"t{{i}}","Scopes":["read"],"Databases":[{{databases}}]}"""
                    )
                )
        );
        Assert.All(answers, static answer => Assert.True(answer.Status is 201 or 409, answer.Body));
        // 18 times 58 KB are 1 MiB.
        Assert.InRange(answers.Count(static answer => answer.Status == 201), 15, 19);
    }

    [Fact]
    public async Task A_token_is_created_listed_without_its_secret_and_revoked()
    {
        var created = await _server.SendAsync(
            "POST",
            Tokens,
            SecureServer.LocalKey,
            """{"Name":"ci","Scopes":["read"],"Databases":["Shop"],"LifetimeSeconds":3600}"""
        );
        Assert.Equal(201, created.Status);
        string token = created.Json.GetProperty("Token").GetString()!;
        Assert.Equal(404, (await _server.SendAsync("GET", Docs, token)).Status);
        (await _server.SendAsync("GET", Tokens, token)).IsRefusal(403, "admin");
        (
            await _server.SendAsync("POST", Tokens, SecureServer.LocalKey, """{"Name":"ci","Scopes":["write"]}""")
        ).IsRefusal(409, "ci");

        var listed = await _server.SendAsync("GET", Tokens, SecureServer.LocalKey);
        var known = Assert.Single(listed.Json.GetProperty("Tokens").EnumerateArray());
        Assert.Equal(
            ("ci", "read", "Shop"),
            (
                known.GetProperty("Name").GetString(),
                known.GetProperty("Scopes")[0].GetString(),
                known.GetProperty("Databases")[0].GetString()
            )
        );
        Assert.Equal(_server.Time.GetUtcNow().AddHours(1), known.GetProperty("Expires").GetDateTimeOffset());
        Assert.DoesNotContain("rookery_", listed.Body, StringComparison.Ordinal);

        Assert.Equal(204, (await _server.SendAsync("DELETE", Tokens + "?name=ci", SecureServer.LocalKey)).Status);
        (await _server.SendAsync("GET", Docs, token)).IsRefusal(401, "not known");
        (await _server.SendAsync("DELETE", Tokens + "?name=ci", SecureServer.LocalKey)).IsRefusal(404, "no token 'ci'");
    }

    [Theory]
    [InlineData("""{"Name":"Upper","Scopes":["read"]}""", "lower-case")]
    [InlineData("""{"Name":"a","Scopes":[]}""", "needs a scope")]
    [InlineData("""{"Name":"a","Scopes":["reed"]}""", "'reed' is not a scope")]
    [InlineData("""{"Name":"a","Scopes":["read"],"Databases":[]}""", "'Databases' is empty")]
    [InlineData("""{"Name":"a","Scopes":["read"],"Databases":["a/b"]}""", "database")]
    [InlineData("""{"Name":"a","Scopes":["read"],"LifetimeSeconds":0}""", "LifetimeSeconds")]
    [InlineData("""{"Name":"a","Scopes":["read"],"Database":"Shop"}""", "unknown member 'Database'")]
    [InlineData("""{"Name":"a","Scopes":["admin"],"Databases":["Shop"]}""", "does not limit the scope admin")]
    [InlineData("""{"Name":"a","Scopes":["read","admin"],"Databases":["Shop"]}""", "does not limit the scope admin")]
    [InlineData("""{"Name":"a","Scopes":["metrics"],"Databases":["Shop"]}""", "only the scopes read and write")]
    public async Task Invalid_token_requests_are_refused(string body, string sentence) =>
        (await _server.SendAsync("POST", Tokens, SecureServer.LocalKey, body)).IsRefusal(400, sentence);

    /// <summary>The leader knows the owner, and this member learns of it at the read barrier.</summary>
    [Fact]
    public async Task A_lagging_member_does_not_claim_that_the_cluster_has_no_owner()
    {
        var member = new SecureServer
        {
            AtBarrier = async consensus =>
            {
                using var writer = new ClusterRecordWriter();
                writer.Set(ClaimRoute.OwnerKey, "{}"u8);
                await consensus.ProposeAsync(writer.Complete(), CancellationToken.None);
            },
        };
        await member.InitializeAsync();
        try
        {
            var unknown = await member.SendAsync("GET", Docs);
            unknown.IsRefusal(401, "No credential came with the request. Send 'Authorization: Bearer TOKEN'");
            (await member.SendAsync("POST", "/claim", body: $$"""{"Code":"{{SecureServer.ClaimCode}}"}""")).IsRefusal(
                409,
                "has an owner"
            );
        }
        finally
        {
            await member.DisposeAsync();
        }
    }

    /// <summary>
    /// Anyone may try to claim: without the code, a caller must not cause traffic between members. A caller with the
    /// code may learn of the owner from a lagging member.
    /// </summary>
    [Fact]
    public async Task A_claim_contacts_the_leader_only_if_its_code_is_right()
    {
        int barriers = 0;
        var member = new SecureServer
        {
            AtBarrier = async consensus =>
            {
                barriers++;
                using var writer = new ClusterRecordWriter();
                writer.Set(ClaimRoute.OwnerKey, "{}"u8);
                await consensus.ProposeAsync(writer.Complete(), CancellationToken.None);
            },
        };
        await member.InitializeAsync();
        try
        {
            (await member.SendAsync("POST", "/claim", body: """{"Code":"ABCDEFGH2345678X"}""")).IsRefusal(
                403,
                "not the code"
            );
            Assert.Equal(0, barriers);
            (await member.SendAsync("POST", "/claim", body: $$"""{"Code":"{{SecureServer.ClaimCode}}"}""")).IsRefusal(
                409,
                "has an owner"
            );
            Assert.Equal(1, barriers);
        }
        finally
        {
            await member.DisposeAsync();
        }
    }

    [Fact]
    public async Task A_credential_for_a_missing_database_is_created_with_a_notice()
    {
        var token = await _server.SendAsync(
            "POST",
            Tokens,
            SecureServer.LocalKey,
            """{"Name":"ci","Scopes":["read"],"Databases":["Shop","Shpo"]}"""
        );
        Assert.Equal(201, token.Status);
        Assert.StartsWith(
            "There is no database 'Shpo' yet: the rights there apply once it is created.",
            token.Json.GetProperty("Notice").GetString(),
            StringComparison.Ordinal
        );

        using var key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        string request = new CertificateRequest("CN=ignored", key, HashAlgorithmName.SHA256)
            .CreateSigningRequestPem()
            .ReplaceLineEndings("\\n");
        var certificate = await _server.SendAsync(
            "POST",
            Certificates,
            SecureServer.LocalKey,
            $$$"""{"Name":"app","Request":"{{{request}}}","Databases":{"New":"rw","Later":"ro"}}"""
        );
        Assert.Equal(201, certificate.Status);
        Assert.StartsWith(
            "There is no database 'New' and none 'Later' yet:",
            certificate.Json.GetProperty("Notice").GetString(),
            StringComparison.Ordinal
        );

        var known = await _server.SendAsync(
            "POST",
            Tokens,
            SecureServer.LocalKey,
            """{"Name":"all","Scopes":["read"],"Databases":["Other"]}"""
        );
        Assert.False(known.Json.TryGetProperty("Notice", out _));
    }

    [Fact]
    public async Task Of_concurrent_requests_for_one_token_name_one_succeeds()
    {
        // Several rounds, because the requests do not overlap in each round.
        for (int round = 0; round < 5; round++)
        {
            var answers = await Task.WhenAll(
                Enumerable
                    .Range(0, 8)
                    .Select(_ =>
                        _server.SendAsync(
                            "POST",
                            Tokens,
                            SecureServer.LocalKey,
                            """{"Name":"twin","Scopes":["read"]}"""
                        )
                    )
            );
            Assert.Single(answers, answer => answer.Status == 201);
            Assert.All(
                answers.Where(answer => answer.Status != 201),
                answer => answer.IsRefusal(409, "There is a token 'twin'")
            );
            Assert.Equal(204, (await _server.SendAsync("DELETE", Tokens + "?name=twin", SecureServer.LocalKey)).Status);
        }
    }

    [Fact]
    public async Task Replacing_a_lost_admin_token_revokes_it_and_is_logged()
    {
        string lostToken = (
            await _server.SendAsync("POST", Tokens, SecureServer.LocalKey, """{"Name":"admin","Scopes":["admin"]}""")
        )
            .Json.GetProperty("Token")
            .GetString()!;
        var reset = await _server.SendAsync("POST", Tokens + "/reset", SecureServer.LocalKey, "{}");
        Assert.Equal(201, reset.Status);
        (await _server.SendAsync("GET", Tokens, lostToken)).IsRefusal(401, "not known");
        Assert.Equal(200, (await _server.SendAsync("GET", Tokens, reset.Json.GetProperty("Token").GetString())).Status);
        Assert.Contains(
            _server.Log.Lines,
            line => line.Contains("'local' replaced the admin token 'admin'", StringComparison.Ordinal)
        );
    }

    [Theory]
    [InlineData("""{"Name":"admin","LifetimeSeconds":3600}""", "'LifetimeSeconds'")]
    [InlineData("""{"Name":"admin","Scopes":["read"]}""", "'Scopes'")]
    [InlineData("""{"Databases":["Shop"]}""", "'Databases'")]
    public async Task A_reset_with_rights_or_a_lifetime_is_refused_and_replaces_nothing(string body, string member)
    {
        string known = (await _server.SendAsync("POST", Tokens + "/reset", SecureServer.LocalKey, "{}"))
            .Json.GetProperty("Token")
            .GetString()!;
        (await _server.SendAsync("POST", Tokens + "/reset", SecureServer.LocalKey, body)).IsRefusal(
            400,
            "unknown member " + member
        );
        Assert.Equal(200, (await _server.SendAsync("GET", Tokens, known)).Status);
    }

    [Theory]
    [InlineData(""" "Databases":{"Shop":"ro","shop":"rw"} """, "'shop' twice")]
    [InlineData(""" "Admin":true,"Databases":{"Shop":"ro"} """, "does not limit 'Admin'")]
    public async Task A_certificate_with_rights_that_contradict_each_other_is_refused(string rights, string sentence)
    {
        using var key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        string request = new CertificateRequest("CN=ignored", key, HashAlgorithmName.SHA256)
            .CreateSigningRequestPem()
            .ReplaceLineEndings("\\n");
        (
            await _server.SendAsync(
                "POST",
                Certificates,
                SecureServer.LocalKey,
                $$"""{"Name":"app","Request":"{{request}}",{{rights}} }"""
            )
        ).IsRefusal(400, sentence);
    }

    [Fact]
    public async Task A_client_gets_a_certificate_for_its_own_private_key()
    {
        // The client sends a signing request and keeps its key. The certificate's name and rights come from the call.
        using var key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        string request = new CertificateRequest("CN=ignored", key, HashAlgorithmName.SHA256)
            .CreateSigningRequestPem()
            .ReplaceLineEndings("\\n");
        var created = await _server.SendAsync(
            "POST",
            Certificates,
            SecureServer.LocalKey,
            $$$"""{"Name":"shop-app","Request":"{{{request}}}","Databases":{"Shop":"rw","Other":"ro"}}"""
        );
        Assert.True(created.Status == 201, created.Body);
        using var signed = X509Certificate2.CreateFromPem(created.Json.GetProperty("Certificate").GetString());
        using var certificate = signed.CopyWithPrivateKey(key);
        Assert.Equal("CN=shop-app", certificate.Subject);
        Assert.Equal(
            201,
            (
                await _server.SendAsync(
                    "POST",
                    "/databases/Shop/bulk_docs",
                    body: """{"Commands":[]}""",
                    certificate: certificate
                )
            ).Status
        );
        Assert.Equal(
            403,
            (
                await _server.SendAsync(
                    "POST",
                    "/databases/Other/bulk_docs",
                    body: """{"Commands":[]}""",
                    certificate: certificate
                )
            ).Status
        );
        var listed = Assert.Single(
            (await _server.SendAsync("GET", Certificates, SecureServer.LocalKey))
                .Json.GetProperty("Certificates")
                .EnumerateArray()
        );
        Assert.Equal(
            ("shop-app", AccessGate.ThumbprintOf(certificate)),
            (listed.GetProperty("Name").GetString(), listed.GetProperty("Thumbprint").GetString())
        );

        Assert.Equal(
            204,
            (await _server.SendAsync("DELETE", Certificates + "?name=shop-app", SecureServer.LocalKey)).Status
        );
        (await _server.SendAsync("GET", Docs, certificate: certificate)).IsRefusal(403, "not registered");
    }

    [Fact]
    public async Task A_weak_key_is_not_signed()
    {
        // RSA with fewer than 2048 bits, and an elliptic curve that clients do not know.
        using var rsa = RSA.Create(1024);
        using var elliptic = ECDsa.Create(ECCurve.NamedCurves.brainpoolP256r1);
        foreach (
            var weak in (CertificateRequest[])
                [
                    new("CN=a", rsa, HashAlgorithmName.SHA256, RSASignaturePadding.Pkcs1),
                    new("CN=a", elliptic, HashAlgorithmName.SHA256),
                ]
        )
        {
            string request = weak.CreateSigningRequestPem().ReplaceLineEndings("\\n");
            (
                await _server.SendAsync(
                    "POST",
                    Certificates,
                    SecureServer.LocalKey,
                    $$$"""{"Name":"a","Request":"{{{request}}}","Databases":{"Shop":"rw"}}"""
                )
            ).IsRefusal(400, "2048");
        }
    }

    [Theory]
    [InlineData("""{"Name":"a","Databases":{"Shop":"rw"}}""", "'Request' is missing")]
    [InlineData("""{"Name":"a","Request":"no pem","Databases":{"Shop":"rw"}}""", "not a PKCS #10")]
    [InlineData("""{"Name":"a","Databases":{"Shop":"rwx"}}""", "'ro' or 'rw'")]
    public async Task An_invalid_certificate_request_is_refused(string body, string sentence) =>
        (await _server.SendAsync("POST", Certificates, SecureServer.LocalKey, body)).IsRefusal(400, sentence);
}
