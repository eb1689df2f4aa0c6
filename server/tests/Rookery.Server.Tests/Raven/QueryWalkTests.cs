using System.Text;
using Microsoft.AspNetCore.Http;
using Rookery.Queries.Answering;
using Rookery.Queries.Execution;
using Rookery.Queries.Language;
using Rookery.Server.Raven;
using Rookery.Simulation;

namespace Rookery.Server.Tests.Raven;

/// <summary>
/// The walk of a query over documents, which pauses while the client reads. The database has the collections As and Zs.
/// </summary>
public sealed class QueryWalkTests(RunningServer server) : IClassFixture<RunningServer>
{
    [Theory]
    [InlineData("from @all_docs")]
    [InlineData("from As")]
    [InlineData("from As where id() in ('a1', 'a2', 'a3')")]
    [InlineData("from As where startsWith(id(), 'a')")]
    public async Task A_scan_resumes_at_its_position_and_holds_no_snapshot_while_it_pauses(string query)
    {
        string db = await server.CreateDatabaseAsync();
        foreach (string id in (string[])["a1", "a2", "a3"])
        {
            await PutAsync(db, id);
        }

        Assert.True(server.Node.Databases.TryGet(db["/databases/".Length..], out var database));
        using var reader = new AnswerReader(database, client: null);
        using var walk = new QueryWalk(
            reader,
            QueryPlan
                .Read(
                    new QueryRequest(query, "{}"u8.ToArray(), Start: 0, long.MaxValue, Wait: null),
                    database,
                    new IndexedQueries(server.Context.Indexes)
                )
                .DirectRead!
        );
        var ids = new List<string>();
        while (ids.Count < 3 && walk.MoveNext())
        {
            ids.Add(Encoding.UTF8.GetString(walk.View.Id));
            walk.Pause();
            await PutAsync(db, "z"); // a new state replaces the one that was read
            Assert.Equal(TimeSpan.Zero, server.Node.ReadStatistics()!.Storage.OldestReaderAge);
        }

        Assert.Equal(["a1", "a2", "a3"], ids);
    }

    [Theory]
    [InlineData("from As where startsWith(id(), '')", 3)]
    [InlineData("from @all_docs", 2)]
    public async Task A_scan_reports_each_document_that_it_reads(string query, int documentsRead)
    {
        string db = await server.CreateDatabaseAsync();
        await PutAsync(db, "a1");
        await PutAsync(db, "a2");
        await PutAsync(db, "z");
        Assert.True(server.Node.Databases.TryGet(db["/databases/".Length..], out var database));
        int reports = 0;
        using var answer = new DocumentResponse(new DefaultHttpContext(), server.Context.LargeRequests);
        using var reader = new AnswerReader(database, answer);
        using var walk = new QueryWalk(
            reader,
            QueryPlan
                .Read(
                    new QueryRequest(query, "{}"u8.ToArray(), Start: 0, PageSize: 2, Wait: null),
                    database,
                    new IndexedQueries(server.Context.Indexes)
                )
                .DirectRead!
        )
        {
            DocumentRead = () => reports++,
        };
        while (walk.MoveNext())
        {
            Assert.InRange(reports, 1, documentsRead);
        }

        await walk.CountTotalAsync(new QueryTimeSlices(new SimulatedTimeProvider(), TimeSpan.MaxValue, answer));
        Assert.Equal(documentsRead, reports);
    }

