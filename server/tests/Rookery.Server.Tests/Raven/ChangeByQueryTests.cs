using System.Text.Json;
using Rookery.Documents.Consensus;
using Rookery.Server.Tests.Access;

namespace Rookery.Server.Tests.Raven;

/// <summary>PATCH queries and DELETE queries.</summary>
public sealed class ChangeByQueryTests(RunningServer server) : IClassFixture<RunningServer>
{
    // There are ten items with n from 0 to 9, and the parameter by is 7. Each case has the number of documents found,
    // and of those that have by = 7 afterwards.
    [Theory]
    [InlineData("from Items update { this.by = $by }", 10, 10)]
    [InlineData("from Items where n < 3 update { this.by = args.by }", 3, 3)]
    [InlineData("from Items as i where i.n >= 3 order by i.n as long desc update { i.by = $by }", 7, 7)]
    [InlineData(
        "declare function seven(u, by) { return u.n < 2 ? by : $by } from Items as i update { this.by = seven(i, 7) }",
        10,
        10
    )]
    [InlineData("from Items where id() in ('items/3', 'items/none', 'ITEMS/3') update { this.by = 7 }", 1, 1)]
    [InlineData("from @all_docs where startsWith(id(), 'items/') and n = 4 update { this.by = 7 }", 1, 1)]
    [InlineData("from Items update { if (this.n % 2 == 0) { this.by = 7 } }", 10, 5)]
    [InlineData("from Items as i update { for (var i = 0; i < 2; i++) this.by = 6 + i }", 10, 10)]
    [InlineData("from Items as i update { i = 5; this.by = 7 }", 10, 10)]
    [InlineData("from Items as i update { for (var i of [1, 2]) { } this.by = i + 5 }", 10, 10)]
    [InlineData("from Items update { let i = 28; this.by = i++ / 4; this.in = this.by / 1 / 1 }", 10, 10)]
    [InlineData("from Items where n > 100 update { this.by = 7 }", 0, 0)]
    [InlineData("from Items update { this.by = 7 } limit 4", 4, 4)]
    public async Task A_patch_by_query_changes_what_it_finds(string query, int found, int changed)
    {
        string db = await FillAsync(count: 10);
        var state = await AwaitEndAsync(db, await PatchAsync(db, query));
        Assert.Equal("Completed", state.GetProperty("Status").GetString());
        Assert.Equal((found, found), (Number(state, "Progress", "Total"), Number(state, "Progress", "Processed")));
        Assert.Equal((found, found), (Number(state, "Result", "Total"), Number(state, "Result", "DocumentsProcessed")));
        Assert.Equal(changed, await CountAsync(db, "from Items where by = 7"));
        Assert.Equal(10, await CountAsync(db, "from Items"));
    }

    [Theory]
    [InlineData("from Items", 0)]
    [InlineData("from Items where n < $by", 3)]
    [InlineData("from Items where id() = 'items/3'", 9)]
    [InlineData("from Items where startsWith(id(), 'items/')", 0)]
    [InlineData("from Items order by n as long limit 2, 3", 7)]
    [InlineData("from Others", 10)]
    public async Task A_delete_by_query_deletes_what_it_finds(string query, int remaining)
    {
        string db = await FillAsync(count: 10);
        var started = await server.SendAsync("DELETE", db + "/queries?allowStale=&details=", BodyOf(query));
        Assert.Equal("A", started.Json.GetProperty("OperationNodeTag").GetString());
        Assert.Equal(10 - remaining, Number(await AwaitEndAsync(db, started), "Result", "Total"));
        Assert.Equal(remaining, await CountAsync(db, "from Items"));
    }

    /// <summary>A patched document becomes the newest of its collection, yet is found once.</summary>
    [Fact]
    public async Task Each_document_is_changed_once()
    {
        string db = await FillAsync(count: 2000);
        Assert.Equal(
            2000,
            Number(
                await AwaitEndAsync(
                    db,
                    await PatchAsync(
                        db,
                        "from Items update { this.times = (this.times || 0) + 1; this.large = 'x'.repeat(1000) }"
                    )
                ),
                "Result",
                "Total"
            )
        );
        Assert.Equal(2000, await CountAsync(db, "from Items where times = 1"));
        Assert.Equal(
            2000,
            Number(
                await AwaitEndAsync(db, await PatchAsync(db, "from Items where times > 0 update { this.times++ }")),
                "Result",
                "Total"
            )
        );
        Assert.Equal(2000, await CountAsync(db, "from Items where times = 2"));
    }

