using System.Text;
using System.Text.Json;
using Microsoft.AspNetCore.Http;
using Rookery.Platform;
using Rookery.Server.Raven;
using Rookery.Server.Raven.Documents;

namespace Rookery.Server.Tests.Raven;

/// <summary>The ids that include paths refer to, and the limits of paths.</summary>
public sealed class IncludePathsTests(RunningServer server) : IClassFixture<RunningServer>
{
    private const string Members = """
        "a":"x/1","b":{"c":"x/2","d":["x/3",["x/4"],{"e":"x/5"}]},"l":[{"p":"x/6"},{"p":["x/7","x/6"]},[{"p":"x/8"}],"x/9"],"m":{"k1":{"p":"x/10"},"k2":{"p":"x/11"}},"n":5,"s":"é\"/1","o":{"p":{}},"\u0061z":"x/12"
        """;

    // The expected ids, and the paths.
    [Theory]
    [InlineData("x/1", "a")]
    [InlineData("x/2", "b.c")]
    [InlineData("x/3 x/4", "b.d")]
    [InlineData("x/3 x/4", "b.d[]")]
    [InlineData("x/5", "b.d.e")]
    [InlineData("x/6 x/7 x/8", "l.p")]
    [InlineData("x/6 x/7 x/8", "l[].p")]
    [InlineData("x/9", "l")]
    [InlineData("x/10 x/11", "m[].p")]
    [InlineData("x/10 x/11", "m.$Values.p")]
    [InlineData("x/2 x/3 x/4", "b.$Values")]
    [InlineData("k1 k2", "m.$Keys")]
    [InlineData("e", "b.d.$Keys")]
    [InlineData("p", "l[].$Keys")]
    [InlineData("", "m.p", "n", "o.p", "b", "missing", "a.b")]
    [InlineData("é\"/1", "s")]
    [InlineData("x/12", "az")]
    [InlineData("x/1 x/2 x/3 x/4 x/5 x/6 x/7 x/8 x/9", "l", "b.d.e", "l.p", "l[].p", "b.d", "a", "a", "b.c")]
    public void All_paths_are_followed_in_the_order_of_the_document(string ids, params string[] paths)
    {
        using var includes = new IncludePaths(paths, CreateShare(1 << 20), Continue);
        // A second document with the same ids adds none.
        includes.Collect(Encoding.UTF8.GetBytes(Members.Trim()));
        includes.Collect(Encoding.UTF8.GetBytes(Members.Trim()));
        Assert.Equal(ids, string.Join(' ', includes.Ids));
    }

    [Theory]
    [InlineData("")]
    [InlineData(".")]
    [InlineData("..")]
    public void A_path_without_a_member_is_refused(string path) =>
        Assert.Throws<RefusedException>(() => new IncludePaths([path], CreateShare(1 << 20), Continue));

    [Fact]
    public void Ids_with_the_same_lower_case_form_are_one_id()
    {
        using var includes = new IncludePaths(["l"], CreateShare(1 << 20), Continue);
        includes.Collect("\"l\":[\"Σ/1\",\"σ/1\",\"ς/1\",\"S/1\",\"s/1\",\"ſ/1\"]"u8);
        Assert.Equal(["Σ/1", "ς/1", "S/1", "ſ/1"], includes.Ids);
        includes.Exclude(["σ/1", "s/1"]);
        Assert.Equal(["ς/1", "ſ/1"], includes.Ids);
    }

    [Fact]
    public void Collected_ids_take_memory_of_queries()
    {
        var share = CreateShare(64 << 10);
        using (var includes = new IncludePaths(["l"], share, Continue))
        {
            byte[] members = Encoding.UTF8.GetBytes(
                $"\"l\":[{string.Join(',', Enumerable.Range(0, 1000).Select(static i => $"\"users/{i:D40}\""))}]"
            );
            Assert.Contains(
                "memory",
                Assert.Throws<RefusedException>(() => includes.Collect(members)).Message,
                StringComparison.Ordinal
            );
            Assert.InRange(share.UsedBytes, 60 << 10, 64 << 10);
        }

        Assert.Equal(0, share.UsedBytes);
    }

    [Fact]
    public void Caches_yield_memory_to_collected_ids()
    {
        var budget = new MemoryBudget(64 << 10);
        var cache = budget.AddShare("block cache", budget.TotalBytes);
        cache.AllowYielding(() => cache.UsedBytes, cache.Release);
        Assert.True(cache.TryReserve(budget.TotalBytes));
        using var includes = new IncludePaths(["l"], budget.AddShare("queries", budget.TotalBytes), Continue);
        includes.Collect("\"l\":[\"users/1\",\"users/2\"]"u8);
        Assert.Equal(["users/1", "users/2"], includes.Ids);
        Assert.Equal(budget.TotalBytes, budget.UsedBytes);
    }

    [Fact]
    public async Task More_than_64_include_paths_are_refused()
    {
        string db = await server.CreateDatabaseAsync();
        Assert.Equal(
            201,
            (
                await server.SendAsync(
                    "PUT",
                    db + "/docs?id=users/1",
                    """{"p1":"users/2","@metadata":{"@collection":"Users"} }"""
                )
            ).Status
        );
        foreach (int count in (int[])[IncludePaths.MaxPaths, IncludePaths.MaxPaths + 1])
        {
            string[] paths = [.. Enumerable.Range(1, count).Select(static i => $"p{i}")];
            var queried = await server.SendAsync(
                "POST",
                db + "/queries",
                JsonSerializer.Serialize(new { Query = $"from Users include {string.Join(", ", paths)}" })
            );
            var read = await server.SendAsync("GET", $"{db}/docs?id=users/1&include={string.Join("&include=", paths)}");
            if (count > IncludePaths.MaxPaths)
            {
                queried.IsRefusal(400, "64 include paths");
                read.IsRefusal(400, "64 include paths");
            }
            else
            {
                Assert.Equal((200, 200), (queried.Status, read.Status));
            }
        }
    }

    [Fact]
    public async Task A_long_answer_ends_when_its_client_leaves()
    {
        var timeSlices = new RequestTimeSlices(
            server.Context,
            new DefaultHttpContext { RequestAborted = new CancellationToken(canceled: true) }
        );
        // Every 1024th skipped document checks whether the client has left.
        for (int document = 1; document < 1024; document++)
        {
            timeSlices.CountRead();
        }

        Assert.Throws<OperationCanceledException>(timeSlices.CountRead);
        await Assert.ThrowsAsync<OperationCanceledException>(async () =>
        {
            while (true)
            {
                await timeSlices.YieldWhenDueAsync();
            }
        });
    }

    [Fact]
    public void Following_many_paths_within_one_document_can_be_cancelled()
    {
        int checks = 0;
        using var includes = new IncludePaths(
            ["x" + string.Concat(Enumerable.Repeat("[]", 100))],
            CreateShare(1 << 20),
            () => throw new OperationCanceledException($"{++checks}")
        );
        string arrays = new string('[', 100) + string.Join(',', Enumerable.Repeat("[]", 1000)) + new string(']', 100);
        Assert.Throws<OperationCanceledException>(() => includes.Collect(Encoding.UTF8.GetBytes("\"x\":" + arrays)));
        // The first check ended it.
        Assert.Equal(1, checks);
    }

    private static void Continue()
    {
        // The client stays.
    }

    private static MemoryShare CreateShare(long bytes) => new MemoryBudget(2 * bytes).AddShare("queries", bytes);
}
