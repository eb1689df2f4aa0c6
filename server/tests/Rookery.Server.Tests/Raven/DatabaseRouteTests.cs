using System.Text.Json;
using Rookery.Platform;

namespace Rookery.Server.Tests.Raven;

/// <summary>Databases, topology, hilo, identities, statistics, and the refusal of unsupported routes.</summary>
public sealed class DatabaseRouteTests(RunningServer server) : IClassFixture<RunningServer>
{
    [Fact]
    public async Task Databases_are_created_described_listed_and_deleted()
    {
        var created = await server.SendAsync(
            "PUT",
            "/admin/databases?name=Shop&replicationFactor=1&raft-request-id=1",
            """{"DatabaseName":"Shop","Settings":{"DataDir":"b"},"Unknown":[]}"""
        );
        Assert.Equal(201, created.Status);
        Assert.Equal("Shop", created.Json.GetProperty("Name").GetString());
        Assert.True(created.Json.GetProperty("RaftCommandIndex").GetInt64() > 0);
        Assert.Equal("A", created.Json.GetProperty("Topology").GetProperty("Members")[0].GetString());
        Assert.Equal(server.Address.ToString().TrimEnd('/'), created.Json.GetProperty("NodesAddedTo")[0].GetString());
        (await server.SendAsync("PUT", "/admin/databases?name=shop", "{}")).IsRefusal(409, "shop");

        Assert.Equal(
            "Shop",
            (await server.SendAsync("GET", "/admin/databases?name=SHOP")).Json.GetProperty("DatabaseName").GetString()
        );
        Assert.Contains(
            "Shop",
            (await server.SendAsync("GET", "/databases?start=0&pageSize=100&namesOnly=true"))
                .Json.GetProperty("Databases")
                .EnumerateArray()
                .Select(name => name.GetString())
        );
        Assert.Equal(200, (await server.SendAsync("GET", "/databases")).Status);

        var deleted = await server.SendAsync(
            "DELETE",
            "/admin/databases?raft-request-id=2",
            """{"DatabaseNames":["shop"],"HardDelete":true}"""
        );
        Assert.Equal(200, deleted.Status);
        Assert.Equal(0, deleted.Json.GetProperty("PendingDeletes").GetArrayLength());
        Assert.Equal(404, (await server.SendAsync("GET", "/admin/databases?name=Shop")).Status);
    }

    /// <summary>In RavenDB, the presence of such a member shards the database, or expires its documents.</summary>
    [Theory]
    [InlineData("Sharding", "{}")]
    [InlineData("Sharding", """{"Shards":{}}""")]
    [InlineData("Expiration", "{}")]
    [InlineData("Refresh", "{}")]
    [InlineData("DataArchival", "{ }")]
    [InlineData("Revisions", "{}")]
    [InlineData("Client", "{}")]
    [InlineData("indexes", "{}")]
    [InlineData("Indexes", """{"a":{}}""")]
    [InlineData("SqlConnectionStrings", """{"a":null}""")]
    [InlineData("PeriodicBackups", "[{}]")]
    [InlineData("PeriodicBackups", "[null]")]
    [InlineData("Disabled", "true")]
    [InlineData("Encrypted", "\"yes\"")]
    [InlineData("EtagForBackup", "7")]
    [InlineData("LockMode", "\"PreventDeletesError\"")]
    [InlineData("DatabaseState", "\"RestoreInProgress\"")]
    [InlineData("Surprise", "0.5")]
    public async Task An_unsupported_member_of_a_record_is_refused_by_name(string member, string value)
    {
        string body = $$"""{"DatabaseName":"asking","{{member}}":{{value}}}""";
        (await server.SendAsync("PUT", "/admin/databases", body)).IsRefusal(501, $"'{member}'");
        Assert.Equal(404, (await server.SendAsync("GET", "/admin/databases?name=asking")).Status);
    }

    [Fact]
    public async Task A_record_whose_members_have_no_effect_is_accepted()
    {
        const string Record = """
            {"DatabaseName":"asks-nothing","Sharding":null,"Expiration":null,"Disabled":false,"Encrypted":false,
            "EtagForBackup":0,"Surprise":0.0,"ShardedDatabaseId":"","DeletionInProgress":{},"RollingIndexes":{},
            "DatabaseState":"Normal","LockMode":"Unlock","Topology":{"Members":["Z"]},"ConflictSolverConfig":{},
            "Sorters":{},"Analyzers":{},"Indexes":{},"IndexesHistory":{},"AutoIndexes":{},"Settings":{},
            "PeriodicBackups":[],"RavenConnectionStrings":{},"QueueConnectionStrings":{},"UnusedDatabaseIds":[]}
            """;
        Assert.Equal(201, (await server.SendAsync("PUT", "/admin/databases", Record)).Status);
    }