    [Theory]
    [InlineData("from @all_docs")]
    [InlineData("from As")]
    [InlineData("from As where id() in ('a1', 'a2', 'a3')")]
    [InlineData("from As where startsWith(id(), 'a')")]
    public async Task A_scan_for_a_client_reads_one_snapshot_however_often_it_pauses(string query)
    {
        string db = await server.CreateDatabaseAsync();
        foreach (string id in (string[])["a1", "a2", "a3"])
        {
            await PutAsync(db, id);
        }

        Assert.True(server.Node.Databases.TryGet(db["/databases/".Length..], out var database));
        using var answer = new DocumentResponse(new DefaultHttpContext(), server.Context.LargeRequests);
        using var reader = new AnswerReader(database, answer);
        using var walk = new QueryWalk(
            reader,
            QueryPlan
                .Read(
                    new QueryRequest(query, "{}"u8.ToArray(), Start: 0, long.MaxValue, Wait: null),
                    database,
                    new IndexedQueries(server.Context.Indexes)
                )
                .DirectRead!
        );
        var ids = new List<string>();
        for (int change = 0; walk.MoveNext(); change++)
        {
            ids.Add(Encoding.UTF8.GetString(walk.View.Id));
            walk.Pause();
            await (
                change == 0 ? server.SendAsync("DELETE", $"{db}/docs?id=a2")
                : change == 1 ? server.SendAsync("DELETE", $"/admin/databases?name={db["/databases/".Length..]}")
                : PutAsync(db, "a4")
            );
        }

        Assert.Equal(["a1", "a2", "a3"], ids);
    }

    /// <summary>A paused index may find any number of documents that were deleted since.</summary>
    [Fact]
    public async Task Skipping_deleted_documents_ends_time_slices_and_counts_as_work()
    {
        string db = await server.CreateDatabaseAsync();
        await PutAsync(db, "a1");
        Assert.True(server.Node.Databases.TryGet(db["/databases/".Length..], out var database));
        using var answer = new DocumentResponse(new DefaultHttpContext(), server.Context.LargeRequests);
        using var reader = new AnswerReader(database, answer);
        var time = new SimulatedTimeProvider();
        var slices = new QueryTimeSlices(time, QueryTimeSlices.MaxWork, answer);
        ReadOnlyMemory<byte>[] ids = [.. Enumerable.Repeat<ReadOnlyMemory<byte>>("gone"u8.ToArray(), 1000)];
        ids[100] = "a1"u8.ToArray(); // the only one that exists
        int slicesEnded = 0;
        using var walk = new QueryWalk(reader, ids, scores: null)
        {
            Interrupts = () =>
            {
                time.Advance(TimeSpan.FromSeconds(1));
                slicesEnded += slices.IsSliceOver ? 1 : 0;
                return slices.IsSliceOver;
            },
        };
        slices.StartClock();
        Assert.True(await walk.MoveNextAsync(slices));
        Assert.Equal("a1", Encoding.UTF8.GetString(walk.View.Id));
        Assert.Equal(100, slicesEnded);
        var refused = await Assert.ThrowsAsync<QueryException>(async () => await walk.MoveNextAsync(slices));
        Assert.Equal(QueryFault.TooCostly, refused.Fault);
    }

    [Fact]
    public async Task Skipping_changed_documents_counts_as_work()
    {
        string db = await server.CreateDatabaseAsync();
        await PutAsync(db, "a1");
        Assert.True(server.Node.Databases.TryGet(db["/databases/".Length..], out var database));
        using var answer = new DocumentResponse(new DefaultHttpContext(), server.Context.LargeRequests);
        using var reader = new AnswerReader(database, answer);
        var time = new SimulatedTimeProvider();
        var slices = new QueryTimeSlices(time, QueryTimeSlices.MaxWork, answer);
        ReadOnlyMemory<byte>[] ids = [.. Enumerable.Repeat<ReadOnlyMemory<byte>>("a1"u8.ToArray(), 1000)];
        int evaluated = 0;
        using var results = new WalkedResults(
            new QueryWalk(reader, ids, scores: null),
            new ResultWriter(database, compiled: null, metadataOnly: false, hasIncludes: false),
            answer,
            slices,
            ids.Length,
            isResult: () =>
            {
                evaluated++;
                time.Advance(TimeSpan.FromSeconds(1));
                return false;
            },
            limit: 10
        );
        var refused = await Assert.ThrowsAsync<QueryException>(async () => await results.MoveNextAsync());
        Assert.Equal(QueryFault.TooCostly, refused.Fault);

        // Each evaluation takes a second, and a query may work for QueryTimeSlices.MaxWork, two minutes.
        Assert.Equal(121, evaluated);
    }