    /// <summary>Its second batch would find what the first stored, and so on without end.</summary>
    [Fact]
    public async Task A_patch_that_stores_documents_leaves_out_those_stored_since_it_began()
    {
        string db = await FillAsync(count: 600);
        const string Query =
            "from Items update { put('items/' + (1000 + this.n), "
            + "{ n: 1000 + this.n, '@metadata': { '@collection': 'Items' } }) }";
        var state = await AwaitEndAsync(db, await PatchAsync(db, Query));
        Assert.Equal("Completed", state.GetProperty("Status").GetString());
        Assert.Equal(600, Number(state, "Result", "DocumentsProcessed"));
        Assert.Equal(1200, await CountAsync(db, "from Items"));
    }

    [Fact]
    public async Task Details_report_the_outcome_of_each_document()
    {
        string db = await FillAsync(count: 3);
        var patched = await AwaitEndAsync(
            db,
            await PatchAsync(db, "from Items update { if (this.n > 0) { this.a = 1 } }", "?details=true")
        );
        Assert.Equal(["items/0 NotModified", "items/1 Patched", "items/2 Patched"], Details(patched));
        var document = (await server.SendAsync("GET", db + "/docs?id=items/1")).Json.GetProperty("Results")[0];
        Assert.Equal(
            document.GetProperty("@metadata").GetProperty("@change-vector").GetString(),
            patched.GetProperty("Result").GetProperty("Details")[1].GetProperty("ChangeVector").GetString()
        );
        Assert.Equal(
            ["items/0 Deleted"],
            Details(
                await AwaitEndAsync(
                    db,
                    await server.SendAsync("DELETE", db + "/queries?details=true", BodyOf("from Items where n = 0"))
                )
            )
        );

        static string[] Details(JsonElement state) =>
            [
                .. state
                    .GetProperty("Result")
                    .GetProperty("Details")
                    .EnumerateArray()
                    .Select(static detail =>
                        $"{detail.GetProperty("Id").GetString()} {detail.GetProperty("Status").GetString()}"
                    ),
            ];
    }

    /// <summary>A query of the greatest length takes half a MiB of memory, so twelve exceed the limit.</summary>
    [Fact]
    public async Task Ended_operations_are_remembered_within_a_memory_limit()
    {
        string db = await FillAsync(count: 1);
        string query = $"from Items where a = '{new string('x', 250_000)}'";
        var started = new List<Answer>();
        for (int number = 0; number < 12; number++)
        {
            started.Add(await server.SendAsync("DELETE", db + "/queries", BodyOf(query)));
            var state = await AwaitEndAsync(db, started[number]);
            Assert.Equal(query, state.GetProperty("Result").GetProperty("Query").GetString());
        }

        string path = $"{db}/operations/state?id={IdOf(started[0])}";
        (await server.SendAsync("GET", path)).IsRefusal(400, "many other operations ended after it");
    }

    [Fact]
    public async Task A_failing_patch_ends_the_operation_and_earlier_changes_stay()
    {
        string db = await FillAsync(count: 10);
        var state = await AwaitEndAsync(
            db,
            await PatchAsync(db, "from Items as i update { if (i.n == 7) { i.none.deeper = 1 } i.by = 7 }")
        );
        Assert.Equal(
            ("Faulted", 7, 10),
            (
                state.GetProperty("Status").GetString(),
                Number(state, "Progress", "Processed"),
                Number(state, "Progress", "Total")
            )
        );
        string message = state.GetProperty("Result").GetProperty("Message").GetString()!;
        Assert.StartsWith("The patch of document items/7 failed: ", message, StringComparison.Ordinal);
        Assert.EndsWith(" 7 of 10 documents were changed before, and stay changed.", message, StringComparison.Ordinal);
        Assert.Equal(400, Number(state, "Result", "StatusCode"));
        Assert.Equal(7, await CountAsync(db, "from Items where by = 7 and n < 7"));
    }

