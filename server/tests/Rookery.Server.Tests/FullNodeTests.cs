using Microsoft.AspNetCore.Routing;
using Rookery.Server.Access;
using Rookery.Server.Tests.Raven;

namespace Rookery.Server.Tests;

/// <summary>
/// A node at its space reserve: writes that grow the data are refused with one status on every route, other requests
/// work.
/// </summary>
public sealed class FullNodeTests : IAsyncLifetime
{
    private const string Index =
        """{"Indexes":[{"Name":"New","Maps":["from u in docs.Users select new { u.name }"]}]}""";

    private const string Counter =
        """{"Documents":[{"DocumentId":"users/1","Operations":[{"Type":"Increment","CounterName":"a","Delta":1}]}]}""";

    // Clients choose the ids of bulk inserts.
    private const long BulkInsertId = 7000;

    private readonly RunningServer _server = new() { IndexTroubleFound = static _ => { } };
    private string _db = "";

    public Task DisposeAsync() => _server.DisposeAsync();

    public async Task InitializeAsync()
    {
        await _server.InitializeAsync();
        _db = await _server.CreateDatabaseAsync();
        string user = """{"name":"Ann","@metadata":{"@collection":"Users"}}""";
        await AssertStatusAsync(status: 201, "PUT", "docs?id=users/1", user);
        await AssertStatusAsync(
            status: 201,
            "PUT",
            "admin/indexes",
            Index.Replace("New", "Old", StringComparison.Ordinal)
        );
        await AssertStatusAsync(status: 200, "GET", "indexes/progress?wait=15000", body: null);
        _server.Disk.CapacityBytes = _server.Disk.UsedBytes;

        // Free space is checked once a second.
        while ((await _server.SendAsync("PUT", _db + "/docs?id=users/2", user)).Status == 201)
        {
            await Task.Delay(50);
        }
    }

    /// <summary>Requests for every route with a scope that writes, with the expected status.</summary>
    private static readonly (int Status, string Method, string Path, string? Body)[] Requests =
    [
        (507, "PUT", "docs?id=users/3", "{}"),
        (507, "PUT", "docs?id=users/1", "{}"),
        (507, "PATCH", "docs?id=users/1", """{"Patch":{"Script":"this.n = 1"}}"""),
        (507, "PATCH", "json-patch?id=users/1", """{"Operations":[{"op":"add","path":"/n","value":1}]}"""),
        (507, "POST", "counters", Counter),
        (507, "PUT", "attachments?id=users/1&name=a", "x"),
        (204, "DELETE", "attachments?id=users/1&name=a", null),
        (507, "POST", "bulk_docs", """{"Commands":[{"Id":"a","Type":"PUT","Document":{}}]}"""),
        (
            507,
            "POST",
            "bulk_docs",
            """{"Commands":[{"Id":"a","Type":"DELETE"},{"Id":"users/1","Type":"PATCH","Patch":{"Script":"this.n=1"}}]}"""
        ),
        (201, "POST", "bulk_docs", """{"Commands":[{"Id":"a","Type":"DELETE"}]}"""),
        (507, "PUT", "cmpxchg?key=a&index=0", """{"Object":1}"""),
        (200, "DELETE", "cmpxchg?key=a&index=0", null),
        (
            507,
            "POST",
            "bulk_docs",
            """{"Commands":[{"Id":"a","Type":"PUT","Document":{}}],"TransactionMode":"ClusterWide"}"""
        ),
        (
            201,
            "POST",
            "bulk_docs",
            """{"Commands":[{"Id":"a","Index":0,"Type":"CompareExchangeDELETE"}],"TransactionMode":"ClusterWide"}"""
        ),
        (507, "POST", "bulk_insert?id=7", """[{"Id":"a","Type":"PUT","Document":{}}]"""),
        (507, "POST", "import", "{}\n"),
        (507, "POST", "smuggler/import", """{"Docs":[{"a":1,"@metadata":{"@id":"users/9"}}]}"""),
        (507, "GET", "hilo/next?tag=users", null),
        (204, "PUT", "hilo/return?tag=users&end=2&last=1", null),
        (507, "POST", "identity/next?name=users", null),
        (507, "POST", "identity/seed?name=users&value=7", null),
        (507, "PUT", "indexes", Index),
        (507, "PUT", "admin/indexes", Index),
        (204, "RESET", "indexes?name=Old", null),
        (204, "POST", "indexes/set-lock", """{"IndexNames":["Old"],"Mode":"Unlock"}"""),
        (204, "POST", "indexes/set-priority", """{"IndexNames":["Old"],"Priority":"Low"}"""),
        (204, "DELETE", "indexes/errors", null),
        (204, "DELETE", "indexes?name=Old", null),
        (400, "POST", "operations/kill?id=99", null),
        (507, "PUT", "subscriptions", """{"Name":"a","Query":"from Users"}"""),
        (507, "POST", "subscriptions/update", """{"Name":"a","Query":"from Dogs"}"""),
        (204, "DELETE", "subscriptions?taskName=a", null),
        (400, "POST", "subscriptions/drop?name=a", null),
        (507, "POST", "admin/tasks/state?key=1&type=Subscription&disable=true", null),
        (400, "POST", "revisions/revert/docs", """{"IdToChangeVector":{"users/1":"A:1-none"}}"""),
        (200, "POST", "revisions/revert", """{"Time":"2026-01-01T00:00:00.0000000Z"}"""),
        (200, "PATCH", "queries", """{"Query":{"Query":"from Users update { this.n = 1 }"}}"""),
        (200, "DELETE", "queries", """{"Query":"from Dogs"}"""),
        (204, "DELETE", "docs?id=users/1", null),
    ];

