using System.Text;
using Rookery.Documents.Commands;

namespace Rookery.Server.Tests.Raven;

/// <summary>
/// Indexes that the log defines and this node does not maintain, because another version stored a definition that this
/// one refuses.
/// </summary>
public sealed class IndexNotMaintainedTests : IAsyncLifetime
{
    // Its reduce makes rows that cannot be reduced again.
    private const string RefusedDefinition =
        """{"Type":"Static","Maps":["map('Users', u => ({ k: u.k, d: u.d }))"],"Reduce":"groupBy(x => x.k).aggregate(g => ({ k: g.key, d: 'none' + g.values.length }))","Fields":[],"Configuration":{}}""";

    private const string UserBatch =
        """{"Commands":[{"Id":"users/1","Type":"PUT","Document":{"City":"Ulm","@metadata":{"@collection":"Users"}}}]}""";

    private readonly RunningServer _server = new() { IndexTroubleFound = static _ => { } };

    public Task InitializeAsync() => _server.InitializeAsync();

    public Task DisposeAsync() => _server.DisposeAsync();

    /// <summary>Definitions that this version refuses or cannot read.</summary>
    public static TheoryData<string> Definitions { get; } =
        new()
        {
            RefusedDefinition,
            """{"Type":"Later","Maps":["from u in docs.Users select new { u.City }"]}""",
            """{"Type":"Static","Maps":[{"Text":"of another version"}],"Reduce":7}""",
            """{"Type":"Static","Maps":[null]}""",
            """{"Type":"Static","Maps":[null],"Fields":[],"Configuration":{}}""",
            """{"Type":"Later"}""",
            "[]",
            "no JSON",
        };

    [Theory]
    [MemberData(nameof(Definitions))]
    public async Task Indexes_that_are_not_maintained_are_listed_with_the_reason(string definition)
    {
        string db = await CreateDatabaseWithIndexAsync(definition);
        foreach (string path in (string[])["indexes/stats", "indexes/progress", "indexes", "indexes/errors"])
        {
            var listed = await _server.SendAsync("GET", $"{db}/{path}");
            Assert.True(listed.Status == 200, $"{path}: {listed.Body}");
            Assert.Equal("Old", listed.Json.GetProperty("Results")[0].GetProperty("Name").GetString());
        }

        var stats = (await _server.SendAsync("GET", db + "/indexes/stats")).Json.GetProperty("Results")[0];
        Assert.Equal("Error", stats.GetProperty("State").GetString());
        Assert.StartsWith(
            "Not maintained on this node. ",
            stats.GetProperty("Trouble").GetString(),
            StringComparison.Ordinal
        );
        Assert.Equal(200, (await _server.SendAsync("GET", db + "/stats")).Status);
        Assert.Equal(200, (await _server.SendAsync("GET", db + "/indexes/status")).Status);
        Assert.Equal(200, (await _server.SendAsync("GET", db + "/indexes/staleness?name=Old")).Status);
        Assert.Equal(204, (await _server.SendAsync("DELETE", db + "/indexes?name=Old")).Status);
    }

    [Fact]
    public async Task The_answer_to_a_definition_says_that_the_node_has_no_place_for_it()
    {
        const int Places = 64; // the indexes of this server have 64 MiB
        string db = await _server.CreateDatabaseAsync();
        var definitions = Enumerable
            .Range(0, Places + 1)
            .Select(static i => $$"""{"Name":"i{{i:D2}}","Maps":["from u in docs.Users select new { u.n }"]}""");
        var put = await _server.SendAsync(
            "PUT",
            db + "/admin/indexes",
            $$"""{"Indexes":[{{string.Join(',', definitions)}}]}"""
        );
        Assert.Equal(201, put.Status);
        var results = put.Json.GetProperty("Results").EnumerateArray().ToArray();
        Assert.All(results[..Places], static result => Assert.False(result.TryGetProperty("Trouble", out _)));
        Assert.StartsWith(
            "The index is not maintained on this node. This node has memory for 64 indexes",
            results[Places].GetProperty("Trouble").GetString(),
            StringComparison.Ordinal
        );
    }