    /// <summary>Formerly, about 20,000 databases took all memory of a node with 128 MiB, also at each start.</summary>
    [Fact]
    public async Task The_number_of_databases_follows_from_the_memory()
    {
        // Room for 341 databases.
        var small = new RunningServer { Memory = new MemoryBudget(16 << 20) };
        await small.InitializeAsync();
        for (int i = 0; i < 341; i++)
        {
            Assert.Equal(201, (await small.SendAsync("PUT", $"/admin/databases?name=d{i}", "{}")).Status);
        }

        (await small.SendAsync("PUT", "/admin/databases?name=one-more", "{}")).IsRefusal(507, "at most 341");
        (await small.SendAsync("PUT", "/admin/databases?name=d0", "{}")).IsRefusal(409, "d0");
        await small.DisposeAsync();
    }

    [Theory]
    [InlineData("""{"DatabaseNames":["NAME"],"HardDelete":false}""", 501, "HardDelete")]
    [InlineData("""{"DatabaseNames":["NAME"],"HardDelete":"yes"}""", 400, "HardDelete")]
    [InlineData("""{"DatabaseNames":["NAME"],"HardDelete":true,"FromNodes":["B"]}""", 501, "FromNodes")]
    public async Task Invalid_or_unsupported_deletions_are_refused(string body, int status, string named)
    {
        string db = await server.CreateDatabaseAsync();
        (
            await server.SendAsync(
                "DELETE",
                "/admin/databases",
                body.Replace("NAME", db["/databases/".Length..], StringComparison.Ordinal)
            )
        ).IsRefusal(status, named);
        Assert.Equal(0, await server.CountAsync(db));
    }

    [Theory]
    [InlineData("""{"Encrypted":true}""", "Encrypted")]
    [InlineData("""{"LockMode":"PreventDeletesError"}""", "LockMode")]
    [InlineData("""{"Settings":{"Indexing.MapTimeoutInSec":"15"}}""", "Indexing.MapTimeoutInSec")]
    [InlineData("""{"Expiration":{"Disabled":true}}""", "Expiration")]
    [InlineData("""{"Refresh":{"Disabled":false,"RefreshFrequencyInSec":60}}""", "Refresh")]
    [InlineData("""{"DataArchival":{"Disabled":false}}""", "DataArchival")]
    [InlineData("""{"Unknown":"x"}""", "Unknown")]
    [InlineData("""{"Revisions":{"Default":{"Disabled":false}}}""", "Revisions")]
    [InlineData("""{"Indexes":{"A":{"Maps":[[{}]]}},"Settings":{}}""", "Indexes")]
    public async Task A_record_with_unsupported_features_is_refused_by_name(string record, string named)
    {
        (await server.SendAsync("PUT", "/admin/databases?name=featured", record)).IsRefusal(501, named);
        (await server.SendAsync("GET", "/databases/featured/stats")).IsRefusal(503, "featured");
    }

    /// <summary>Clients read the record, change a member and send it with its etag.</summary>
    [Fact]
    public async Task A_record_is_updated_with_its_etag()
    {
        string db = await server.CreateDatabaseAsync();
        string name = db["/databases/".Length..];
        const string Index = """{"Indexes":[{"Name":"A","Maps":["from u in docs.Us select new { u.n }"]}]}""";
        Assert.Equal(201, (await server.SendAsync("PUT", db + "/admin/indexes", Index)).Status);
        var record = await server.SendAsync("GET", "/admin/databases?name=" + name);
        string etag = $"\"{record.Json.GetProperty("Etag").GetInt64()}\"";
        string url = $"/admin/databases?name={name}&replicationFactor=1";
        var updated = await server.SendAsync("PUT", url, record.Body, ("ETag", etag));
        Assert.Equal((201, name), (updated.Status, updated.Json.GetProperty("Name").GetString()));
        Assert.True(updated.Json.GetProperty("RaftCommandIndex").GetInt64() > 0);
        (await server.SendAsync("PUT", url, """{"Indexes":{"B":{"Maps":["x"]}}}""", ("ETag", etag))).IsRefusal(
            501,
            "'B'"
        );
        var other = await server.SendAsync("PUT", url, record.Body, ("ETag", "\"999\""));
        Assert.Equal(
            (409, true),
            (other.Status, other.Body.Contains("ConcurrencyException", StringComparison.Ordinal))
        );
        (await server.SendAsync("PUT", "/admin/databases?name=none", "{}", ("ETag", "\"1\""))).IsRefusal(400, "'none'");
        Assert.Equal(201, (await server.SendAsync("PUT", "/admin/databases", record.Body, ("ETag", etag))).Status);
        (await server.SendAsync("PUT", "/admin/databases", "{}", ("ETag", etag))).IsRefusal(400, "'DatabaseName'");
        Assert.Equal(409, (await server.SendAsync("PUT", url, "{}", ("ETag", "\"undefined\""))).Status);
    }

