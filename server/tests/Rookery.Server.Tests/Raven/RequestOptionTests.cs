using System.Text.RegularExpressions;
using Microsoft.AspNetCore.Routing;
using Rookery.Server.Raven;

namespace Rookery.Server.Tests.Raven;

/// <summary>
/// Every option of a request is obeyed or refused by name; docs/reference/clients.md has the whole list.
/// </summary>
public sealed partial class RequestOptionTests(RunningServer server) : IClassFixture<RunningServer>
{
    [Fact]
    public async Task Every_route_refuses_parameters_that_it_does_not_know_by_name()
    {
        string db = await server.CreateDatabaseAsync();
        foreach (var (method, path, _, _) in RoutesWithParameters(db))
        {
            var answer = await server.SendAsync(method, path + "?&surprise=1&nodeTag=A");
            Assert.True(answer.Status == 501, $"{method} {path}: {answer.Status} {answer.Body}");
            if (!string.Equals(method, "HEAD", StringComparison.Ordinal))
            {
                answer.IsRefusal(501, "'surprise'");
            }
        }
    }

    [Theory]
    [InlineData("PUT", "/docs?id=a&raft-request-id=1&raft-request-id=2", "{}")]
    [InlineData("GET", "/docs?id=a&nodeTag=A&NodeTag=B", null)]
    [InlineData("POST", "/queries?queryHash=1&queryHash=2", """{"Query":"from A"}""")]
    public async Task Ignored_parameters_that_occur_twice_are_refused(string method, string route, string? body)
    {
        string db = await server.CreateDatabaseAsync();
        (await server.SendAsync(method, db + route, body)).IsRefusal(400, "twice");
    }

    [Fact]
    public async Task Every_route_refuses_a_parameter_that_occurs_twice_unless_it_takes_a_list()
    {
        string db = await server.CreateDatabaseAsync();
        int count = 0;
        foreach (var endpoint in server.Routes)
        {
            var parameters = endpoint.Metadata.GetMetadata<RouteParameters>();
            string path = PlaceholderPattern()
                .Replace(DatabasePattern().Replace(endpoint.RoutePattern.RawText!, db), "x");
            string[] names = [.. parameters!.ObeyedOnce];
            foreach (string method in endpoint.Metadata.GetMetadata<HttpMethodMetadata>()?.HttpMethods ?? ["GET"])
            {
                foreach (string name in names)
                {
                    var answer = await server.SendAsync(method, $"{path}?{name}=1&{name.ToUpperInvariant()}=2");
                    Assert.True(answer.Status == 400, $"{method} {path} {name}: {answer.Status} {answer.Body}");
                    if (!string.Equals(method, "HEAD", StringComparison.Ordinal))
                    {
                        answer.IsRefusal(400, "twice");
                    }

                    count++;
                }
            }
        }

        Assert.True(count > 200, $"only {count} parameters were repeated");
    }

    /// <summary>With a misspelt name ignored, the leadership moved to any voter.</summary>
    [Theory]
    [InlineData("POST", "/admin/cluster/nodes/transfer?nmae=B", null, "'nmae'")]
    [InlineData("DELETE", "/admin/access/tokens?name=a&Nane=b", null, "'Nane'")]
    [InlineData("POST", "/admin/compact?database=db", """{"DatabaseName":"db","Documents":true}""", "'database'")]
    [InlineData("GET", "/operations/state?id=1&db=a", null, "'db'")]
    [InlineData("GET", "/readyz?verbosely", null, "'verbosely'")]
    [InlineData("GET", "/dashboard/redis?nodes=A", null, "'nodes'")]
    [InlineData("GET", "/admin/logs?level=error", null, "'level'")]
    public async Task A_misspelt_parameter_outside_databases_is_refused(
        string method,
        string path,
        string? body,
        string name
    ) => (await server.SendAsync(method, path, body)).IsRefusal(501, name);

    [Theory]
    [InlineData("/metrics?collect[]=cpu&collect[]=meminfo")]
    [InlineData("/?utm_source=mail")]
    [InlineData("/help/reference/http.md?plain&v=2")]
    public async Task Files_and_metrics_are_sent_whatever_the_parameters(string path) =>
        Assert.Equal(200, (await server.SendAsync("GET", path)).Status);

