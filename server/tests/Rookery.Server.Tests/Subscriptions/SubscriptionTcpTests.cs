using System.Text.Json;
using Rookery.Server.Subscriptions;
using Rookery.Server.Tests.Raven;

namespace Rookery.Server.Tests.Subscriptions;

/// <summary>RavenDB's TCP protocol, message by message.</summary>
public sealed class SubscriptionTcpTests(RunningServer server) : IClassFixture<RunningServer>
{
    private const string Options = """{"SubscriptionName":"s","Strategy":"OpenIfFree","MaxDocsPerBatch":2}""";

    [Fact]
    public async Task Documents_come_in_batches_and_the_progress_is_stored_before_it_is_confirmed()
    {
        string db = await DefineAsync("from Users");
        await StoreAsync(db, 1, 3);
        using var worker = await ConnectAsync();
        Assert.Equal("Accepted", TcpWorker.Status(await worker.OpenAsync(NameOf(db), Options)));
        Assert.Equal(["users/1", "users/2"], await worker.ReadBatchAsync());
        Assert.Equal(JsonValueKind.Null, (await ProgressAsync(db)).ValueKind);
        await worker.AcknowledgeAsync();
        Assert.Matches("^A:[0-9]+-", (await ProgressAsync(db)).GetString()!);
        Assert.Equal(["users/3"], await worker.ReadBatchAsync());
        await worker.AcknowledgeAsync();
        await StoreAsync(db, 4, 4);
        Assert.Equal(["users/4"], await worker.ReadBatchAsync());
    }

    [Fact]
    public async Task A_batch_that_is_not_acknowledged_is_sent_to_the_next_worker()
    {
        string db = await DefineAsync("from Users");
        await StoreAsync(db, 1, 1);
        using (var first = await ConnectAsync())
        {
            await first.OpenAsync(NameOf(db), Options);
            Assert.Equal(["users/1"], await first.ReadBatchAsync());
        }

        using var second = await OpenWhenFreeAsync(db, Options);
        Assert.Equal(["users/1"], await second.ReadBatchAsync());
    }

    /// <summary>The client for Python acknowledges a confirmation, too, while the next batch is on its way.</summary>
    [Theory]
    [InlineData("""{"Type":"Acknowledge","ChangeVector":null}""")]
    [InlineData("""{"Type":"Acknowledge","ChangeVector":"A:1-old"}""")]
    public async Task An_acknowledgement_of_another_batch_does_not_acknowledge_this_one(string late)
    {
        string db = await DefineAsync("from Users");
        await StoreAsync(db, 1, 1);
        using (var worker = await ConnectAsync())
        {
            await worker.OpenAsync(NameOf(db), Options);
            await worker.ReadBatchAsync();
            await worker.SendAsync(late);
        }

        using var next = await OpenWhenFreeAsync(db, Options);
        Assert.Equal(["users/1"], await next.ReadBatchAsync());
        string vector = await VectorAsync(db, "users/1");
        await next.SendAsync($$"""{"ChangeVector":"{{vector}}","Type":"Acknowledge"}""");
        Assert.Equal("Confirm", (await next.ReadAsync()).GetProperty("Type").GetString());
        Assert.Equal(vector, (await ProgressAsync(db)).GetString());
    }

    [Fact]
    public async Task An_archived_document_is_not_sent()
    {
        string db = await DefineAsync("from Users");
        const string Archived = """{"@metadata":{"@collection":"Users","@archived":true} }""";
        await server.SendAsync("PUT", $"{db}/docs?id=users/0", Archived);
        await StoreAsync(db, 1, 1);
        using var worker = await OpenWhenFreeAsync(db, Options);
        Assert.Equal(["users/1"], await worker.ReadBatchAsync());
    }

