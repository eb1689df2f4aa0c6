using Rookery.Documents.Databases;
using Rookery.Server.Raven;
using Rookery.Server.Raven.Batches;
using Rookery.Simulation;

namespace Rookery.Server.Tests.Raven;

/// <summary>A request that waits for an index learns why it will not catch up, long before its own timeout.</summary>
public sealed class IndexWaitTests : IAsyncLifetime
{
    private const string LongWait = "01:00:00";

    private const string ByCity =
        """{"Indexes":[{"Name":"ByCity","Maps":["from u in docs.Users select new { u.City }"]}]}""";

    private const string ByCityReduced = """
        {"Indexes":[{"Name":"ByCity","Maps":["from u in docs.Users select new { u.City, n = 1 }"],
        "Reduce":"from r in results group r by r.City into g select new { City = g.Key, n = g.Sum(x => x.n) }"}]}
        """;

    private const string UserBatch = """
        {"Commands":[{"Id":"users/1","Type":"PUT",
        "Document":{"City":"Ulm","@metadata":{"@collection":"Users"}}}]}
        """;

    // Ends a test that would otherwise hang; a passing test never waits for it.
    private static readonly TimeSpan Guard = TimeSpan.FromSeconds(60);

    private readonly RunningServer _server = new() { IndexTroubleFound = static _ => { } };

    public Task InitializeAsync() => _server.InitializeAsync();

    public Task DisposeAsync() => _server.DisposeAsync();

    [Theory]
    [InlineData("admin/indexes/stop?name=ByCity", "is paused on this node")]
    [InlineData("admin/indexes/stop", "is paused on this node")]
    [InlineData("admin/indexes/disable?name=ByCity", "is disabled")]
    public async Task A_waiting_query_ends_when_its_index_is_paused(string route, string why)
    {
        var database = await DefineAsync(ByCity);
        string db = "/databases/" + database.Name;
        _server.HoldsIndexing = true;
        Assert.Equal(201, (await _server.SendAsync("POST", db + "/bulk_docs", UserBatch)).Status);
        var query = _server.SendAsync("POST", db + "/queries", QueryOf("ByCity"));
        await AwaitWaiterAsync(database, "ByCity");
        Assert.Equal(204, (await _server.SendAsync("POST", $"{db}/{route}")).Status);
        _server.HoldsIndexing = false;
        (await query.WaitAsync(Guard)).IsRefusal(500, $"The index 'ByCity' {why}");
    }

    [Fact]
    public async Task A_pause_of_all_indexes_includes_those_defined_just_before()
    {
        using var opening = new HeldOpening(TimeProvider.System);
        await opening.Server.InitializeAsync();
        try
        {
            string db = await opening.DefineAsync(30);
            Assert.Equal(["Running"], await ReadStatusAsync());
            var stop = opening.Server.SendAsync("POST", db + "/admin/indexes/stop");
            await Task.WhenAny(stop, Task.Delay(500));
            opening.Release();
            Assert.Equal(204, (await stop).Status);
            Assert.Equal(["Paused"], await ReadStatusAsync());

            async Task<IEnumerable<string?>> ReadStatusAsync()
            {
                var indexes = (await opening.Server.SendAsync("GET", db + "/indexes/status")).Json;
                Assert.Equal(30, indexes.GetProperty("Indexes").GetArrayLength());
                return indexes
                    .GetProperty("Indexes")
                    .EnumerateArray()
                    .Select(static index => index.GetProperty("Status").GetString())
                    .Distinct();
            }
        }
        finally
        {
            await opening.EndAsync();
        }
    }

    /// <summary>The clock stands still during the resumption, so a resumption that waits would never end.</summary>
    [Fact]
    public async Task A_pause_of_all_indexes_names_an_unopened_one_and_a_resumption_does_not_wait()
    {
        var time = new SimulatedTimeProvider();
        using var opening = new HeldOpening(time);
        await opening.Server.InitializeAsync();
        try
        {
            string db = await opening.DefineAsync(3);
            var start = opening.Server.SendAsync("POST", db + "/admin/indexes/start");
            Assert.Equal(204, (await start.WaitAsync(Guard)).Status);
            var stop = opening.Server.SendAsync("POST", db + "/admin/indexes/stop");
            while (!stop.IsCompleted)
            {
                time.Advance(TimeSpan.FromSeconds(1));
                await Task.WhenAny(stop, Task.Delay(10));
            }

            (await stop).IsRefusal(503, "'I0'");
        }
        finally
        {
            await opening.EndAsync();
        }
    }