    [Fact]
    public async Task A_record_with_empty_members_is_accepted()
    {
        var created = await server.SendAsync(
            "PUT",
            "/admin/databases?name=plain",
            """
            {"DatabaseName":"plain","Encrypted":false,"Indexes":{},"RavenEtls":[],"Revisions":null,
            "Topology":{"Members":[]},"LockMode":"Unlock","DatabaseState":"Normal","EtagForBackup":0,"Client":null,
            "Settings":{} }
            """
        );
        Assert.Equal(201, created.Status);
    }

    [Theory]
    [InlineData("GET", "/databases/nope/docs?id=a")]
    [InlineData("PUT", "/databases/nope/docs?id=a")]
    [InlineData("POST", "/databases/nope/bulk_insert")]
    [InlineData("GET", "/databases/nope/changes")]
    [InlineData("GET", "/databases/nope/indexes")]
    [InlineData("GET", "/topology?name=nope")]
    public async Task A_missing_database_is_named_in_a_header(string method, string url)
    {
        var answer = await server.SendAsync(method, url, method is "GET" ? null : "{}");
        answer.IsRefusal(503, "nope");
        Assert.Equal("nope", Assert.Single(answer.Headers.GetValues("Database-Missing")));
        Assert.EndsWith(
            ".DatabaseDoesNotExistException",
            answer.Json.GetProperty("Type").GetString(),
            StringComparison.Ordinal
        );
    }

    [Theory]
    [InlineData("PUT", "/admin/databases?name=a/b", "{}", "letters")]
    [InlineData("PUT", "/admin/databases", "{}", "name")]
    [InlineData("PUT", "/admin/databases?name=x", "{", "JSON")]
    [InlineData("PUT", "/admin/databases?name=x", "[]", "object")]
    [InlineData("PUT", "/admin/databases?name=x&replicationFactor=3", "{}", "replicationFactor")]
    [InlineData("PUT", "/admin/databases?name=x1", """{"DatabaseName":"x2"}""", "x2")]
    [InlineData("DELETE", "/admin/databases", "{}", "DatabaseNames")]
    [InlineData("DELETE", "/admin/databases", """{"DatabaseNames":"x"}""", "DatabaseNames")]
    [InlineData("GET", "/topology", null, "name")]
    public async Task Invalid_requests_about_databases_are_refused(
        string method,
        string url,
        string? body,
        string named
    ) => (await server.SendAsync(method, url, body)).IsRefusal(400, named);

    [Fact]
    public async Task The_topology_has_the_address_that_the_client_used()
    {
        string db = await server.CreateDatabaseAsync();
        string url = server.Address.ToString().TrimEnd('/');
        var node = (
            await server.SendAsync(
                "GET",
                $"/topology?name={db["/databases/".Length..]}&first-topology-update&applicationIdentifier=x"
            )
        ).Json.GetProperty("Nodes")[0];
        Assert.Equal(url, node.GetProperty("Url").GetString());
        Assert.Equal("A", node.GetProperty("ClusterTag").GetString());
        Assert.Equal("Member", node.GetProperty("ServerRole").GetString());
        var cluster = (await server.SendAsync("GET", "/cluster/topology?first-topology-update")).Json;
        Assert.Equal(url, cluster.GetProperty("Topology").GetProperty("Members").GetProperty("A").GetString());
        Assert.Equal("A", cluster.GetProperty("Leader").GetString());
        Assert.Equal(
            "Leader",
            (await server.SendAsync("GET", "/cluster/node-info")).Json.GetProperty("CurrentState").GetString()
        );
        Assert.Equal(204, (await server.SendAsync("GET", db + "/healthcheck")).Status);
        Assert.Equal(
            JsonValueKind.Null,
            (await server.SendAsync("GET", db + "/configuration/client")).Json.GetProperty("Configuration").ValueKind
        );
        Assert.Equal(
            "7.2",
            (await server.SendAsync("GET", "/build/version")).Json.GetProperty("ProductVersion").GetString()
        );
    }

