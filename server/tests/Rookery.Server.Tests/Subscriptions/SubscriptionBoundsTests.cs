using System.IO.Pipelines;
using System.Text;
using Rookery.Platform;
using Rookery.Server.Subscriptions;
using Rookery.Server.Tests.Raven;

namespace Rookery.Server.Tests.Subscriptions;

/// <summary>What one subscription and one worker may take of a node.</summary>
public sealed class SubscriptionBoundsTests(RunningServer server) : IClassFixture<RunningServer>
{
    private const string Options = """{"SubscriptionName":"s","MaxDocsPerBatch":2}""";

    [Fact]
    public async Task A_batch_ends_before_a_document_whose_includes_lack_memory()
    {
        string db = await DefineAsync("from Users include boss");
        await PutAsync(db, "users/0", """{"@metadata":{"@collection":"Users"} }""");
        await PutAsync(db, "users/1", """{"boss":"users/9","@metadata":{"@collection":"Users"} }""");
        using var worker = await TcpWorker.ConnectAsync(server.Context.Subscriptions.Port!());
        using (TakeMemory(free: 0))
        {
            Assert.Equal("Accepted", TcpWorker.Status(await worker.OpenAsync(NameOf(db), Options)));
            Assert.Equal(["users/0"], await worker.ReadBatchAsync());
            await worker.AcknowledgeAsync();
        }

        Assert.Equal(["users/1"], await worker.ReadBatchAsync());
    }

    [Fact]
    public async Task A_large_included_document_waits_for_memory()
    {
        string db = await DefineAsync("from Users include boss");
        await PutAsync(db, "users/1", """{"boss":"users/9","@metadata":{"@collection":"Users"} }""");
        await PutAsync(db, "users/9", $$"""{"text":"{{new string('x', 300_000)}}"}""");
        using var worker = await TcpWorker.ConnectAsync(server.Context.Subscriptions.Port!());
        Task<System.Text.Json.JsonElement> included;
        using (TakeMemory(free: 100_000))
        {
            await worker.OpenAsync(NameOf(db), Options);
            Assert.Equal("Data", (await worker.ReadAsync()).GetProperty("Type").GetString());
            included = worker.ReadAsync();
            await Task.WhenAny(included, Task.Delay(300));
            Assert.False(included.IsCompleted);
        }

        Assert.Equal("Includes", (await included).GetProperty("Type").GetString());
        Assert.Equal("EndOfBatch", (await worker.ReadAsync()).GetProperty("Type").GetString());
    }

    [Fact]
    public async Task A_large_previous_revision_waits_for_memory()
    {
        string db = await DefineAsync("from Users (Revisions = true)");
        const string Metadata = "\"@metadata\":{\"@collection\":\"Users\"}";
        await PutAsync(db, "users/1", $$"""{"text":"{{new string('x', 300_000)}}",{{Metadata}} }""");
        await server.SendAsync("POST", $"{db}/admin/revisions/config", "{\"Default\":{}}");
        await PutAsync(db, "users/1", $$"""{"text":"{{new string('y', 300_000)}}",{{Metadata}} }""");
        await PutAsync(db, "users/1", $$"""{{{Metadata}} }""");
        string first = (await server.SendAsync("GET", $"{db}/revisions?id=users/1&start=1"))
            .Json.GetProperty("Results")[0]
            .GetProperty("@metadata")
            .GetProperty("@change-vector")
            .GetString()!;
        await server.SendAsync("POST", $"{db}/subscriptions/update", $$"""{"Name":"s","ChangeVector":"{{first}}"}""");
        using var worker = await TcpWorker.ConnectAsync(server.Context.Subscriptions.Port!());
        Task<System.Text.Json.JsonElement> pair;
        using (TakeMemory(free: 100_000))
        {
            await worker.OpenAsync(NameOf(db), Options);
            pair = worker.ReadAsync();
            await Task.WhenAny(pair, Task.Delay(300));
            Assert.False(pair.IsCompleted);
        }

        var previous = (await pair).GetProperty("Data").GetProperty("Previous").GetProperty("text").GetString()!;
        Assert.Equal(300_000, previous.Length);
    }