    /// <summary>
    /// The index is not open while the query waits, so the previous definition never answers. A query that arrives
    /// after the change is refused, too.
    /// </summary>
    [Fact]
    public async Task Metadata_only_is_refused_if_the_index_became_a_map_reduce_one_meanwhile()
    {
        using var held = new HeldOpening(TimeProvider.System);
        await held.Server.InitializeAsync();
        try
        {
            string db = await held.DefineAsync(0);
            Assert.Equal(201, (await held.Server.SendAsync("PUT", db + "/admin/indexes", ByCity)).Status);
            Assert.Equal(201, (await held.Server.SendAsync("POST", db + "/bulk_docs", UserBatch)).Status);
            var query = held.Server.SendAsync("POST", db + "/queries?metadataOnly=true", QueryOf("ByCity"));
            await Task.WhenAny(query, Task.Delay(500));
            Assert.Equal(201, (await held.Server.SendAsync("PUT", db + "/admin/indexes", ByCityReduced)).Status);
            held.Release();
            (await query.WaitAsync(Guard)).IsRefusal(501, "'metadataOnly'");
        }
        finally
        {
            await held.EndAsync();
        }
    }

    [Fact]
    public async Task A_batch_keeps_waiting_for_an_index_that_is_paused_meanwhile()
    {
        var database = await DefineAsync(ByCity);
        string db = "/databases/" + database.Name;
        _server.HoldsIndexing = true;
        var batch = _server.SendAsync("POST", $"{db}/bulk_docs?waitForIndexesTimeout={LongWait}", UserBatch);
        await AwaitWaiterAsync(database, "ByCity");
        Assert.Equal(204, (await _server.SendAsync("POST", db + "/admin/indexes/stop?name=ByCity")).Status);
        Assert.Equal(204, (await _server.SendAsync("POST", db + "/admin/indexes/start?name=ByCity")).Status);
        _server.HoldsIndexing = false;
        Assert.Equal(201, (await batch.WaitAsync(Guard)).Status);
    }

    [Fact]
    public async Task A_batch_and_a_query_end_when_the_index_stops_at_too_many_errors()
    {
        var database = await DefineAsync(
            """{"Indexes":[{"Name":"Failing","Maps":["from u in docs.Users select new { X = 1 / u.Zero }"]}]}"""
        );
        string db = "/databases/" + database.Name;
        _server.HoldsIndexing = true;
        string commands = string.Join(
            ',',
            Enumerable
                .Range(0, 200)
                .Select(static number =>
                    $$$"""
                        {"Id":"users/{{{number}}}","Type":"PUT",
                        "Document":{"Zero":0,"@metadata":{"@collection":"Users"} } }
                        """
                )
        );
        string route = $"{db}/bulk_docs?waitForIndexesTimeout={LongWait}";
        var batch = _server.SendAsync("POST", route, $$"""{"Commands":[{{commands}}]}""");
        await AwaitWaiterAsync(database, "Failing");
        var query = _server.SendAsync("POST", db + "/queries", QueryOf("Failing"));
        _server.HoldsIndexing = false;
        (await query.WaitAsync(Guard)).IsRefusal(500, "The index 'Failing' stopped because too many documents");
        (await batch.WaitAsync(Guard)).IsRefusal(
            500,
            "The batch is stored, but the server could not verify that its indexes include it. The index 'Failing' "
                + "stopped because too many documents"
        );

        // An index that stopped earlier is not waited for either.
        (await _server.SendAsync("POST", route, UserBatch).WaitAsync(Guard)).IsRefusal(500, "'Failing' stopped");
    }

    /// <summary>A timer takes at most 49 days.</summary>
    [Theory]
    [InlineData("60.00:00:00")]
    [InlineData("10675199.02:48:05.4775807")]
    [InlineData("5184000000")]
    public async Task A_change_by_query_may_wait_for_its_index_as_long_as_a_client_likes(string timeout)
    {
        var database = await DefineAsync(ByCity);
        string db = "/databases/" + database.Name;
        _server.HoldsIndexing = true;
        Assert.Equal(201, (await _server.SendAsync("POST", db + "/bulk_docs", UserBatch)).Status);
        var started = await _server.SendAsync(
            "DELETE",
            $"{db}/queries?staleTimeout={timeout}",
            """{"Query":"from index 'ByCity'"}"""
        );
        long id = started.Json.GetProperty("OperationId").GetInt64();
        using var guard = new CancellationTokenSource(Guard);
        while (await ReadStatusAsync() is "InProgress" && !IsAwaited(database, "ByCity", _server))
        {
            await Task.Delay(10, guard.Token);
        }

        _server.HoldsIndexing = false;
        while (await ReadStatusAsync() is "InProgress")
        {
            await Task.Delay(10, guard.Token);
        }

        Assert.Equal("Completed", await ReadStatusAsync());
        Assert.Equal(0, await _server.CountAsync(db));

        async Task<string?> ReadStatusAsync() =>
            (await _server.SendAsync("GET", $"{db}/operations/state?id={id}")).Json.GetProperty("Status").GetString();
    }