    [Fact]
    public async Task Only_clients_with_an_old_topology_are_told_to_refresh_it()
    {
        string db = await server.CreateDatabaseAsync();
        long etag = (await server.SendAsync("GET", "/cluster/topology")).Json.GetProperty("Etag").GetInt64();
        foreach (
            var (url, header) in ((string, string)[])
                [(db + "/stats", "Topology-Etag"), ("/databases", "Cluster-Topology-Etag")]
        )
        {
            Assert.True(
                (await server.SendAsync("GET", url, (string?)null, (header, $"\"{etag - 1}\""))).Headers.Contains(
                    "Refresh-Topology"
                )
            );
            Assert.False(
                (await server.SendAsync("GET", url, (string?)null, (header, $"\"{etag}\""))).Headers.Contains(
                    "Refresh-Topology"
                )
            );
        }
    }

    [Fact]
    public async Task Hilo_ranges_advance_and_can_be_returned()
    {
        string db = await server.CreateDatabaseAsync();
        const string First =
            "lastBatchSize=0&tag=users&lastRangeAt=1970-01-01T00%3A00%3A00.0000000Z&identityPartsSeparator=/&lastMax=0";
        var first = (await server.SendAsync("GET", db + "/hilo/next?" + First)).Json;
        Assert.Equal(
            ("users/", 1, 32, 32, "A"),
            (
                first.GetProperty("Prefix").GetString(),
                first.GetProperty("Low").GetInt32(),
                first.GetProperty("High").GetInt32(),
                first.GetProperty("LastSize").GetInt32(),
                first.GetProperty("ServerTag").GetString()
            )
        );
        Assert.EndsWith("Z", first.GetProperty("LastRangeAt").GetString(), StringComparison.Ordinal);
        var second = (
            await server.SendAsync(
                "GET",
                db
                    + "/hilo/next?lastBatchSize=32&tag=users&lastRangeAt="
                    + first.GetProperty("LastRangeAt").GetString()
                    + $"&identityPartsSeparator=/&lastMax=32"
            )
        ).Json;
        Assert.Equal((33, 96), (second.GetProperty("Low").GetInt32(), second.GetProperty("High").GetInt32()));
        Assert.Equal(204, (await server.SendAsync("PUT", db + "/hilo/return?tag=users&end=96&last=40")).Status);
        Assert.Equal(
            40,
            (await server.SendAsync("GET", db + "/docs?id=Raven/Hilo/users"))
                .Json.GetProperty("Results")[0]
                .GetProperty("Max")
                .GetInt32()
        );
        (await server.SendAsync("GET", db + "/hilo/next?lastMax=0")).IsRefusal(400, "tag");
        (await server.SendAsync("GET", db + "/hilo/next?tag=users&lastRangeAt=yesterday")).IsRefusal(
            400,
            "lastRangeAt"
        );
        (await server.SendAsync("GET", db + "/hilo/next?tag=users&identityPartsSeparator=--")).IsRefusal(
            400,
            "identityPartsSeparator"
        );
    }

    [Fact]
    public async Task A_hilo_request_beyond_the_largest_number_is_refused()
    {
        string db = await server.CreateDatabaseAsync();
        await server.SendAsync("GET", db + "/hilo/next?tag=users");
        (await server.SendAsync("GET", db + "/hilo/next?tag=users&lastMax=9223372036854775807")).IsRefusal(
            400,
            "lastMax"
        );
        Assert.Equal(
            33,
            (await server.SendAsync("GET", db + "/hilo/next?tag=users")).Json.GetProperty("Low").GetInt64()
        );
        (
            await server.SendAsync("POST", db + "/identity/seed?name=users%7C&value=9223372036854775807&force=true")
        ).IsRefusal(400, "value");
        Assert.Equal(
            1,
            (await server.SendAsync("POST", db + "/identity/next?name=users%7C"))
                .Json.GetProperty("NewIdentityValue")
                .GetInt64()
        );
    }