    [Theory]
    [InlineData("incrementCounter('gone', 'c')", "gone")]
    [InlineData("put('items/0', {}, 'A:1-none')", "items/0")]
    public async Task A_refused_write_of_a_script_ends_the_operation_and_earlier_changes_stay(string write, string id)
    {
        string db = await FillAsync(count: 10);
        var state = await AwaitEndAsync(
            db,
            await PatchAsync(db, $"from Items as i update {{ if (i.n == 7) {{ {write} }} i.by = 7 }}")
        );
        Assert.Equal(("Faulted", 7), (state.GetProperty("Status").GetString(), Number(state, "Progress", "Processed")));
        Assert.Contains(
            id,
            state.GetProperty("Result").GetProperty("Message").GetString()!,
            StringComparison.OrdinalIgnoreCase
        );
        Assert.Equal(7, await CountAsync(db, "from Items where by = 7 and n < 7"));
    }

    /// <summary>Together the patches would cost more than one command may; each alone does not.</summary>
    [Fact]
    public async Task Costly_patches_are_sent_in_smaller_batches()
    {
        string db = await FillAsync(count: 250);
        const string Costly = "let s = 0; for (const a of $many) for (const b of $many) s += b; this.s = s";
        var state = await AwaitEndAsync(db, await PatchAsync(db, $"from Items update {{ {Costly} }}"));
        Assert.Equal(("Completed", 250), (state.GetProperty("Status").GetString(), Number(state, "Result", "Total")));
        Assert.Equal(250, await CountAsync(db, "from Items where exists(s)"));
    }

    [Fact]
    public async Task A_killed_operation_stops_between_two_batches()
    {
        string db = await FillAsync(count: 10);
        var started = await PatchAsync(db, "from Items update { this.by = 7 }", "?maxOpsPerSec=1");
        string state = $"{db}/operations/state?id={IdOf(started)}";
        while (Number((await server.SendAsync("GET", state)).Json, "Progress", "Processed") == 0)
        {
            await Task.Yield();
        }

        Assert.Equal(204, (await server.SendAsync("POST", $"{db}/operations/kill?id={IdOf(started)}", "")).Status);
        var finalState = await AwaitEndAsync(db, started);
        Assert.Equal("Canceled", finalState.GetProperty("Status").GetString());
        Assert.InRange(Number(finalState, "Progress", "Processed"), 1, 9);
        Assert.Equal(Number(finalState, "Progress", "Processed"), await CountAsync(db, "from Items where by = 7"));
    }

    [Fact]
    public async Task Concurrent_changes_by_query_are_limited()
    {
        var ownServer = new RunningServer();
        await ownServer.InitializeAsync();
        string db = await FillAsync(count: 10, ownServer);
        // As many as may run at once, each so slow that it outlasts the test.
        Answer[] started = new Answer[4];
        for (int i = 0; i < started.Length; i++)
        {
            started[i] = await PatchAsync(db, "from Items update { this.by = 7 }", "?maxOpsPerSec=1", ownServer);
            Assert.Equal(200, started[i].Status);
        }

        (await PatchAsync(db, "from Items update { this.by = 7 }", other: ownServer)).IsRefusal(
            429,
            "4 changes by query at once"
        );
        await ownServer.SendAsync("POST", $"{db}/operations/kill?id={IdOf(started[0])}", "");
        await AwaitEndAsync(db, started[0], ownServer);
        while ((await ownServer.SendAsync("DELETE", db + "/queries", BodyOf("from Others"))).Status == 429)
        {
            await Task.Yield();
        }

        // The remaining operations end with the node, without an error.
        await ownServer.DisposeAsync();
        Assert.Empty(ownServer.Log.Lines);
        Assert.Equal(0, ownServer.Memory.Shares.Single(static share => share.Name is "queries").UsedBytes);
    }

    [Fact]
    public async Task Caches_yield_memory_to_a_change_by_query_and_its_details()
    {
        var ownServer = new RunningServer();
        await ownServer.InitializeAsync();
        try
        {
            string db = await FillAsync(count: 10, ownServer);
            var cache = ownServer.Memory.AddShare("test cache", ownServer.Memory.TotalBytes);
            cache.AllowYielding(() => cache.UsedBytes, cache.Release);
            // The assured memory of queries is taken, and a cache takes the rest of all memory.
            ownServer.Context.QueryMemory.Reserve(ownServer.Context.QueryMemory.AssuredBytes);
            cache.Reserve(ownServer.Memory.TotalBytes - ownServer.Memory.UsedBytes);
            var started = await PatchAsync(db, "from Items update { this.by = 7 }", "?details=true", ownServer);
            var finalState = await AwaitEndAsync(db, started, ownServer);
            Assert.Equal("Completed", finalState.GetProperty("Status").GetString());
            Assert.Equal(10, finalState.GetProperty("Result").GetProperty("Details").GetArrayLength());
        }
        finally
        {
            await ownServer.DisposeAsync();
        }
    }