    [Fact]
    public async Task Versions_are_negotiated_down_to_one_that_both_speak()
    {
        string db = await DefineAsync("from Users");
        using var worker = await ConnectAsync();
        await worker.SendAsync(TcpWorker.Header(NameOf(db), version: 72_000));
        var mismatch = await worker.ReadAsync();
        Assert.Equal("TcpVersionMismatch", TcpWorker.Status(mismatch));
        Assert.Equal(53_000, mismatch.GetProperty("Version").GetInt32());
        await worker.SendAsync(TcpWorker.Header(NameOf(db), version: 51_000));
        Assert.Equal(51_000, (await worker.ReadAsync()).GetProperty("Version").GetInt32());
        await worker.SendAsync(Options);
        Assert.Equal("Accepted", TcpWorker.Status(await worker.ReadAsync()));
    }

    [Fact]
    public async Task Included_documents_come_only_in_versions_that_know_them()
    {
        string db = await DefineAsync("from Users include boss");
        await server.SendAsync("PUT", $"{db}/docs?id=users/1", Body("users/9"));
        await server.SendAsync("PUT", $"{db}/docs?id=users/9", """{"name":"boss"}""");
        foreach (int version in (int[])[41_400, 40])
        {
            using var worker = await OpenWhenFreeAsync(db, Options, version);
            Assert.Equal("Data", (await worker.ReadAsync()).GetProperty("Type").GetString());
            var next = await worker.ReadAsync();
            Assert.Equal(version == 40 ? "EndOfBatch" : "Includes", next.GetProperty("Type").GetString());
            if (version != 40)
            {
                Assert.Equal(
                    "boss",
                    next.GetProperty("Includes").GetProperty("users/9").GetProperty("name").GetString()
                );
            }
        }

        static string Body(string boss) => $$"""{"boss":"{{boss}}","@metadata":{"@collection":"Users"} }""";
    }

    [Theory]
    [InlineData("""{"SubscriptionName":"none"}""", "NotFound", "There is no subscription 'none'")]
    [InlineData("""{"SubscriptionName":"s","Surprise":true}""", "Invalid", "'Surprise'")]
    [InlineData("""{"SubscriptionName":"s","Strategy":"Often"}""", "Invalid", "'Strategy'")]
    [InlineData("""{"SubscriptionName":"s","MaxDocsPerBatch":0}""", "Invalid", "'MaxDocsPerBatch'")]
    [InlineData("""{"Strategy":"TakeOver"}""", "Invalid", "'SubscriptionName'")]
    [InlineData("""{"SubscriptionName":"s","CloseWhenNoDocsLeft":"true"}""", "Invalid", "'CloseWhenNoDocsLeft'")]
    public async Task What_cannot_be_opened_is_refused_with_the_status_of_its_exception(
        string options,
        string status,
        string named
    )
    {
        string db = await DefineAsync("from Users");
        using var worker = await ConnectAsync();
        var refused = await worker.OpenAsync(NameOf(db), options);
        Assert.Equal(status, TcpWorker.Status(refused));
        Assert.Contains(named, refused.GetProperty("Exception").GetString(), StringComparison.Ordinal);
        Assert.False(refused.GetProperty("Data").GetProperty("CanReconnect").GetBoolean());
        Assert.Null(await worker.TryReadAsync());
    }

    [Fact]
    public async Task A_missing_database_is_an_error_that_clients_know()
    {
        using var worker = await ConnectAsync();
        var refused = await worker.OpenAsync("none", Options);
        Assert.Equal("Error", refused.GetProperty("Type").GetString());
        Assert.Contains(
            "DatabaseDoesNotExistException",
            refused.GetProperty("Exception").GetString(),
            StringComparison.Ordinal
        );
    }

    [Theory]
    [InlineData("Replication")]
    [InlineData("Cluster")]
    public async Task Other_operations_are_refused_by_name(string operation)
    {
        using var worker = await ConnectAsync();
        await worker.SendAsync(TcpWorker.Header("x", operation: operation));
        var refused = await worker.ReadAsync();
        Assert.Equal("AuthorizationFailed", TcpWorker.Status(refused));
        Assert.Contains(operation, refused.GetProperty("Message").GetString(), StringComparison.Ordinal);
        Assert.Null(await worker.TryReadAsync());
    }