    [Fact]
    public async Task Routes_that_read_no_body_refuse_one()
    {
        string[] refusing =
        [
            .. RoutesWithParameters("/databases/none")
                .Where(static route => route.Parameters.TakesNoBody && route.Method is not ("GET" or "HEAD"))
                .Select(static route => $"{route.Method} {route.Path}"),
        ];
        Assert.Contains("POST /admin/cluster/nodes/transfer", refusing, StringComparer.Ordinal);
        Assert.Contains("POST /admin/node/find", refusing, StringComparer.Ordinal);
        foreach (string route in refusing)
        {
            string[] parts = route.Split(' ');
            (await server.SendAsync(parts[0], parts[1], """{"name":"B"}""")).IsRefusal(400, "reads no body");
        }
    }

    /// <summary>
    /// If one of them were obeyed and the other ignored, a request could delete another database than the client meant.
    /// </summary>
    [Theory]
    [InlineData("POST", "/queries", """{"Query":"from A","Query":"from B"}""")]
    [InlineData("POST", "/queries", """{"Query":"from A","PageSize":1,"PageSize":2}""")]
    [InlineData("POST", "/streams/queries", """{"Query":"from A","Query":"from B"}""")]
    [InlineData("PATCH", "/queries", """{"Query":{"Query":"from A update {}"},"Query":{"Query":"from B update {}"}}""")]
    [InlineData("DELETE", "/queries", """{"Query":"from A","Query":"from B"}""")]
    [InlineData("POST", "/docs", """{"Ids":["a"],"Ids":["b"]}""")]
    [InlineData("POST", "/multi_get", """{"Requests":[{"Url":"/a","Query":"?id=a","Query":"?id=b"}]}""")]
    [InlineData("POST", "/multi_get", """{"Requests":[],"Requests":[]}""")]
    [InlineData("DELETE", "", """{"DatabaseNames":["a"],"DatabaseNames":["b"],"HardDelete":true}""")]
    public async Task Members_of_a_body_that_occur_twice_are_refused(string method, string route, string body)
    {
        string db = await server.CreateDatabaseAsync();
        string path = route.Length == 0 ? "/admin/databases" : db + route;
        (await server.SendAsync(method, path, body)).IsRefusal(400, "twice");
    }

    [Fact]
    public void A_repeated_name_is_found_among_any_number_of_members()
    {
        // More than the names that MemberNames compares one by one.
        var names = default(MemberNames);
        for (int i = 0; i < 50; i++)
        {
            names.Add($"name {i}");
        }

        for (int i = 0; i < 50; i++)
        {
            string name = $"name {i}";
            Assert.Throws<RefusedException>(() => names.Add(name));
        }
    }

    [Fact]
    public async Task Every_write_refuses_conditions_and_keys_that_it_does_not_obey()
    {
        string db = await server.CreateDatabaseAsync();
        foreach (var (method, path, parameters, _) in RoutesWithParameters(db))
        {
            if (!parameters.TakesIfMatch)
            {
                Assert.Equal(
                    501,
                    (await server.SendAsync(method, path, (string?)null, ("If-Match", "\"A:1-x\""))).Status
                );
            }

            if (method is "PUT" or "DELETE" or "PATCH" or "RESET")
            {
                (await server.SendAsync(method, path, (string?)null, ("If-None-Match", "*"))).IsRefusal(
                    501,
                    "If-None-Match"
                );
                (
                    await server.SendAsync(
                        method,
                        path,
                        (string?)null,
                        ("If-Unmodified-Since", "Sat, 21 Nov 2026 09:49:45 GMT")
                    )
                ).IsRefusal(501, "If-Unmodified-Since");
                if (!parameters.TakesKey)
                {
                    (await server.SendAsync(method, path, (string?)null, ("Idempotency-Key", "k"))).IsRefusal(
                        400,
                        "Idempotency-Key"
                    );
                }
            }
        }
    }

