using Microsoft.AspNetCore.Http;
using Rookery.Documents.Attachments;
using Rookery.Server.Raven;
using Rookery.Server.Raven.Smuggler;

namespace Rookery.Server.Tests.Raven;

/// <summary>The bytes of attachments in a dump.</summary>
public sealed class DumpContentsTests(NodeInDiagnosis damaged, RunningServer server)
    : IClassFixture<NodeInDiagnosis>,
        IClassFixture<RunningServer>
{
    /// <summary>Formerly, it exported the documents alone, and counted their attachments as exported.</summary>
    [Fact]
    public async Task A_node_that_reads_no_attachments_refuses_to_export_them()
    {
        string db = await server.CreateDatabaseAsync();
        Assert.True(server.Node.Databases.TryGet(db["/databases/".Length..], out var database));
        using var answer = new DocumentResponse(new DefaultHttpContext(), server.Context.LargeRequests);
        using var dump = new DumpWriter(answer.Buffer);
        var operation = new SmugglerOperation(database.Number, id: 1);
        var contents = new DumpContents(damaged.Context, database, operation, answer, dump);
        var refused = await Assert.ThrowsAsync<RefusedException>(() =>
            contents.WriteAsync([(default(ContentHash), 3)], static () => { })
        );
        Assert.Equal(StatusCodes.Status501NotImplemented, refused.Status);
        Assert.Equal(0, operation.Attachments.Done);
    }
}