    [Theory]
    [InlineData("RESET", "indexes?name=Old", 500)]
    [InlineData("POST", "admin/indexes/stop?name=Old", 500)]
    [InlineData("POST", "admin/indexes/start?name=Old", 500)]
    [InlineData("GET", "indexes/terms?name=Old&field=City", 503)]
    public async Task Actions_on_indexes_that_are_not_maintained_are_refused_with_the_reason(
        string method,
        string route,
        int status
    )
    {
        string db = await CreateDatabaseWithIndexAsync(RefusedDefinition);
        var stats = (await _server.SendAsync("GET", db + "/indexes/stats")).Json.GetProperty("Results")[0];
        string why = stats.GetProperty("Trouble").GetString()!["Not maintained on this node. ".Length..];
        (await _server.SendAsync(method, $"{db}/{route}")).IsRefusal(
            status,
            $"The index 'Old' is not maintained on this node. {why}"
        );
        (await _server.SendAsync(method, $"{db}/{route.Replace("Old", "None")}")).IsRefusal(
            404,
            "There is no index 'None'."
        );
    }

    [Fact]
    public async Task A_batch_waiting_for_an_index_that_is_not_maintained_fails_at_once()
    {
        string db = await CreateDatabaseWithIndexAsync(RefusedDefinition);
        var answer = await _server.SendAsync("POST", db + "/bulk_docs?waitForIndexesTimeout=01:00:00", UserBatch);
        answer.IsRefusal(
            500,
            "The batch is stored, but the server could not verify that its indexes include it. The index 'Old' is not "
                + "maintained on this node: "
        );
        Assert.Equal("Raven.Client.Exceptions.RavenTimeoutException", answer.Json.GetProperty("Type").GetString());
        Assert.Equal(1, await _server.CountAsync(db));
        string lenient = "/bulk_docs?waitForIndexesTimeout=01:00:00&waitForIndexThrow=false";
        Assert.Equal(201, (await _server.SendAsync("POST", db + lenient, UserBatch)).Status);
        string named = "/bulk_docs?waitForIndexesTimeout=01:00:00&waitForSpecificIndex=Old";
        (await _server.SendAsync("POST", db + named, UserBatch)).IsRefusal(500, "The index 'Old' is not");
    }

    // 201 is the answer if the batch waits for nothing, 500 if it waits for the index that is not maintained. The batch
    // has a document of the collection Users.
    [Theory]
    [InlineData("map('Dogs', d => ({ k: d.k, d: d.d }))", 201)]
    [InlineData("map('users', u => ({ k: u.k, d: u.d }))", 500)]
    [InlineData("map('Dogs', d => ({ k: load(d.u, 'Users').k, d: d.d }))", 500)]
    [InlineData("map('@all_docs', d => ({ k: d.k, d: d.d }))", 500)]
    [InlineData("a map of another version", 500)]
    public async Task A_batch_waits_for_indexes_that_may_cover_its_changes(string map, int status)
    {
        string db = await CreateDatabaseWithIndexAsync(
            RefusedDefinition.Replace("map('Users', u => ({ k: u.k, d: u.d }))", map)
        );
        string path = db + "/bulk_docs?waitForIndexesTimeout=300";
        Assert.Equal(status, (await _server.SendAsync("POST", path, UserBatch)).Status);
    }

    // The patched document is of the collection Users; a script may write documents of any other.
    [Theory]
    [InlineData("this.a = 1", 201)]
    [InlineData("put('dogs/1', { '@metadata': { '@collection': 'Dogs' } })", 500)]
    [InlineData("if (this.none) del('dogs/1')", 500)]
    public async Task A_batch_waits_for_all_indexes_if_a_script_may_write_other_documents(string script, int status)
    {
        string db = await CreateDatabaseWithIndexAsync(
            RefusedDefinition.Replace(
                "map('Users', u => ({ k: u.k, d: u.d }))",
                "map('Dogs', d => ({ k: d.k, d: d.d }))"
            )
        );
        const string Store =
            """{"Commands":[{"Type":"PUT","Id":"users/1","Document":{"@metadata":{"@collection":"Users"}}}]}""";
        Assert.Equal(201, (await _server.SendAsync("POST", db + "/bulk_docs", Store)).Status);
        string patch = $$$"""{"Commands":[{"Type":"PATCH","Id":"users/1","Patch":{"Script":"{{{script}}}"}}]}""";
        string path = db + "/bulk_docs?waitForIndexesTimeout=300";
        Assert.Equal(status, (await _server.SendAsync("POST", path, patch)).Status);
    }