    /// <summary>Otherwise it would keep its connection and the memory of its documents for ever.</summary>
    [Fact]
    public async Task The_connection_of_a_client_that_reads_nothing_is_closed_when_its_subscription_ends()
    {
        string db = await DefineAsync("from Users");
        for (int i = 0; i < 3; i++)
        {
            string text = new('x', 7_000_000); // together more than the buffers of both ends
            await PutAsync(db, $"users/{i}", $$"""{"text":"{{text}}","@metadata":{"@collection":"Users"} }""");
        }

        int port = server.Context.Subscriptions.Port!();
        using var worker = await TcpWorker.ConnectAsync(port);
        await worker.OpenAsync(NameOf(db), Options);
        Assert.True(IsOpen());
        await server.SendAsync("DELETE", $"{db}/subscriptions?taskName=s");
        using var timeout = new CancellationTokenSource(TimeSpan.FromMinutes(2));
        while (IsOpen())
        {
            await Task.Delay(50, timeout.Token);
        }

        // A connection that its process has closed may stay in the kernel's table for a minute, with the inode 0.
        bool IsOpen() =>
            new[] { "/proc/net/tcp", "/proc/net/tcp6" }
                .SelectMany(File.ReadLines)
                .Select(static line => line.Split(' ', StringSplitOptions.RemoveEmptyEntries))
                .Any(fields =>
                    fields[1].EndsWith($":{port:X4}", StringComparison.Ordinal)
                    && fields[2].EndsWith($":{worker.Port:X4}", StringComparison.Ordinal)
                    && fields[9] is not "0"
                );
    }

    [Fact]
    public void One_subscription_has_a_quarter_of_the_workers_and_few_that_wait()
    {
        var small = new ServedSubscriptions(32 << 20); // 32 workers
        for (int i = 0; i < 8; i++)
        {
            Assert.Null(small.Enter((1, 1), NewWorker(OpeningStrategy.Concurrent), out _));
        }

        Assert.Contains(
            "a quarter",
            small.Enter((1, 1), NewWorker(OpeningStrategy.Concurrent), out _)!.Sentence,
            StringComparison.Ordinal
        );
        Assert.Null(small.Enter((1, 2), NewWorker(OpeningStrategy.Concurrent), out _));

        var large = new ServedSubscriptions(1L << 30);
        for (int i = 0; i < 9; i++)
        {
            Assert.Null(large.Enter((1, 1), NewWorker(OpeningStrategy.WaitForFree), out _));
        }

        var refused = large.Enter((1, 1), NewWorker(OpeningStrategy.WaitForFree), out var turn);
        Assert.Contains("wait for the subscription", refused!.Sentence, StringComparison.Ordinal);
        Assert.Null(turn);

        static Worker NewWorker(OpeningStrategy strategy) => new("s", strategy, ConnectedTicks: 1, static _ => { });
    }

    [Fact]
    public async Task Messages_are_read_however_their_bytes_arrive()
    {
        string[] messages = ["""{"a":"}\"{\\"}""", """{"b":{"c":1} }"""];
        var pipe = new Pipe();
        var reader = new MessageReader(pipe.Reader);
        foreach (string message in messages)
        {
            var reading = reader.ReadAsync(CancellationToken.None).AsTask();
            foreach (byte part in Encoding.UTF8.GetBytes(" " + message))
            {
                Assert.False(reading.IsCompleted);
                await pipe.Writer.WriteAsync(new[] { part });
            }

            Assert.Equal(message, Encoding.UTF8.GetString((await reading)!));
        }

        await pipe.Writer.WriteAsync(Encoding.UTF8.GetBytes(messages[0] + "\r\n" + messages[1]));
        Assert.Equal(messages[0], Encoding.UTF8.GetString((await reader.ReadAsync(CancellationToken.None))!));
        Assert.Equal(messages[1], Encoding.UTF8.GetString((await reader.ReadAsync(CancellationToken.None))!));
    }

    private static string NameOf(string db) => db.Split('/')[^1];

    private async Task<string> DefineAsync(string query)
    {
        string db = await server.CreateDatabaseAsync();
        var defined = await server.SendAsync("PUT", $"{db}/subscriptions", $$"""{"Name":"s","Query":"{{query}}"}""");
        Assert.Equal(201, defined.Status);
        return db;
    }

    private async Task PutAsync(string db, string id, string json) =>
        Assert.Equal(201, (await server.SendAsync("PUT", $"{db}/docs?id={id}", json)).Status);

    // Reserves all memory of queries but some bytes.
    private Taken TakeMemory(int free)
    {
        var memory = server.Context.QueryMemory;
        long taken = 0;
        for (long bytes = memory.LimitBytes; bytes > 0; bytes /= 2)
        {
            while (memory.TryReserveFromCaches(bytes))
            {
                taken += bytes;
            }
        }

        memory.Release(free);
        return new Taken(memory, taken - free);
    }

    private sealed class Taken(MemoryShare memory, long bytes) : IDisposable
    {
        public void Dispose() => memory.Release(bytes);
    }
}