    [Fact]
    public async Task On_a_full_disk_every_route_refuses_writes_that_add_data_with_507_and_accepts_others()
    {
        var tested = Requests.Select(request => $"{request.Method} {request.Path.Split('?')[0]}").ToHashSet();
        string[] untested =
        [
            .. _server
                .Routes.Where(static route =>
                    route.Metadata.GetMetadata<RouteScope>() is { } scope
                    && (scope == RouteScope.Write || scope == RouteScope.ReadAndWrite)
                )
                .SelectMany(static route =>
                    route
                        .Metadata.GetMetadata<HttpMethodMetadata>()!
                        .HttpMethods.Select(method =>
                            $"{method} {route.RoutePattern.RawText!["/databases/{database}/".Length..]}"
                        )
                )
                .Where(route => !tested.Contains(route)),
        ];
        Assert.Empty(untested);

        // The sequence matters: the deletions at the end remove what requests before them change.
        foreach (var (status, method, path, body) in Requests)
        {
            await AssertStatusAsync(status, method, path, body);
        }

        (await _server.SendAsync("PUT", "/admin/databases?name=more", """{"DatabaseName":"more"}""")).IsRefusal(
            507,
            "free"
        );
    }

    /// <summary>Operations that continue after their answer report the failure in their state.</summary>
    [Fact]
    public async Task Long_operations_fail_with_the_full_disk_as_their_reason()
    {
        var started = await _server.SendAsync(
            "PATCH",
            _db + "/queries",
            """{"Query":{"Query":"from Users update { this.n = 1 }"}}"""
        );
        long id = started.Json.GetProperty("OperationId").GetInt64();
        Assert.Contains("507", await WaitForFaultAsync(id), StringComparison.Ordinal);
        await AssertStatusAsync(
            status: 507,
            "POST",
            $"bulk_insert?id={BulkInsertId}",
            """[{"Id":"a","Type":"PUT","Document":{}}]"""
        );
        Assert.Contains("507", await WaitForFaultAsync(BulkInsertId), StringComparison.Ordinal);
    }

    // Waits until an operation has failed, and returns its result.
    private async Task<string> WaitForFaultAsync(long id)
    {
        while (true)
        {
            var state = (await _server.SendAsync("GET", $"{_db}/operations/state?id={id}")).Json;
            if (state.GetProperty("Status").GetString() is not "InProgress")
            {
                Assert.Equal("Faulted", state.GetProperty("Status").GetString());
                return state.GetProperty("Result").GetRawText();
            }

            await Task.Delay(20);
        }
    }

    private async Task AssertStatusAsync(int status, string method, string path, string? body)
    {
        var answer = await _server.SendAsync(method, $"{_db}/{path}", body);
        Assert.True(
            answer.Status == status,
            $"the status of {method} {path} is {answer.Status} instead of {status}: {answer.Body}"
        );
        if (status == 507)
        {
            answer.IsRefusal(507, "free");
        }
    }
}