    [Theory]
    [InlineData("GET", "docs?startsWith=a&counter=likes", "counter")]
    [InlineData("GET", "docs?id=a&timeseries=hr&from=&to=", "timeseries")]
    [InlineData("GET", "docs?id=a&timeseriestime=hr&timeType=Last&timeValue=1&timeUnit=Hour", "timeseriestime")]
    [InlineData("GET", "docs?startsWith=a&revisions=p", "revisions")]
    [InlineData("GET", "docs?startsWith=a&revisionsBefore=2026-01-01T00:00:00.0000000Z", "revisionsBefore")]
    [InlineData("GET", "docs?startsWith=a&cmpxchg=k", "cmpxchg")]
    [InlineData("PATCH", "docs?id=a&test=true", "test")]
    [InlineData("PATCH", "docs?id=a&debug=true", "debug")]
    [InlineData("POST", "queries?queryHash=1&debug=entries", "debug=entries")]
    [InlineData("POST", "queries?queryHash=1&ignoreLimit=true", "ignoreLimit")]
    [InlineData("POST", "queries?addSpatialProperties=true", "addSpatialProperties")]
    [InlineData("POST", "bulk_docs?shardedBatchBehavior=TransactionalSingleBucketOnly", "shardedBatchBehavior")]
    [InlineData("PATCH", "queries?ignoreMaxStepsForScript=true", "ignoreMaxStepsForScript")]
    [InlineData("PATCH", "queries?disableAutoIndexCreation=true", "disableAutoIndexCreation")]
    [InlineData("DELETE", "queries?operationId=5", "operationId")]
    [InlineData("RESET", "indexes?name=a&mode=InPlace", "mode")]
    [InlineData("POST", "admin/indexes/stop?type=map", "type=map")]
    [InlineData("POST", "bulk_insert?id=1&shardNumber=0", "shardNumber")]
    [InlineData("GET", "streams/docs?format=csv", "format=csv")]
    public async Task Unsupported_client_options_are_refused_by_name(string method, string route, string named)
    {
        string db = await server.CreateDatabaseAsync();
        string body =
            !route.StartsWith("queries", StringComparison.Ordinal) ? "{}"
            : method is "PATCH" ? """{"Query":{"Query":"from Users update { this.a = 1 }"}}"""
            : """{"Query":"from Users"}""";
        (await server.SendAsync(method, $"{db}/{route}", method is "GET" or "RESET" ? null : body)).IsRefusal(
            501,
            named
        );
    }

    [Theory]
    [InlineData("GET", "docs?id=a&startsWith=b", "startsWith")]
    [InlineData("GET", "docs?id=a&pageSize=1", "pageSize")]
    [InlineData("PUT", "docs?id=a&id=b", "'id'")]
    [InlineData("GET", "streams/docs?startsWith=a&startsWith=b", "'startsWith'")]
    [InlineData("POST", "bulk_docs?waitForIndexesTimeout=1&waitForIndexesTimeout=2", "'waitForIndexesTimeout'")]
    public async Task Conflicting_or_repeated_parameters_are_refused(string method, string route, string named)
    {
        string db = await server.CreateDatabaseAsync();
        (await server.SendAsync(method, $"{db}/{route}", method is "GET" ? null : "{}")).IsRefusal(400, named);
    }