    [Fact]
    public async Task Identities_ignore_case_like_ids()
    {
        string db = await server.CreateDatabaseAsync();
        await server.SendAsync("POST", db + "/identity/seed?name=%C3%84pfel%7C&value=100");
        Assert.Equal(
            "\u00E4pfel/101",
            (await server.SendAsync("PUT", db + "/docs?id=%C3%A4pfel%7C", "{}")).Json.GetProperty("Id").GetString()
        );
        Assert.Equal(
            102,
            (await server.SendAsync("POST", db + "/identity/next?name=%C3%84PFEL%7C"))
                .Json.GetProperty("NewIdentityValue")
                .GetInt64()
        );
    }

    [Fact]
    public async Task Identities_count_without_gaps_and_a_repeated_request_counts_once()
    {
        string db = await server.CreateDatabaseAsync();
        async Task<long> NextAsync(string requestId) =>
            (await server.SendAsync("POST", $"{db}/identity/next?name=users%7C&raft-request-id={requestId}"))
                .Json.GetProperty("NewIdentityValue")
                .GetInt64();
        Assert.Equal(1, await NextAsync("a"));
        Assert.Equal(1, await NextAsync("a"));
        Assert.Equal(2, await NextAsync("b"));
        Assert.Equal(
            100,
            (await server.SendAsync("POST", db + "/identity/seed?name=users%7C&value=100&force=false"))
                .Json.GetProperty("NewSeedValue")
                .GetInt64()
        );
        Assert.Equal(101, await NextAsync("c"));
        Assert.Equal("""{"users|":101}""", (await server.SendAsync("GET", db + "/debug/identities")).Body);
        (await server.SendAsync("POST", db + "/identity/seed?name=users%7C")).IsRefusal(400, "value");
        (await server.SendAsync("POST", db + "/identity/next")).IsRefusal(400, "name");
    }

    [Fact]
    public async Task Statistics_count_documents_tombstones_and_collections()
    {
        string db = await server.CreateDatabaseAsync();
        foreach (string id in (string[])["users/1", "users/2", "users/3"])
        {
            await server.SendAsync("PUT", $"{db}/docs?id={id}", """{"@metadata":{"@collection":"Users"}}""");
        }

        await server.SendAsync("PUT", db + "/docs?id=x", "{}");
        await server.SendAsync("DELETE", db + "/docs?id=users/3");
        var stats = (await server.SendAsync("GET", db + "/stats")).Json;
        Assert.Equal(
            (3, 1, 0),
            (
                stats.GetProperty("CountOfDocuments").GetInt32(),
                stats.GetProperty("CountOfTombstones").GetInt32(),
                stats.GetProperty("CountOfIndexes").GetInt32()
            )
        );
        Assert.Equal(
            stats.GetProperty("LastDatabaseEtag").GetInt64(),
            long.Parse(stats.GetProperty("DatabaseChangeVector").GetString()!.Split(':', '-')[1])
        );

        // A bulk insert of an unchanged document changes nothing.
        var bulk = await server.SendAsync(
            "POST",
            db + "/bulk_insert?id=1&skipOverwriteIfUnchanged=true",
            """[{"Id":"x","Type":"PUT","Document":{}}]"""
        );
        Assert.Equal(201, bulk.Status);
        Assert.Equal(
            stats.GetProperty("DatabaseChangeVector").GetString(),
            (await server.SendAsync("GET", db + "/stats")).Json.GetProperty("DatabaseChangeVector").GetString()
        );
        Assert.Equal(0, stats.GetProperty("Indexes").GetArrayLength());
        var whole = (await server.SendAsync("GET", db + "/stats/detailed")).Json;
        Assert.All(
            (string[])["CountOfIdentities", "CountOfTimeSeriesDeletedRanges", "CountOfRemoteAttachments"],
            member => Assert.Equal(0, whole.GetProperty(member).GetInt32())
        );
        var collections = (await server.SendAsync("GET", db + "/collections/stats")).Json;
        Assert.Equal(3, collections.GetProperty("CountOfDocuments").GetInt32());
        Assert.Equal(2, collections.GetProperty("Collections").GetProperty("Users").GetInt32());
        Assert.Equal(1, collections.GetProperty("Collections").GetProperty("@empty").GetInt32());
        var detailed = (await server.SendAsync("GET", db + "/collections/stats/detailed"))
            .Json.GetProperty("Collections")
            .GetProperty("Users");
        Assert.Equal("Users", detailed.GetProperty("Name").GetString());
        Assert.True(detailed.GetProperty("Size").GetProperty("SizeInBytes").GetInt64() > 0);
    }

