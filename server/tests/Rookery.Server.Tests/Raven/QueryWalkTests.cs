using System.Text;
using Rookery.Indexing.Execution;
using Rookery.Server.Raven.Queries;

namespace Rookery.Server.Tests.Raven;

public sealed class QueryWalkTests(RunningServer server) : IClassFixture<RunningServer>
{
    [Theory]
    [InlineData("from @all_docs")]
    [InlineData("from As")]
    [InlineData("from As where id() in ('a1', 'a2', 'a3')")]
    [InlineData("from As where startsWith(id(), 'a')")]
    public async Task A_walk_that_waits_for_its_client_holds_no_snapshot_and_goes_on_where_it_was(string query)
    {
        string db = await server.CreateDatabaseAsync();
        foreach (string id in (string[])["a1", "a2", "a3"])
        {
            await PutAsync(db, id);
        }

        Assert.True(server.Node.Databases.TryGet(db["/databases/".Length..], out var database));
        using var walk = new QueryWalk(database, QueryRequest.Read(new QueryEnvelope(query, "{}"u8.ToArray(), 0, long.MaxValue, null), database, new IndexedQueries(server.Context.Indexes)).Direct!);
        var seen = new List<string>();
        while (seen.Count < 3 && walk.MoveNext())
        {
            seen.Add(Encoding.UTF8.GetString(walk.View.Id));
            walk.Pause();
            await PutAsync(db, "z"); // a new state replaces the one that was read
            Assert.Equal(TimeSpan.Zero, server.Node.ReadStatistics()!.Storage.OldestReaderAge);
        }

        Assert.Equal(["a1", "a2", "a3"], seen);
    }

    private Task<Answer> PutAsync(string db, string id) => server.SendAsync("PUT", $"{db}/docs?id={id}", $$"""{"@metadata":{"@collection":"{{(id is "z" ? "Zs" : "As")}}"} }""");
}