    [Theory]
    [InlineData("POST", "docs", """{"Ids":[],"MetadataOnly":true}""", "MetadataOnly")]
    [InlineData("POST", "queries", """{"Query":"from Users","ShowTimings":true}""", "ShowTimings")]
    [InlineData(
        "POST",
        "queries",
        """{"Query":"from Users","WaitForNonStaleResultsAsOfNow":true}""",
        "WaitForNonStaleResultsAsOfNow"
    )]
    [InlineData("POST", "streams/queries", """{"Query":"from Users","Surprise":{}}""", "Surprise")]
    [InlineData("DELETE", "queries", """{"Query":"from Users","Surprise":0}""", "Surprise")]
    [InlineData(
        "PATCH",
        "queries",
        """{"Query":{"Query":"from Users update { this.a = 1 }"},"Options":{}}""",
        "Options"
    )]
    [InlineData(
        "PATCH",
        "queries",
        """{"Query":{"Query":"from Users update { this.a = 1 }","Surprise":[]}}""",
        "Surprise"
    )]
    [InlineData("PATCH", "docs?id=a", """{"Patch":{"Script":"this.a = 1"},"CreateIfMissing":{}}""", "CreateIfMissing")]
    [InlineData("PATCH", "docs?id=a", """{"Patch":{"Script":"this.a = 1","Surprise":1}}""", "Surprise")]
    [InlineData("POST", "bulk_docs", """{"Commands":[],"Surprise":1}""", "Surprise")]
    [InlineData("POST", "bulk_docs", """{"Commands":[{"Id":"a","Type":"DELETE","Surprise":1}]}""", "Surprise")]
    [InlineData(
        "POST",
        "bulk_insert",
        """[{"Id":"a","Type":"PUT","Document":{},"ChangeVector":"A:1-x"}]""",
        "ChangeVector"
    )]
    [InlineData("POST", "multi_get", """{"Requests":[],"Surprise":1}""", "Surprise")]
    [InlineData("POST", "multi_get", """{"Requests":[{"Url":"/docs","Surprise":1}]}""", "Surprise")]
    [InlineData("PUT", "admin/indexes", """{"Indexes":[],"Surprise":1}""", "Surprise")]
    [InlineData(
        "PUT",
        "indexes",
        """{"Indexes":[{"Name":"A","Maps":["from u in docs.U select new { u.a }"],"Surprise":1}]}""",
        "Surprise"
    )]
    [InlineData(
        "PUT",
        "indexes",
        """{"Indexes":[{"Name":"A","Maps":["map('U', u => ({ a: { $value: u.a, $options: { storage: true } } }))"]}]}""",
        "$value"
    )]
    [InlineData(
        "PUT",
        "indexes",
        """{"Indexes":[{"Name":"A","Maps":["from u in docs.U select new { u.a }"],"DeploymentMode":"Rolling"}]}""",
        "DeploymentMode"
    )]
    [InlineData(
        "PUT",
        "indexes",
        """{"Indexes":[{"Name":"A","Maps":["from u in docs.U select new { u.a }"],"SourceType":"Counters"}]}""",
        "SourceType"
    )]
    [InlineData(
        "PUT",
        "indexes",
        """
            {"Indexes":[{"Name":"A","Maps":["from u in docs.U select new { u.a }"],
            "ArchivedDataProcessingBehavior":"ArchivedOnly"}]}
            """,
        "ArchivedDataProcessingBehavior"
    )]
    [InlineData("POST", "indexes/set-lock", """{"IndexNames":["A"],"Mode":"Unlock","Surprise":1}""", "Surprise")]
    [InlineData("POST", "indexes/set-priority", """{"IndexNames":["A"],"Priority":"Low","Surprise":1}""", "Surprise")]
    public async Task Members_that_would_be_ignored_are_refused_by_name(
        string method,
        string route,
        string? body,
        string named
    )
    {
        string db = await server.CreateDatabaseAsync();
        (await server.SendAsync(method, $"{db}/{route}", body)).IsRefusal(501, named);
    }

    [Fact]
    public async Task An_unknown_member_of_a_deletion_is_refused_by_name()
    {
        var deleted = await server.SendAsync(
            "DELETE",
            "/admin/databases",
            """{"DatabaseNames":["none"],"HardDelete":true,"Surprise":1}"""
        );
        deleted.IsRefusal(501, "Surprise");
    }

    [Theory]
    [InlineData(
        "POST",
        "queries",
        """
            {"Query":"from Users","DisableCaching":true,"SkipDuplicateChecking":true,"PageSizeSet":false,
            "Start":null}
            """,
        200
    )]
    [InlineData(
        "PUT",
        "indexes",
        """
            {"Indexes":[{"Name":"A","Maps":["from u in docs.U select new { u.a }"],"IndexSourceType":"Documents",
            "IndexType":"Map","State":null,
            "AdditionalSources":{},"DeploymentMode":null,"ReduceOutputIndex":null,"Fields":{},"Configuration":{}}]}
            """,
        201
    )]
    public async Task Harmless_members_of_client_bodies_are_ignored(
        string method,
        string route,
        string body,
        int status
    )
    {
        string db = await server.CreateDatabaseAsync();
        var answer = await server.SendAsync(method, $"{db}/{route}", body);
        Assert.True(answer.Status == status, answer.Body);
    }

