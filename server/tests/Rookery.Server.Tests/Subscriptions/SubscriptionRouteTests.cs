using System.Text.Json;
using Rookery.Server.Tests.Raven;

namespace Rookery.Server.Tests.Subscriptions;

/// <summary>The definitions of subscriptions over HTTP.</summary>
public sealed class SubscriptionRouteTests(RunningServer server) : IClassFixture<RunningServer>
{
    [Fact]
    public async Task A_subscription_is_defined_listed_changed_and_deleted()
    {
        string db = await server.CreateDatabaseAsync();
        var created = await PutAsync(db, """{"Name":"Mine","Query":"from Orders"}""");
        Assert.Equal((201, "Mine"), (created.Status, created.Json.GetProperty("Name").GetString()));
        Assert.Equal(201, (await PutAsync(db, """{"Query":"from Users"}""")).Status);
        Assert.Equal(["2", "Mine"], Names(await server.SendAsync("GET", $"{db}/subscriptions?start=0&pageSize=9")));
        Assert.Equal(["Mine"], Names(await server.SendAsync("GET", $"{db}/subscriptions?start=1&pageSize=9")));

        var state = await StateAsync(db, "mINE");
        Assert.Equal("from Orders", state.GetProperty("Query").GetString());
        Assert.Equal(JsonValueKind.Null, state.GetProperty("ChangeVectorForNextBatchStartingPoint").ValueKind);
        Assert.Equal("A", state.GetProperty("ResponsibleNode").GetProperty("NodeTag").GetString());
        long id = state.GetProperty("SubscriptionId").GetInt64();

        var renamed = await server.SendAsync(
            "POST",
            $"{db}/subscriptions/update",
            $$"""{"Id":{{id}},"Name":"Ours","ChangeVector":"DoNotChange"}"""
        );
        Assert.Equal((200, "Ours"), (renamed.Status, renamed.Json.GetProperty("Name").GetString()));
        (await PutAsync(db, """{"Query":"from A"}""", $"?id={id + 9}")).IsRefusal(400, "There is no subscription");
        Assert.Equal(201, (await PutAsync(db, """{"Query":"from A"}""", $"?id={id}")).Status);
        Assert.Equal("from A", (await StateAsync(db, "Ours")).GetProperty("Query").GetString());

        Assert.Equal(204, (await server.SendAsync("DELETE", $"{db}/subscriptions?taskName=OURS")).Status);
        Assert.Equal(204, (await server.SendAsync("DELETE", $"{db}/subscriptions?taskName=OURS")).Status);
        var missing = await server.SendAsync("GET", $"{db}/subscriptions/state?name=Ours");
        missing.IsRefusal(400, "There is no subscription 'Ours'");
        Assert.Contains("SubscriptionDoesNotExistException", missing.Body, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_list_has_25_subscriptions_unless_the_request_asks_for_another_number()
    {
        string db = await server.CreateDatabaseAsync();
        string[] names = [.. Enumerable.Range(0, 27).Select(static i => $"s{i:D2}")];
        string query = $"from A where x = '{new string('<', 60_000)}'"; // each takes six bytes in JSON
        foreach (string name in names)
        {
            await PutAsync(db, $$"""{"Name":"{{name}}","Query":"{{query}}"}""");
        }

        Assert.Equal(names[..25], Names(await server.SendAsync("GET", $"{db}/subscriptions")));
        Assert.Equal(names[1..], Names(await server.SendAsync("GET", $"{db}/subscriptions?start=1&pageSize=100")));
        Assert.Empty(Names(await server.SendAsync("GET", $"{db}/subscriptions?start=27")));
    }

    [Fact]
    public async Task Too_many_include_paths_are_refused_when_a_subscription_is_defined()
    {
        string db = await server.CreateDatabaseAsync();
        string paths = string.Join(',', Enumerable.Range(0, 65).Select(static i => $"p{i}"));
        var refused = await PutAsync(db, $$"""{"Name":"a","Query":"from A include {{paths}}"}""");
        refused.IsRefusal(400, "at most 64 include paths");
    }

    [Fact]
    public async Task A_subscription_is_disabled_and_enabled_as_an_ongoing_task()
    {
        string db = await server.CreateDatabaseAsync();
        await PutAsync(db, """{"Name":"a","Query":"from A"}""");
        foreach (bool disabled in (bool[])[true, false])
        {
            string flag = disabled ? "true" : "false";
            var answer = await server.SendAsync(
                "POST",
                $"{db}/admin/tasks/state?key=0&type=Subscription&disable={flag}&taskName=A"
            );
            Assert.Equal((200, 1), (answer.Status, answer.Json.GetProperty("TaskId").GetInt32()));
            Assert.Equal(disabled, (await StateAsync(db, "a")).GetProperty("Disabled").GetBoolean());
            foreach (string which in (string[])["key=1", "taskName=A"])
            {
                var task = await server.SendAsync("GET", $"{db}/task?{which}&type=Subscription");
                Assert.Equal((200, 1), (task.Status, task.Json.GetProperty("TaskId").GetInt32()));
                Assert.Equal("a", task.Json.GetProperty("TaskName").GetString());
                Assert.Equal("from A", task.Json.GetProperty("Query").GetString());
                Assert.Equal(
                    (disabled ? "Disabled" : "Enabled", "NotActive"),
                    (
                        task.Json.GetProperty("TaskState").GetString(),
                        task.Json.GetProperty("TaskConnectionStatus").GetString()
                    )
                );
            }
        }

        (await server.SendAsync("GET", $"{db}/task?key=7&type=Subscription")).IsRefusal(400, "with the id 7");
        (await server.SendAsync("GET", $"{db}/task?type=Subscription")).IsRefusal(400, "'key'");
        (await server.SendAsync("GET", $"{db}/task?key=1&type=RavenEtl")).IsRefusal(501, "'RavenEtl'");

        (
            await server.SendAsync("POST", $"{db}/admin/tasks/state?key=0&type=Subscription&disable=true&taskName=x")
        ).IsRefusal(400, "There is no subscription 'x'");
        (await server.SendAsync("POST", $"{db}/admin/tasks/state?key=7&type=Subscription&disable=true")).IsRefusal(
            400,
            "with the id 7"
        );
        (await server.SendAsync("POST", $"{db}/admin/tasks/state?key=0&type=Backup&disable=true&taskName=x")).IsRefusal(
            501,
            "'Backup'"
        );
        (await server.SendAsync("POST", $"{db}/admin/tasks/state?key=1&type=Subscription")).IsRefusal(400, "'disable'");
    }

    [Fact]
    public async Task The_name_of_a_subscription_has_any_characters_but_control_characters()
    {
        string db = await server.CreateDatabaseAsync();
        Assert.Equal(201, (await PutAsync(db, """{"Name":"Rooks 🐦 \uD83D\uDE21","Query":"from A"}""")).Status);
        string name = "rooks 🐦 \uD83D\uDE21";
        Assert.Equal("Rooks 🐦 \uD83D\uDE21", (await StateAsync(db, name)).GetProperty("SubscriptionName").GetString());
        (await PutAsync(db, """{"Name":"a\u0007","Query":"from A"}""")).IsRefusal(400, "no control characters");
    }

    [Fact]
    public async Task A_repeated_definition_with_the_same_request_id_succeeds_again()
    {
        string db = await server.CreateDatabaseAsync();
        const string Body = """{"Name":"a","Query":"from A"}""";
        Assert.Equal(201, (await PutAsync(db, Body, "?raft-request-id=one")).Status);
        Assert.Equal(201, (await PutAsync(db, Body, "?raft-request-id=one")).Status);
        (await PutAsync(db, Body, "?raft-request-id=two")).IsRefusal(400, "already");
    }

    [Theory]
    [InlineData("""{"Query":"from A","Surprise":1}""", 501, "'Surprise'")]
    [InlineData("""{"Query":"from A","Includes":{"a":1}}""", 501, "'Includes'")]
    [InlineData("""{"Query":"from A","Includes":"boss"}""", 501, "'Includes'")]
    [InlineData("""{"Query":"from A","ArchivedDataProcessingBehavior":"ArchivedOnly"}""", 501, "ArchivedData")]
    [InlineData("""{"Query":"from A","ArchivedDataProcessingBehavior":"IncludeArchived"}""", 501, "ArchivedData")]
    [InlineData("""{"Query":"from A","Query":"from B"}""", 400, "twice")]
    [InlineData("""{"Name":"a"}""", 400, "needs a 'Query'")]
    [InlineData("""{"Query":"from A","Id":1}""", 400, "'Id' and 'CreateNew'")]
    [InlineData("""{"Query":"from A","Name":"a\nb"}""", 400, "control characters")]
    [InlineData("""{"Query":"from A","MentorNode":"Q"}""", 400, "'MentorNode' is 'Q'")]
    [InlineData("""{"Query":"from A","PinToMentorNode":true}""", 400, "needs a 'MentorNode'")]
    [InlineData("""{"Query":"from A","Disabled":"yes"}""", 400, "'Disabled'")]
    [InlineData("""{"Query":"from A","ChangeVector":"A:5-other"}""", 400, "'ChangeVector'")]
    [InlineData("""{"Query":"from A","ChangeVector":"soon"}""", 400, "'ChangeVector'")]
    [InlineData("""{"Query":"from A (Revisions = true) as a include counters(a)"}""", 501, "of revisions")]
    [InlineData("""{"Query":"from A (Revisions = 1) as a"}""", 400, "'true'")]
    [InlineData("""{"Query":"from index 'A'"}""", 501, "from index")]
    [InlineData("""{"Query":"from A order by x"}""", 501, "order by")]
    [InlineData("""{"Query":"from A select counter('n')"}""", 501, "counter()")]
    [InlineData("""{"Query":"from A as a select { n: counter(a, 'n') }"}""", 501, "counter()")]
    [InlineData(
        """{"Query":"declare function f(a) { return counter(a, 'n') > 1 } from A as a where f(a)"}""",
        501,
        "counter()"
    )]
    [InlineData("""{"Query":"from A as a select { n: includes.cmpxchg(a.x) }"}""", 501, "includes.cmpxchg()")]
    [InlineData("""{"Query":"from A group by x select x"}""", 501, "group by")]
    [InlineData("""{"Query":"from A limit 5"}""", 501, "limit")]
    [InlineData("""{"Query":"from A select distinct x"}""", 501, "select distinct")]
    [InlineData("""{"Query":"from A select facet(x)"}""", 501, "facets")]
    [InlineData("""{"Query":"from A where search(x, 'y')"}""", 501, "search")]
    [InlineData("""{"Query":"from A include cmpxchg(x)"}""", 501, "cmpxchg()")]
    [InlineData("""{"Query":"from A include revisions('x')"}""", 501, "include revisions()")]
    [InlineData("""{"Query":"from A where x = $p"}""", 400, "'p'")]
    [InlineData("""{"Query":"from A where f(x) > 1"}""", 400, "'f'")]
    [InlineData("""{"Query":"from A wher x"}""", 400, "")]
    public async Task What_is_not_supported_is_refused_by_name_when_it_is_defined(string body, int status, string named)
    {
        string db = await server.CreateDatabaseAsync();
        (await PutAsync(db, body)).IsRefusal(status, named);
        Assert.Empty(Names(await server.SendAsync("GET", $"{db}/subscriptions?start=0&pageSize=9")));
    }

    [Theory]
    [InlineData("""{"Query":"from A","Includes":{},"ChangeVector":null,"MentorNode":null}""")]
    [InlineData("""{"Query":"from A","DocumentType":"users","ArchivedDataProcessingBehavior":"ExcludeArchived"}""")]
    [InlineData("""{"Query":"from @all_docs as d where exists(d.x) and d.y in ('a', 'b') select d.x, d.y as z"}""")]
    [InlineData("""{"Query":"declare function f(o) { return 1 } from A as o where f(o) > 1 or not f(o)"}""")]
    [InlineData("""{"Query":"declare function p() { return this.x } from 'A' as doc where p.call(doc)"}""")]
    public async Task What_clients_send_is_accepted(string body)
    {
        string db = await server.CreateDatabaseAsync();
        var answer = await PutAsync(db, body);
        Assert.True(answer.Status == 201, answer.Body);
    }

    [Fact]
    public async Task The_port_is_told_for_the_host_by_which_the_client_came()
    {
        string db = await server.CreateDatabaseAsync();
        await PutAsync(db, """{"Name":"a","Query":"from A"}""");
        string name = db.Split('/')[^1];
        foreach (
            string path in (string[])
                [
                    $"/info/remote-task/tcp?database={name}&remote-task=a&tag=x&verify-database=true",
                    "/info/tcp?tcp=x",
                    $"{db}/info/tcp?tcp=x",
                ]
        )
        {
            var info = (await server.SendAsync("GET", path)).Json;
            Assert.Equal(
                $"tcp://127.0.0.1:{server.Context.Subscriptions.Port!()}",
                info.GetProperty("Url").GetString()
            );
            Assert.Equal("A", info.GetProperty("NodeTag").GetString());
        }

        (await server.SendAsync("GET", "/info/remote-task/tcp?database=none&remote-task=a")).IsRefusal(
            503,
            "There is no database 'none'"
        );
    }

    private static IEnumerable<string?> Names(Answer answer) =>
        answer
            .Json.GetProperty("Results")
            .EnumerateArray()
            .Select(static state => state.GetProperty("SubscriptionName").GetString());

    private Task<Answer> PutAsync(string db, string body, string query = "") =>
        server.SendAsync("PUT", $"{db}/subscriptions{query}", body);

    private async Task<JsonElement> StateAsync(string db, string name) =>
        (await server.SendAsync("GET", $"{db}/subscriptions/state?name={name}")).Json;
}