    [Theory]
    [InlineData("PATCH", "from Items", 400, "needs 'update { … }'")]
    [InlineData("PATCH", "from Items update { }", 400, "empty")]
    [InlineData(
        "PATCH",
        "from Items update { this.a = }",
        400,
        "A value was expected here, not the end.\nLine 1, column 30"
    )]
    [InlineData("PATCH", "from Items update { this.a = new Map() }", 501, "'new Map'.\nLine 1, column 30")]
    [InlineData("PATCH", "from Items as i load i.a as b update { this.a = b }", 501, "'load' of a patch by query")]
    [InlineData("PATCH", "from index 'x' update { this.a = 1 }", 404, "no index 'x'")]
    [InlineData("PATCH", "from Items where a > > 1 update { this.a = 1 }", 400, "Line 1, column 22")]
    [InlineData("PATCH", "from Items update { this.a = 1 } include a", 400, "'include' has no meaning")]
    [InlineData("DELETE", "from Items update { this.a = 1 }", 400, "patch by query")]
    [InlineData("DELETE", "from Items select a", 400, "'select' has no meaning")]
    [InlineData("DELETE", "from Items group by a", 400, "'group by' has no meaning")]
    public async Task Impossible_requests_are_refused_before_anything_changes(
        string method,
        string query,
        int status,
        string text
    )
    {
        string db = await FillAsync(count: 1);
        (
            method is "PATCH"
                ? await PatchAsync(db, query)
                : await server.SendAsync(method, db + "/queries", BodyOf(query))
        ).IsRefusal(status, text);
    }

    [Theory]
    [InlineData("PATCH", "", "{}")]
    [InlineData("PATCH", "", "[]")]
    [InlineData("PATCH", "", """{"Query":"from Items update { this.a = 1 }"}""")]
    [InlineData("PATCH", "", """{"Query":{"Query":"from Items update { this.a = 1 }"}} 1""")]
    [InlineData("PATCH", "", """{"Query":{"Query":""")]
    [InlineData("DELETE", "", "{}")]
    [InlineData("DELETE", "?maxOpsPerSec=x", """{"Query":"from Items"}""")]
    [InlineData("DELETE", "?details=1", """{"Query":"from Items"}""")]
    [InlineData("DELETE", "?staleTimeout=x", """{"Query":"from Items"}""")]
    public async Task Malformed_requests_are_refused(string method, string parameters, string body)
    {
        string db = await FillAsync(count: 1);
        (await server.SendAsync(method, db + "/queries" + parameters, body)).IsRefusal(400, "");
        Assert.Equal(1, await CountAsync(db, "from Items"));
    }

    [Fact]
    public async Task Unbounded_scripts_and_idempotency_keys_are_refused()
    {
        string db = await FillAsync(count: 1);
        (await PatchAsync(db, "from Items update { this.a = 1 }", "?ignoreMaxStepsForScript=true")).IsRefusal(
            501,
            "ignoreMaxStepsForScript"
        );
        (
            await server.SendAsync("DELETE", db + "/queries", BodyOf("from Items"), ("Idempotency-Key", "\"a\""))
        ).IsRefusal(400, "Idempotency-Key");
    }

    [Fact]
    public async Task A_change_by_query_continues_under_a_new_leader_or_reports_why_not()
    {
        OneOfThree? member = null;
        var follower = new RunningServer
        {
            WrapConsensus = alone => member = new OneOfThree(alone, static _ => Task.CompletedTask),
        };
        await follower.InitializeAsync();
        try
        {
            string db = await FillAsync(count: 10, follower);
            member!.WriteRejection = new Rejection(RejectionKind.OutcomeUnknown, "The leader was lost.");
            var started = await PatchAsync(
                db,
                "from Items update { this.times = (this.times || 0) + 1 }",
                other: follower
            );
            Assert.Equal("B", started.Json.GetProperty("OperationNodeTag").GetString());
            member.WriteRejection = null;
            Assert.Equal("Completed", (await AwaitEndAsync(db, started, follower)).GetProperty("Status").GetString());
            Assert.Equal(10, await CountAsync(db, "from Items where times = 1", follower));

            member.WriteRejection = new Rejection(RejectionKind.InsufficientSpace, "The disk is full.");
            var refused = await AwaitEndAsync(
                db,
                await PatchAsync(db, "from Items update { this.times++ }", other: follower),
                follower
            );
            Assert.Equal("Faulted", refused.GetProperty("Status").GetString());
            Assert.Equal(
                "The disk is full. No document was changed.",
                refused.GetProperty("Result").GetProperty("Message").GetString()
            );
            Assert.Equal(507, Number(refused, "Result", "StatusCode"));
        }
        finally
        {
            await follower.DisposeAsync();
        }
    }