    [Theory]
    [InlineData("GET / HTTP/1.1\r\n\r\n")]
    [InlineData("[1]")]
    [InlineData("{\"DatabaseName\":")]
    public async Task Bytes_that_are_no_message_end_the_connection(string text)
    {
        using var worker = await ConnectAsync();
        await worker.SendAsync(text + new string(' ', text[0] == '{' ? MessageReader.MaxBytes + 1 : 0));
        Assert.Null(await worker.TryReadAsync());
    }

    [Fact]
    public async Task Connections_that_say_nothing_are_limited_in_number()
    {
        var silent = new List<TcpWorker>();
        try
        {
            long before = server.Context.Subscriptions.Refused;
            for (int i = 0; i < SubscriptionEndpoint.MaxHandshakes; i++)
            {
                silent.Add(await ConnectAsync());
            }

            // Each connection is counted when the server accepts it, which may be after the client's view of it.
            while (server.Context.Subscriptions.Refused == before)
            {
                try
                {
                    silent.Add(await ConnectAsync());
                }
                catch (System.Net.Sockets.SocketException)
                {
                    // Refused while it was connecting.
                }

                await Task.Delay(5);
            }

            Assert.True(silent.Count >= SubscriptionEndpoint.MaxHandshakes);
        }
        finally
        {
            silent.ForEach(static one => one.Dispose());
        }
    }

    [Fact]
    public async Task A_subscription_that_changes_goes_or_is_dropped_ends_its_worker_with_the_reason()
    {
        foreach (
            var (method, path, body, status, canReconnect) in ((string, string, string?, string, bool)[])
                [
                    ("POST", "subscriptions/drop?name=s", null, "Closed", false),
                    ("POST", "subscriptions/update", """{"Name":"s","Query":"from A"}""", "Closed", true),
                    ("POST", "admin/tasks/state?type=Subscription&disable=true&taskName=s", null, "Closed", false),
                    ("DELETE", "subscriptions?taskName=s", null, "NotFound", false),
                ]
        )
        {
            string db = await DefineAsync("from Users");
            using var worker = await ConnectAsync();
            await worker.OpenAsync(NameOf(db), Options);
            await server.SendAsync(method, $"{db}/{path}", body);
            var end = await worker.ReadAsync();
            Assert.Equal(status, TcpWorker.Status(end));
            Assert.Equal(canReconnect, end.GetProperty("Data").GetProperty("CanReconnect").GetBoolean());
            Assert.Null(await worker.TryReadAsync());
        }
    }

    [Fact]
    public async Task A_disabled_database_sends_nothing_and_its_workers_come_back()
    {
        string db = await DefineAsync("from Users");
        await StoreAsync(db, 1, 1);
        string names = $$"""{"DatabaseNames":["{{NameOf(db)}}"]}""";
        Assert.Equal(200, (await server.SendAsync("POST", "/admin/databases/disable", names)).Status);
        using (var worker = await ConnectAsync())
        {
            Assert.Equal("ConcurrencyReconnect", TcpWorker.Status(await worker.OpenAsync(NameOf(db), Options)));
            Assert.Null(await worker.TryReadAsync());
        }

        Assert.Equal(200, (await server.SendAsync("POST", "/admin/databases/enable", names)).Status);
        using var later = await OpenWhenFreeAsync(db, Options);
        Assert.Equal(["users/1"], await later.ReadBatchAsync());
    }

    [Fact]
    public async Task A_drop_of_one_worker_leaves_the_others()
    {
        string db = await DefineAsync("from Users");
        const string Shared = """{"SubscriptionName":"s","Strategy":"Concurrent","WorkerId":"ID"}""";
        using var one = await ConnectAsync();
        using var two = await ConnectAsync();
        await one.OpenAsync(NameOf(db), Shared.Replace("ID", "one", StringComparison.Ordinal));
        await two.OpenAsync(NameOf(db), Shared.Replace("ID", "two", StringComparison.Ordinal));
        await server.SendAsync("POST", $"{db}/subscriptions/drop?name=s&workerId=one");
        Assert.Equal("Closed", TcpWorker.Status(await one.ReadAsync()));
        await StoreAsync(db, 1, 1);
        Assert.Equal(["users/1"], await two.ReadBatchAsync());
    }