    [Fact]
    public async Task An_unreadable_reduce_does_not_hide_the_collections_of_the_maps()
    {
        string db = await CreateDatabaseWithIndexAsync(
            """{"Type":"Static","Maps":["from d in docs.Dogs select new { d.Name }"],"Reduce":"of another version","Fields":[],"Configuration":{}}"""
        );
        string path = db + "/bulk_docs?waitForIndexesTimeout=300";
        Assert.Equal(201, (await _server.SendAsync("POST", path, UserBatch)).Status);
    }

    [Fact]
    public async Task A_definition_that_replaces_a_refused_one_is_waited_for()
    {
        string db = await CreateDatabaseWithIndexAsync(RefusedDefinition);
        string definition = """{"Indexes":[{"Name":"Old","Maps":["from u in docs.Users select new { u.City }"]}]}""";
        _server.HoldsIndexing = true;
        Assert.Equal(201, (await _server.SendAsync("PUT", db + "/admin/indexes", definition)).Status);
        (await _server.SendAsync("POST", db + "/bulk_docs?waitForIndexesTimeout=300", UserBatch)).IsRefusal(
            500,
            "The index 'Old' did not catch up"
        );
        var waiting = _server.SendAsync("POST", db + "/bulk_docs?waitForIndexesTimeout=30000", UserBatch);
        _server.HoldsIndexing = false;
        Assert.Equal(201, (await waiting).Status);
    }

    [Fact]
    public async Task A_batch_waits_for_a_just_defined_index_of_its_collection_and_for_no_other()
    {
        string db = await _server.CreateDatabaseAsync();
        string definition =
            """{"Indexes":[{"Name":"New","Maps":["from u in docs.Users select new { u.City }"]},{"Name":"Other","Maps":["from d in docs.Dogs select new { d.Name }"]}]}""";
        _server.HoldsIndexing = true;
        Assert.Equal(201, (await _server.SendAsync("PUT", db + "/admin/indexes", definition)).Status);
        (await _server.SendAsync("POST", db + "/bulk_docs?waitForIndexesTimeout=300", UserBatch)).IsRefusal(
            500,
            "The index 'New' did not catch up"
        );
        var waiting = _server.SendAsync("POST", db + "/bulk_docs?waitForIndexesTimeout=30000", UserBatch);
        _server.HoldsIndexing = false;
        Assert.Equal(201, (await waiting).Status);
        var stats = (await _server.SendAsync("GET", db + "/indexes/stats?name=New")).Json.GetProperty("Results")[0];
        Assert.False(stats.GetProperty("IsStale").GetBoolean());
    }

    /// <summary>
    /// Creates a database whose log defines an index with this definition, and waits until this node has tried it.
    /// </summary>
    private async Task<string> CreateDatabaseWithIndexAsync(string definition)
    {
        string db = await _server.CreateDatabaseAsync();
        Assert.True(_server.Node.Databases.TryGet(db.Split('/')[^1], out var database));
        using var writer = new IndexWriter(database.Number, key: default);
        writer.Put("Old", Encoding.UTF8.GetBytes(definition), default);
        var outcome = await _server.Node.Consensus.ProposeAsync(writer.Complete(), CancellationToken.None);
        Assert.Null(outcome.Rejection);
        using var timeout = new CancellationTokenSource(TimeSpan.FromSeconds(60));
        while (_server.Context.Indexes.WhyNotMaintained(database, "Old") is null)
        {
            await Task.Delay(10, timeout.Token);
        }

        return db;
    }
}