    [Theory]
    [InlineData("""{"Url":"/docs","Query":"?id=a&timeseries=likes"}""", 501, "timeseries")]
    [InlineData(
        """{"Url":"/queries","Query":"?ignoreLimit=true","Method":"POST","Content":"{}"}""",
        501,
        "ignoreLimit"
    )]
    [InlineData("""{"Url":"/docs","Query":"?id=a&consistency=local"}""", 400, "consistency")]
    [InlineData("""{"Url":"/docs","Query":"?id=a","Headers":{"If-Match":"x"}}""", 501, "If-Match")]
    [InlineData("""{"Url":"/docs%00","Query":"?id=a"}""", 501, "/docs%00")]
    [InlineData("""{"Url":"/docs%","Query":"?id=a"}""", 501, "/docs%")]
    public async Task Requests_in_a_multi_get_obey_the_same_rules(string part, int status, string named)
    {
        string db = await server.CreateDatabaseAsync();
        var answer = await server.SendAsync("POST", db + "/multi_get", $$"""{"Requests":[{{part}}]}""");
        var result = answer.Json.GetProperty("Results")[0];
        Assert.Equal(status, result.GetProperty("StatusCode").GetInt32());
        Assert.Contains(
            named,
            result.GetProperty("Result").GetProperty("Message").GetString(),
            StringComparison.Ordinal
        );
    }

    [Theory]
    [InlineData("GET", "/topology?name={0}&first-topology-update&applicationIdentifier=6b0e")]
    [InlineData("GET", "/cluster/topology?timer-callback")]
    [InlineData("GET", "/databases/{0}/stats?failover-check")]
    [InlineData("GET", "/databases/{0}/stats/detailed?failover-check&nodeTag=A")]
    [InlineData("GET", "/databases/{0}/indexes?start=0&pageSize25%20")]
    [InlineData("GET", "/databases/{0}/docs?&start=0&pageSize=5&startsWith=users%2F&matches=&exclude=&startAfter=")]
    public async Task Harmless_parameters_of_clients_are_ignored(string method, string route)
    {
        string db = await server.CreateDatabaseAsync();
        var answer = await server.SendAsync(method, string.Format(null, route, db["/databases/".Length..]));
        Assert.True(answer.Status == 200, answer.Body);
    }

    [Fact]
    public void The_manual_lists_every_parameter_of_every_route()
    {
        string manual = File.ReadAllText(Path.Join(Repository.Root, "docs", "reference", "clients.md"));
        string[] missing =
        [
            .. RoutesWithParameters("{db}")
                .Where(static route => !route.IsHeadOfGet)
                .Select(static route => RowOf(route.Method, route.Path, route.Parameters))
                .Where(row => !manual.Contains(row, StringComparison.Ordinal)),
        ];
        Assert.True(missing.Length == 0, "docs/reference/clients.md lacks these rows:\n" + string.Join('\n', missing));
        foreach (var (name, reason) in RouteParameters.IgnoredAnywhere)
        {
            Assert.Contains($"`{name}` {reason}", manual, StringComparison.Ordinal);
        }
    }

    /// <summary>Returns the row of a route in the manual's table of parameters.</summary>
    private static string RowOf(string method, string path, RouteParameters parameters)
    {
        string obeyed = JoinOrDash(parameters.Obeyed.Select(static name => $"`{name}`"), ", ");
        string ignored = JoinOrDash(
            parameters.Ignored.Select(static ignored => $"`{ignored.Key}` {ignored.Value}"),
            "; "
        );
        return $"| `{method} {path}` | {obeyed} | {ignored} |";
    }

    private static string JoinOrDash(IEnumerable<string> parts, string between) =>
        string.Join(between, parts) is { Length: > 0 } list ? list : "–";

    private IEnumerable<OptionRoute> RoutesWithParameters(string db) =>
        from endpoint in server.Routes
        let parameters = endpoint.Metadata.GetMetadata<RouteParameters>()
        where parameters != RouteParameters.Any
        let methods = endpoint.Metadata.GetMetadata<HttpMethodMetadata>()!.HttpMethods
        from method in methods
        let path = DatabasePattern().Replace(endpoint.RoutePattern.RawText!, db)
        orderby path, method
        select new OptionRoute(method, path, parameters, method is "HEAD" && methods.Count > 1);

    private sealed record OptionRoute(string Method, string Path, RouteParameters Parameters, bool IsHeadOfGet);

    [GeneratedRegex(@"\{[^}]*\}", RegexOptions.None, matchTimeoutMilliseconds: 10_000)]
    private static partial Regex PlaceholderPattern();

    [GeneratedRegex(@"^/databases/\{database\}", RegexOptions.None, matchTimeoutMilliseconds: 10_000)]
    private static partial Regex DatabasePattern();
}