    [Fact]
    public async Task A_document_that_changes_while_it_is_out_is_not_sent_to_another_concurrent_worker()
    {
        string db = await DefineAsync("from Users");
        const string Shared = """{"SubscriptionName":"s","Strategy":"Concurrent","MaxDocsPerBatch":1}""";
        await StoreAsync(db, 1, 1);
        long sent = EtagOf(await VectorAsync(db, "users/1"));
        using var one = await ConnectAsync();
        using var two = await ConnectAsync();
        await one.OpenAsync(NameOf(db), Shared);
        Assert.Equal(["users/1"], await one.ReadBatchAsync());
        await two.OpenAsync(NameOf(db), Shared);
        await StoreAsync(db, 1, 2);
        Assert.Equal(["users/2"], await two.ReadBatchAsync());
        await two.AcknowledgeAsync();
        Assert.True(EtagOf((await ProgressAsync(db)).GetString()!) < sent, "the first document is still out");
        await one.AcknowledgeAsync();

        // Now either may have it.
        var first = await Task.WhenAny(one.ReadBatchAsync(), two.ReadBatchAsync());
        Assert.Equal(["users/1"], await first);
    }

    [Fact]
    public async Task Documents_of_a_concurrent_worker_that_left_are_sent_to_the_others()
    {
        string db = await DefineAsync("from Users");
        const string Shared = """{"SubscriptionName":"s","Strategy":"Concurrent","MaxDocsPerBatch":1}""";
        using var two = await ConnectAsync();
        await two.OpenAsync(NameOf(db), Shared);
        using (var one = await ConnectAsync())
        {
            await one.OpenAsync(NameOf(db), Shared);
            await StoreAsync(db, 1, 2);
            var both = (await one.ReadBatchAsync()).Concat(await two.ReadBatchAsync()).Order(StringComparer.Ordinal);
            Assert.Equal(["users/1", "users/2"], both);
        }

        await two.AcknowledgeAsync();
        Assert.Single(await two.ReadBatchAsync());
        await two.AcknowledgeAsync();
        Assert.Equal(JsonValueKind.String, (await ProgressAsync(db)).ValueKind);
    }

    private static string NameOf(string db) => db.Split('/')[^1];

    private Task<TcpWorker> ConnectAsync() => TcpWorker.ConnectAsync(server.Context.Subscriptions.Port!());

    /// <summary>Opens the subscription once the server has noticed that the worker before has left.</summary>
    private async Task<TcpWorker> OpenWhenFreeAsync(string db, string options, int version = 53_000)
    {
        while (true)
        {
            var worker = await ConnectAsync();
            if (TcpWorker.Status(await worker.OpenAsync(NameOf(db), options, version)) is "Accepted")
            {
                return worker;
            }

            worker.Dispose();
            await Task.Delay(10);
        }
    }

    private async Task<string> DefineAsync(string query)
    {
        string db = await server.CreateDatabaseAsync();
        var defined = await server.SendAsync("PUT", $"{db}/subscriptions", $$"""{"Name":"s","Query":"{{query}}"}""");
        Assert.Equal(201, defined.Status);
        return db;
    }

    private async Task StoreAsync(string db, int from, int to)
    {
        for (int i = from; i <= to; i++)
        {
            await server.SendAsync("PUT", $"{db}/docs?id=users/{i}", """{"@metadata":{"@collection":"Users"}}""");
        }
    }

    private async Task<string> VectorAsync(string db, string id) =>
        (await server.SendAsync("GET", $"{db}/docs?id={id}"))
            .Json.GetProperty("Results")[0]
            .GetProperty("@metadata")
            .GetProperty("@change-vector")
            .GetString()!;

    private static long EtagOf(string vector) =>
        long.Parse(vector.Split(':', '-')[1], System.Globalization.CultureInfo.InvariantCulture);

    private async Task<JsonElement> ProgressAsync(string db) =>
        (await server.SendAsync("GET", $"{db}/subscriptions/state?name=s")).Json.GetProperty(
            "ChangeVectorForNextBatchStartingPoint"
        );
}
