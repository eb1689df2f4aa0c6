using Rookery.Hosting;
using Rookery.Server.Tests.Raven;

namespace Rookery.Server.Tests.CommandLine;

/// <summary>Commands distinguish the same names as the node.</summary>
public sealed class IgnoredCaseTests(RunningServer server) : IClassFixture<RunningServer>
{
    [Fact]
    public async Task Ids_that_the_database_distinguishes_are_deleted_each_by_its_own()
    {
        string db = await server.CreateDatabaseAsync();
        foreach (string id in (string[])["users/σ", "users/ς", "users/K"])
        {
            Assert.Equal(201, (await server.SendAsync("PUT", $"{db}/docs?id={Uri.EscapeDataString(id)}", "{}")).Status);
        }

        // The Kelvin sign is the letter k to the database.
        Assert.Equal(
            ExitCode.Success,
            await RunAsync("rm", db, "users/σ", "users/ς", "users/\u212a", "users/k", "--yes")
        );
        Assert.Equal(0, await server.CountAsync(db));
    }

    [Fact]
    public async Task A_wait_for_an_index_in_other_case_is_a_wait_for_this_index()
    {
        string db = await server.CreateDatabaseAsync();
        await server.SendAsync(
            "PUT",
            db + "/indexes",
            """{"Indexes":[{"Name":"Users/ByName","Maps":["from u in docs select new { u.Name }"]}]}"""
        );
        Assert.Equal(ExitCode.Success, await RunAsync("index", "wait", db, "users/byname"));
        await RunAsync("index", "pause", db, "users/byname");
        await server.SendAsync("PUT", db + "/docs?id=users/1", """{"Name":"Rook"}""");
        Assert.Equal(ExitCode.Stopped, await RunAsync("index", "wait", db, "users/byname"));
    }

    private Task<int> RunAsync(params string[] words) =>
        Rookery.CommandLine.RunAsync(
            [
                .. words.Select(static word => word.Replace("/databases/", string.Empty, StringComparison.Ordinal)),
                "--url",
                server.Address.ToString(),
            ],
            TextWriter.Null
        );
}
