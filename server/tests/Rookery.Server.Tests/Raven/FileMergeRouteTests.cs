using System.Text.Json;
using Rookery.Platform;
using Rookery.Simulation;

namespace Rookery.Server.Tests.Raven;

/// <summary>POST admin/compact, and the operation that it starts.</summary>
public sealed class FileMergeRouteTests(RunningServer server) : IClassFixture<RunningServer>
{
    [Fact]
    public async Task A_merge_of_files_ends_with_the_sizes_of_the_files()
    {
        string db = await server.CreateDatabaseAsync();
        await server.SendAsync("PUT", db + "/docs?id=a", "{}");
        var (state, end) = await MergeAsync(server, db);
        Assert.Equal("Completed", end.GetProperty("Status").GetString());
        var result = end.GetProperty("Result");
        Assert.True(result.GetProperty("BytesAfter").GetInt64() > 0);
        Assert.Contains("all its other databases", result.GetProperty("Message").GetString(), StringComparison.Ordinal);
        (await server.SendAsync("GET", db + state)).IsRefusal(400, "knows no operation");
    }

    /// <summary>The disk is full for the files of the store, but not for the journal.</summary>
    [Fact]
    public async Task A_merge_of_files_on_a_full_disk_fails_with_the_cause_and_can_be_repeated()
    {
        await using var full = new RunningServer();
        await full.InitializeAsync();
        string db = await full.CreateDatabaseAsync();
        await full.SendAsync("PUT", db + "/docs?id=a", "{}");
        full.Disk.Inject(
            new DiskFault(AtCall: 1, Errno.NoSpace)
            {
                Calls = DiskCalls.Create | DiskCalls.Write,
                PathContains = "/data/storage/",
                Sticky = true,
            }
        );
        var (_, failed) = await MergeAsync(full, db);
        Assert.Equal("Faulted", failed.GetProperty("Status").GetString());
        Assert.Contains(
            "Not all files were merged",
            failed.GetProperty("Result").GetProperty("Message").GetString(),
            StringComparison.Ordinal
        );
        full.Disk.ClearFaults();
        var (_, repeated) = await MergeAsync(full, db);
        Assert.Equal("Completed", repeated.GetProperty("Status").GetString());
    }

    [Theory]
    [InlineData("""{"DatabaseName":"none","Documents":true}""", 503, "none")]
    [InlineData("""{"DatabaseName":"none"}""", 400, "what to merge")]
    [InlineData("""{"DatabaseName":"none","Documents":true,"Indexes":["a"]}""", 501, "'Indexes'")]
    [InlineData("""{"DatabaseName":"none","Documents":true,"Surprise":1}""", 501, "'Surprise'")]
    public async Task What_cannot_be_merged_is_refused(string body, int status, string named) =>
        (await server.SendAsync("POST", "/admin/compact", body)).IsRefusal(status, named);

    [Fact]
    public async Task An_operation_of_no_database_that_is_not_known_is_refused()
    {
        (await server.SendAsync("GET", "/operations/state?id=5")).IsRefusal(400, "knows no operation 5");
        (await server.SendAsync("POST", "/admin/operations/kill?id=5")).IsRefusal(400, "knows no operation 5");
    }

    // Begins a merge and waits for its end. Returns the URL of its state, and the last state.
    private static async Task<(string Url, JsonElement End)> MergeAsync(RunningServer server, string db)
    {
        string body = $$"""{"DatabaseName":"{{db.Split('/')[^1]}}","Documents":true,"Indexes":[]}""";
        var begun = await server.SendAsync("POST", "/admin/compact", body);
        Assert.Equal((200, "A"), (begun.Status, begun.Json.GetProperty("OperationNodeTag").GetString()));
        string url = $"/operations/state?id={begun.Json.GetProperty("OperationId").GetInt64()}";
        using var patience = new CancellationTokenSource(TimeSpan.FromSeconds(60));
        var answer = await server.SendAsync("GET", url);
        while (answer.Json.GetProperty("Status").GetString() is "InProgress")
        {
            await Task.Delay(20, patience.Token);
            answer = await server.SendAsync("GET", url);
        }

        return (url, answer.Json);
    }
}