    [Fact]
    public async Task A_change_by_query_needs_both_read_and_write()
    {
        var secure = new SecureServer();
        await secure.InitializeAsync();
        try
        {
            string reader = await secure.GiveTokenAsync(["read"], ["Shop"]);
            string writer = await secure.GiveTokenAsync(["write"], ["Shop"]);
            const string Patch = """{"Query":{"Query":"from Items update { this.a = 1 }"}}""";
            (await secure.SendAsync("PATCH", "/databases/Shop/queries", reader, Patch)).IsRefusal(403, "write");
            (
                await secure.SendAsync("DELETE", "/databases/Shop/queries", reader, """{"Query":"from Items"}""")
            ).IsRefusal(403, "write");
            (await secure.SendAsync("PATCH", "/databases/Shop/queries", writer, Patch)).IsRefusal(
                403,
                "read and write"
            );
            (
                await secure.SendAsync("DELETE", "/databases/Shop/queries", writer, """{"Query":"from Items"}""")
            ).IsRefusal(403, "read and write");
            string both = await secure.GiveTokenAsync(["read", "write"], ["Shop"]);
            Assert.Equal(200, (await secure.SendAsync("PATCH", "/databases/Shop/queries", both, Patch)).Status);
            Assert.Equal(
                200,
                (await secure.SendAsync("DELETE", "/databases/Shop/queries", both, """{"Query":"from Items"}""")).Status
            );
            (
                await secure.SendAsync("DELETE", "/databases/Other/queries", both, """{"Query":"from Items"}""")
            ).IsRefusal(403, "Other");
        }
        finally
        {
            await secure.DisposeAsync();
        }
    }

    // Encodes a query with all parameters to which the tests' queries and patches refer.
    private static string BodyOf(string query) =>
        JsonSerializer.Serialize(
            new { Query = query, QueryParameters = new { by = 7, many = Enumerable.Range(0, 100) } }
        );

    private static long IdOf(Answer started) => started.Json.GetProperty("OperationId").GetInt64();

    private static int Number(JsonElement state, string part, string member) =>
        state.GetProperty(part).GetProperty(member).GetInt32();

    private Task<Answer> PatchAsync(
        string db,
        string query,
        string parameters = "?allowStale=false&details=false",
        RunningServer? other = null
    ) => (other ?? server).SendAsync("PATCH", db + "/queries" + parameters, $$"""{ "Query": {{BodyOf(query)}} }""");

    /// <summary>Returns the state of an operation after its end.</summary>
    private async Task<JsonElement> AwaitEndAsync(string db, Answer started, RunningServer? other = null)
    {
        Assert.True(started.Status == 200, started.Body);
        while (true)
        {
            var state = (
                await (other ?? server).SendAsync("GET", $"{db}/operations/state?id={IdOf(started)}&nodeTag=A")
            ).Json;
            if (state.GetProperty("Status").GetString() is not "InProgress")
            {
                return state;
            }

            await Task.Yield();
        }
    }

    /// <summary>Returns the number of results of a query.</summary>
    private async Task<int> CountAsync(string db, string query, RunningServer? other = null)
    {
        var answer = await (other ?? server).SendAsync("POST", db + "/queries", BodyOf(query + " limit 0"));
        Assert.True(answer.Status == 200, answer.Body);
        return answer.Json.GetProperty("TotalResults").GetInt32();
    }

    private async Task<string> FillAsync(int count, RunningServer? other = null)
    {
        string db = await (other ?? server).CreateDatabaseAsync();
        string commands = string.Join(
            ',',
            Enumerable
                .Range(0, count)
                .Select(static i =>
                    $$"""{"Id":"items/{{i}}","Type":"PUT","Document":{"n":{{i}},"@metadata":{"@collection":"Items"} } }"""
                )
        );
        Assert.Equal(
            201,
            (await (other ?? server).SendAsync("POST", db + "/bulk_docs", $$"""{"Commands":[{{commands}}]}""")).Status
        );
        return db;
    }
}