    /// <summary>Each document that is read takes a second, and a time slice is shorter.</summary>
    [Theory]
    [InlineData("from As where startsWith(id(), 'a')", 0, 0)]
    [InlineData("from As where startsWith(id(), '')", 0, 2)]
    [InlineData("from As where id() in ('a2', 'z', 'gone', 'a1')", 0, 2)]
    [InlineData("from As", 1, 1)]
    [InlineData("from @all_docs", 3, 3)]
    public async Task A_direct_read_yields_while_it_skips_and_finds_the_same(
        string query,
        int offset,
        int interruptions
    )
    {
        string db = await server.CreateDatabaseAsync();
        foreach (string id in (string[])["a1", "b1", "a2", "z"])
        {
            await PutAsync(db, id);
        }

        Assert.True(server.Node.Databases.TryGet(db["/databases/".Length..], out var database));
        var expected = await ReadAsync(isSlow: false);
        Assert.Equal(expected, await ReadAsync(isSlow: true));

        async Task<List<string>> ReadAsync(bool isSlow)
        {
            int slicesEnded = 0;
            var time = new SimulatedTimeProvider();
            using var answer = new DocumentResponse(new DefaultHttpContext(), server.Context.LargeRequests);
            using var reader = new AnswerReader(database, answer);
            var slices = new QueryTimeSlices(time, TimeSpan.FromHours(1), answer);
            var plan = QueryPlan.Read(
                new QueryRequest(query, "{}"u8.ToArray(), offset, long.MaxValue, Wait: null),
                database,
                new IndexedQueries(server.Context.Indexes)
            );
            using var results = new WalkedResults(
                new QueryWalk(reader, plan.DirectRead!)
                {
                    DocumentRead = () => time.Advance(TimeSpan.FromSeconds(isSlow ? 1 : 0)),
                    Interrupts = () =>
                    {
                        slicesEnded += slices.IsSliceOver ? 1 : 0;
                        return slices.IsSliceOver;
                    },
                },
                new ResultWriter(database, compiled: null, metadataOnly: false, hasIncludes: false),
                answer,
                slices
            );
            var found = new List<string>();
            while (await results.MoveNextAsync())
            {
                found.Add(Encoding.UTF8.GetString(results.Id));
            }

            found.Add($"{await results.CountAsync()} in total");
            Assert.InRange(slicesEnded, isSlow ? interruptions : 0, isSlow ? 10 : 0);
            return found;
        }
    }

    /// <summary>Each reading of the clock takes a second.</summary>
    [Fact]
    public async Task A_direct_read_works_for_two_minutes_to_find_a_result_and_as_long_as_it_finds_some()
    {
        var time = new SteppingTime();
        var slow = new RunningServer { Time = time };
        await slow.InitializeAsync();
        try
        {
            string db = await slow.CreateDatabaseAsync();
            var puts = Enumerable
                .Range(0, 300)
                .Select(static i =>
                    $$"""{"Id":"a{{i}}","Type":"PUT","Document":{"@metadata":{"@collection":"As"} } }"""
                );
            string batch = $$"""{"Commands":[{{string.Join(',', puts)}}]}""";
            Assert.Equal(201, (await slow.SendAsync("POST", db + "/bulk_docs", batch)).Status);
            time.Step = TimeSpan.FromSeconds(1);
            var all = await slow.SendAsync(
                "POST",
                db + "/queries",
                """{"Query":"from As where startsWith(id(), '')"}"""
            );
            Assert.True(all.Status == 200, all.Body);
            Assert.Equal(300, all.Json.GetProperty("Results").GetArrayLength());
            var none = await slow.SendAsync(
                "POST",
                db + "/queries",
                """{"Query":"from Bs where startsWith(id(), '')"}"""
            );
            none.IsRefusal(400, "2 minutes of work");
        }
        finally
        {
            time.Step = TimeSpan.Zero;
            await slow.DisposeAsync();
        }
    }

    private Task<Answer> PutAsync(string db, string id) =>
        server.SendAsync(
            "PUT",
            $"{db}/docs?id={id}",
            $$"""{"@metadata":{"@collection":"{{(id is "z" or "b1" ? "Zs" : "As")}}"} }"""
        );
}
