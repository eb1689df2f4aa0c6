using System.Net;
using System.Text;

namespace Rookery.Server.Tests.Raven;

/// <summary>Long uploads whose database is disabled before their content is stored.</summary>
public sealed class InterruptedUploadTests(RunningServer server) : IClassFixture<RunningServer>
{
    private const string Names = """{"DatabaseNames":["NAME"]}""";

    /// <summary>Formerly, the answer was 400, as if the client had left or its request were malformed.</summary>
    [Theory]
    [InlineData(
        "smuggler/import?operationId=",
        """{"CounterGroups":[{"DocId":"a","Values":{"@vals":{"likes":[1,7]}}}]}""",
        HttpStatusCode.ServiceUnavailable
    )]
    [InlineData(
        "bulk_insert?id=",
        """[{"Id":"a","Type":"Counters","Counters":{"Operations":[{"Type":"Increment","CounterName":"x","Delta":1}]}}]""",
        HttpStatusCode.InternalServerError
    )]
    public async Task An_upload_to_a_database_that_was_disabled_meanwhile_names_the_cause(
        string route,
        string body,
        HttpStatusCode status
    )
    {
        string db = await server.CreateDatabaseAsync();
        Assert.Equal(201, (await server.SendAsync("PUT", db + "/docs?id=a", "{}")).Status);
        const int Operation = 4711;
        using var held = new HeldContent(body, () => DisableAsync(db, Operation));
        using var answer = await server.Http.PostAsync(new Uri(server.Address, $"{db}/{route}{Operation}"), held);
        Assert.Equal(status, answer.StatusCode);
        Assert.Contains("was disabled", await answer.Content.ReadAsStringAsync(), StringComparison.Ordinal);
    }

    // Waits until the operation has begun, and so has found its database.
    private async Task DisableAsync(string db, int operation)
    {
        while ((await server.SendAsync("GET", $"{db}/operations/state?id={operation}")).Status != 200)
        {
            await Task.Delay(10);
        }

        string names = Names.Replace("NAME", db.Split('/')[^1], StringComparison.Ordinal);
        Assert.Equal(200, (await server.SendAsync("POST", "/admin/databases/disable", names)).Status);
    }

    /// <summary>A body that is sent after an action, which follows the headers.</summary>
    private sealed class HeldContent(string body, Func<Task> before) : HttpContent
    {
        protected override async Task SerializeToStreamAsync(Stream stream, TransportContext? context)
        {
            await stream.FlushAsync();
            await before();
            await stream.WriteAsync(Encoding.UTF8.GetBytes(body));
        }

        protected override bool TryComputeLength(out long length)
        {
            length = 0;
            return false;
        }
    }
}