    /// <summary>
    /// Formerly, the answer was built in memory as a whole, so with 128 MiB an answer with 100,000 long names was
    /// always refused.
    /// </summary>
    [Theory]
    [InlineData("/collections/stats")]
    [InlineData("/collections/stats/detailed")]
    public async Task Statistics_of_many_collections_are_sent_completely_in_parts(string route)
    {
        const int count = 3000;
        string db = await server.CreateDatabaseAsync();
        string commands = string.Join(
            ',',
            Enumerable
                .Range(0, count)
                .Select(i =>
                    $$$"""{"Id":"{{{i}}}","Type":"PUT","Document":{"@metadata":{"@collection":"{{{Name(i)}}}"} } }"""
                )
        );
        var stored = await server.SendAsync("POST", db + "/bulk_docs", $$"""{"Commands":[{{commands}}]}""");
        Assert.Equal(201, stored.Status);
        var answer = await server.SendAsync("GET", db + route);
        Assert.True(answer.Headers.TransferEncodingChunked);
        Assert.Equal(
            Enumerable.Range(0, count).Select(Name).Order(StringComparer.OrdinalIgnoreCase),
            answer.Json.GetProperty("Collections").EnumerateObject().Select(static collection => collection.Name)
        );

        static string Name(int i) => new string(i % 2 == 0 ? 'N' : 'n', 300) + i;
    }

    [Fact]
    public async Task Many_identities_are_listed_completely_in_parts()
    {
        const int count = 1000;
        string db = await server.CreateDatabaseAsync();
        await Parallel.ForAsync(
            0,
            count,
            async (i, _) => await server.SendAsync("POST", $"{db}/identity/seed?name={Name(i)}&value={i + 1}")
        );
        var answer = await server.SendAsync("GET", db + "/debug/identities");
        Assert.True(answer.Headers.TransferEncodingChunked);
        Assert.Equal(
            Enumerable.Range(0, count).Select(static i => (Name(i) + "|", i + 1)).Order(),
            answer.Json.EnumerateObject().Select(static identity => (identity.Name, identity.Value.GetInt32())).Order()
        );

        static string Name(int i) => new string('n', 200) + i;
    }

    [Theory]
    [InlineData("GET", "/indexes/performance", "indexes")]
    [InlineData("GET", "/indexes/history", "indexes")]
    [InlineData("POST", "/attachments?id=a&name=f", "attachments")]
    [InlineData("DELETE", "/attachments/bulk", "attachments")]
    [InlineData("GET", "/timeseries?docId=a", "time series")]
    [InlineData("GET", "/revisions/size?id=a", "revisions")]
    [InlineData("POST", "/admin/revisions/conflicts/config", "revisions")]
    [InlineData("POST", "/admin/revisions/orphaned/adopt", "revisions")]
    [InlineData("POST", "/admin/revisions-bin-cleaner/config", "revisions")]
    [InlineData("POST", "/cmpxchg?key=k", "not supported")]
    [InlineData("POST", "/subscriptions/try", "subscriptions")]
    [InlineData("POST", "/smuggler/import/csv", "smuggler")]
    [InlineData("POST", "/studio/sample-data", "sample data")]
    [InlineData("GET", "/queries?query=from+A", "queries in the URL")]
    [InlineData("OPTIONS", "/queries", "queries in the URL")]
    [InlineData("GET", "/docs?startsWith=a&include=b", "include")]
    [InlineData("GET", "/docs?startsWith=a&counter=b", "counter")]
    [InlineData("POST", "/admin/tasks/state?key=1&type=PullReplicationAsHub&disable=true", "ongoing tasks")]
    [InlineData("GET", "/no/such/route.html", "not supported")]
    [InlineData("GET", "/no/such/route", "not supported")]
    [InlineData("TRACE", "/docs", "not supported")]
    public async Task Unsupported_routes_of_a_database_are_501_by_name_and_never_404(
        string method,
        string path,
        string named
    ) =>
        (
            await server.SendAsync(
                method,
                await server.CreateDatabaseAsync() + path,
                method is "PUT" or "POST" or "PATCH" ? "{}" : null
            )
        ).IsRefusal(501, named);

    [Theory]
    [InlineData("POST", "/admin/backup/database")]
    [InlineData("GET", "/admin/certificates")]
    [InlineData("POST", "/livez")]
    [InlineData("GET", "/periodic-backup/status?name=a")]
    [InlineData("DELETE", "/admin/databases/node?name=a&node=B")]
    public async Task Unsupported_routes_of_the_server_are_501_by_name(string method, string path) =>
        (await server.SendAsync(method, path, method is "POST" ? "{}" : null)).IsRefusal(501, "not supported");
}
