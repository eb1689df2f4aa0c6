using System.IO.Pipelines;
using Microsoft.AspNetCore.Http;
using Rookery.Server.Raven.Databases;

namespace Rookery.Server.Tests.Raven.Databases;

/// <summary>The counts of a database.</summary>
public sealed class StatisticsRouteTests(RunningServer server) : IClassFixture<RunningServer>
{
    [Fact]
    public async Task A_client_that_does_not_read_them_holds_no_snapshot()
    {
        string db = await server.CreateDatabaseAsync();
        Assert.True(server.Node.Databases.TryGet(db.Split('/')[^1], out var database));
        var connection = new Pipe(new PipeOptions(pauseWriterThreshold: 1, resumeWriterThreshold: 1));
        var http = new DefaultHttpContext();
        http.Response.Body = connection.Writer.AsStream();
        var answering = new StatisticsRoutes(server.Context).StatsAsync(http, database);
        Assert.False(answering.IsCompleted);

        // A newer state replaces the one that the answer is from.
        await server.SendAsync("PUT", db + "/docs?id=a", "{}");
        await server.Node.MergeFilesAsync(CancellationToken.None);
        Assert.Equal(TimeSpan.Zero, server.Node.ReadStatistics()!.Storage.OldestReaderAge);

        await connection.Reader.ReadAsync();
        await connection.Reader.CompleteAsync();
        await answering;
    }
}
