using System.Text.Json;
using Rookery.Documents.Consensus;
using Rookery.Simulation;

namespace Rookery.Server.Tests.Raven;

/// <summary>A revert of all documents, while revisions are removed.</summary>
public sealed class RevertRemovedRevisionTests
{
    [Fact]
    public async Task A_document_whose_revision_was_removed_meanwhile_counts_as_skipped()
    {
        var time = new SimulatedTimeProvider();
        OneOfThree? member = null;
        var server = new RunningServer
        {
            NodeTime = time,
            WrapConsensus = alone => member = new OneOfThree(alone, static _ => Task.CompletedTask),
        };
        await server.InitializeAsync();
        try
        {
            string db = await server.CreateDatabaseAsync();
            await server.SendAsync("POST", db + "/admin/revisions/config", """{"Default":{"Disabled":false}}""");
            await server.SendAsync("PUT", db + "/docs?id=a", """{"n":1}""");
            time.Advance(TimeSpan.FromMinutes(1));
            string body = JsonSerializer.Serialize(new { Time = time.GetUtcNow().UtcDateTime });
            time.Advance(TimeSpan.FromMinutes(1));
            await server.SendAsync("PUT", db + "/docs?id=a", """{"n":2}""");

            // The apply thread finds no such revision.
            member!.WriteRejection = new Rejection(RejectionKind.Invalid, "Document a has no such revision.");
            var started = await server.SendAsync("POST", db + "/revisions/revert", body);
            Assert.True(started.Status == 200, started.Body);
            string path = $"{db}/operations/state?id={started.Json.GetProperty("OperationId").GetInt64()}";
            JsonElement state;
            do
            {
                await Task.Delay(1);
                state = (await server.SendAsync("GET", path)).Json;
            } while (state.GetProperty("Status").GetString() is "InProgress");

            var result = state.GetProperty("Result");
            Assert.Equal(
                (0, 1),
                (result.GetProperty("RevertedDocuments").GetInt32(), result.GetProperty("SkippedDocuments").GetInt32())
            );
            member.WriteRejection = null;
        }
        finally
        {
            await server.DisposeAsync();
        }
    }
}