    [Theory]
    [InlineData("?waitForSpecificIndex=ByCity", true)]
    [InlineData("?waitForSpecificIndex=ByCity&waitForIndexThrow=true", true)]
    [InlineData("?waitForSpecificIndex=ByCity&waitForIndexThrow=false", false)]
    [InlineData("?waitForIndexesTimeout=100", true)]
    [InlineData("?waitForIndexesTimeout=100&waitForIndexThrow=false", false)]
    public void A_wait_throws_unless_waitForIndexThrow_is_false(string parameters, bool throws) =>
        Assert.Equal(throws, IndexWait.Read(new QueryParameters(parameters))!.Throws);

    [Theory]
    [InlineData("?waitForIndexThrow=x")]
    [InlineData("?waitForIndexThrow=x&waitForIndexesTimeout=100")]
    public async Task A_malformed_waitForIndexThrow_is_refused_before_storing(string parameters)
    {
        string db = await _server.CreateDatabaseAsync();
        (await _server.SendAsync("POST", $"{db}/bulk_docs{parameters}", UserBatch)).IsRefusal(
            400,
            "'waitForIndexThrow' must be true or false"
        );
        Assert.Equal(0, await _server.CountAsync(db));
    }

    private static string QueryOf(string index) =>
        $$"""
            {"Query":"from index '{{index}}'","WaitForNonStaleResults":true,
            "WaitForNonStaleResultsTimeout":"{{LongWait}}"}
            """;

    /// <summary>Creates a database with indexes and waits until this node has opened them.</summary>
    private Task<Database> DefineAsync(string definitions) => DefineAsync(definitions, _server);

    private static async Task<Database> DefineAsync(string definitions, RunningServer server)
    {
        string db = await server.CreateDatabaseAsync();
        Assert.Equal(201, (await server.SendAsync("PUT", db + "/admin/indexes", definitions)).Status);
        Assert.Equal(200, (await server.SendAsync("GET", db + "/indexes/progress?wait=15000")).Status);
        Assert.True(server.Node.Databases.TryGet(db.Split('/')[^1], out var database));
        return database;
    }

    private Task AwaitWaiterAsync(Database database, string name) => AwaitWaiterAsync(database, name, _server);

    private static async Task AwaitWaiterAsync(Database database, string name, RunningServer server)
    {
        using var guard = new CancellationTokenSource(Guard);
        while (!IsAwaited(database, name, server))
        {
            await Task.Delay(10, guard.Token);
        }
    }

    private static bool IsAwaited(Database database, string name, RunningServer server) =>
        server.Context.Indexes.TryGetSlot(database, name, out var slot) && slot.Serving.IsAwaited;

    /// <summary>A server that opens no index and indexes nothing while it is held.</summary>
    private sealed class HeldOpening : IDisposable
    {
        private readonly ManualResetEventSlim _gate = new(initialState: true);
        private readonly TaskCompletionSource _held = new(TaskCreationOptions.RunContinuationsAsynchronously);

        public HeldOpening(TimeProvider time) =>
            Server = new RunningServer { IndexTime = time, MayIndex = WaitWhileHeld };

        public RunningServer Server { get; }

        /// <summary>Creates a database with indexes I0, I1, …, none of which is open.</summary>
        public async Task<string> DefineAsync(int indexes)
        {
            string db = await Server.CreateDatabaseAsync();
            await HoldAsync();
            string definitions = string.Join(
                ',',
                Enumerable
                    .Range(0, indexes)
                    .Select(static name =>
                        $$"""{"Name":"I{{name}}","Maps":["from u in docs.Users select new { u.City }"]}"""
                    )
            );
            string body = $$"""{"Indexes":[{{definitions}}]}""";
            if (indexes == 0)
            {
                return db;
            }

            Assert.Equal(201, (await Server.SendAsync("PUT", db + "/admin/indexes", body)).Status);
            return db;
        }

        /// <summary>Holds the indexing thread, and waits until it does nothing.</summary>
        public async Task HoldAsync()
        {
            _gate.Reset();
            Server.Context.Indexes.TrimMemory(); // wakes the thread that indexes
            await _held.Task.WaitAsync(Guard);
        }

        /// <summary>Ends the hold.</summary>
        public void Release() => _gate.Set();

        public Task EndAsync()
        {
            Release();
            return Server.DisposeAsync();
        }

        public void Dispose() => _gate.Dispose();

        private bool WaitWhileHeld()
        {
            if (!_gate.IsSet)
            {
                _held.TrySetResult();
                _gate.Wait();
            }

            return true;
        }
    }
}
