using System.Text.Json;
using Rookery.Server.Tests.Raven;

namespace Rookery.Server.Tests.Subscriptions;

/// <summary>Subscriptions that send revisions, each with the one before it.</summary>
public sealed class RevisionSubscriptionTests(RunningServer server) : IClassFixture<RunningServer>
{
    [Fact]
    public async Task Revisions_come_in_their_order_with_the_one_before_and_continue_after_the_acknowledged_ones()
    {
        string db = await DefineAsync("from users (Revisions = true) as u");
        await StoreAsync(db, "users/1", 1);
        await StoreAsync(db, "orders/1", 9, "Orders");
        await StoreAsync(db, "users/2", 2);
        await StoreAsync(db, "users/1", 3);
        using (var worker = await OpenAsync(db, batch: 2))
        {
            Assert.Equal(["users/1 1-null", "users/2 2-null"], await ReadBatchAsync(worker));
            await worker.AcknowledgeAsync();
            Assert.Equal(["users/1 3-1"], await ReadBatchAsync(worker));
        }

        await StoreAsync(db, "users/1", 4);
        await server.SendAsync("DELETE", $"{db}/docs?id=users/1");
        using var next = await OpenAsync(db, batch: 9);
        Assert.Equal(["users/1 3-1", "users/1 4-3", "users/1 null-4"], await ReadBatchAsync(next));
        await next.AcknowledgeAsync();
        await StoreAsync(db, "users/1", 5);
        Assert.Equal(["users/1 5-null"], await ReadBatchAsync(next));
    }

    [Fact]
    public async Task Conditions_and_selections_see_both_revisions()
    {
        string db = await DefineAsync(
            "from Users (Revisions = true) as u where u.Previous != null and u.Current.n > 2 "
                + "select { grown: u.Current.n - u.Previous.n }"
        );
        await StoreAsync(db, "users/1", 1);
        await StoreAsync(db, "users/1", 2);
        await StoreAsync(db, "users/1", 7);
        using var worker = await OpenAsync(db, batch: 9);
        var message = await worker.ReadAsync();
        Assert.Equal(5, message.GetProperty("Data").GetProperty("grown").GetInt32());
        Assert.Equal("EndOfBatch", (await worker.ReadAsync()).GetProperty("Type").GetString());
    }

    [Fact]
    public async Task Removed_revisions_and_documents_without_revisions_are_left_out()
    {
        string db = await DefineAsync("from Users (Revisions = true)", "\"MinimumRevisionsToKeep\":2");
        for (int n = 1; n <= 4; n++)
        {
            await StoreAsync(db, "users/1", n);
        }

        await server.SendAsync("POST", $"{db}/admin/revisions/config", "{}");
        await StoreAsync(db, "users/2", 5);
        using var worker = await OpenAsync(db, batch: 9);
        Assert.Equal(["users/1 3-null", "users/1 4-3"], await ReadBatchAsync(worker));
    }

    [Fact]
    public async Task References_of_both_revisions_are_included()
    {
        string db = await DefineAsync("from Users (Revisions = true) as u include u.Current.friend, u.Previous.friend");
        await server.SendAsync("PUT", $"{db}/docs?id=a", "{}");
        await server.SendAsync("PUT", $"{db}/docs?id=b", "{}");
        foreach (string friend in (string[])["a", "b"])
        {
            await server.SendAsync(
                "PUT",
                $"{db}/docs?id=users/1",
                $$"""{"friend":"{{friend}}","@metadata":{"@collection":"Users"} }"""
            );
        }

        using var worker = await OpenAsync(db, batch: 9);
        await worker.ReadAsync();
        await worker.ReadAsync();
        var includes = (await worker.ReadAsync()).GetProperty("Includes");
        var ids = includes.EnumerateObject().Select(static member => member.Name);
        Assert.Equal(["a", "b"], ids.Order(StringComparer.Ordinal));
    }

    [Fact]
    public async Task The_revision_that_is_an_expired_document_is_sent()
    {
        string db = await DefineAsync("from Users (Revisions = true)");
        await server.SendAsync(
            "PUT",
            $"{db}/docs?id=users/1",
            """{"n":1,"@metadata":{"@collection":"Users","@expires":"2020-01-01T00:00:00.0000000Z"} }"""
        );
        Assert.Equal(404, (await server.SendAsync("GET", $"{db}/docs?id=users/1")).Status);
        await StoreAsync(db, "users/2", 2);
        using var worker = await OpenAsync(db, batch: 9);
        Assert.Equal(["users/1 1-null", "users/2 2-null"], await ReadBatchAsync(worker));
    }

    /// <summary>Both get change vectors of their own, after those that the worker has acknowledged.</summary>
    [Fact]
    public async Task Forced_revisions_and_those_of_a_dump_are_sent_although_their_contents_are_older()
    {
        string db = await DefineAsync("from Users (Revisions = true)", "\"Disabled\":true");
        await StoreAsync(db, "users/1", 1);
        await PassAsync(db);
        using var worker = await OpenAsync(db, batch: 9);
        await SendBatchAsync(db, """{"Id":"users/1","Type":"ForceRevisionCreation"}""");
        Assert.Equal(["users/1 1-null"], await ReadBatchAsync(worker));
        await worker.AcknowledgeAsync();
        var imported = await server.SendAsync(
            "POST",
            $"{db}/smuggler/import",
            """
            {"BuildVersion":70000,"RevisionDocuments":[
            {"n":7,"@metadata":{"@id":"users/2","@collection":"Users",
            "@last-modified":"2020-01-02T00:00:00.0000000Z"}}]}
            """
        );
        Assert.Equal(200, imported.Status);
        Assert.Equal(["users/2 7-null"], await ReadBatchAsync(worker));
    }

    /// <summary>Such a version keeps its change vector, and with it its place in the order.</summary>
    [Fact]
    public async Task A_version_that_becomes_a_revision_after_it_was_passed_is_sent_only_as_the_previous_one()
    {
        string db = await DefineAsync("from Users (Revisions = true)", "\"Disabled\":true");
        await StoreAsync(db, "users/1", 1);
        await StoreAsync(db, "users/2", 2);
        await PassAsync(db);
        await SendBatchAsync(
            db,
            """
            {"Id":"users/1","Type":"PUT","ForceRevisionCreationStrategy":"Before",
            "Document":{"n":3,"@metadata":{"@collection":"Users"}}}
            """
        );
        var kept = (await server.SendAsync("GET", $"{db}/revisions?id=users/1")).Json.GetProperty("Results");
        Assert.Equal(1, Assert.Single(kept.EnumerateArray()).GetProperty("n").GetInt32());
        await server.SendAsync("POST", $"{db}/admin/revisions/config", "{\"Default\":{}}");
        await server.SendAsync("DELETE", $"{db}/docs?id=users/2");
        using var worker = await OpenAsync(db, batch: 9);
        Assert.Equal(["users/2 null-2"], await ReadBatchAsync(worker));
    }

    [Fact]
    public async Task Workers_cannot_share_revisions()
    {
        string db = await DefineAsync("from Users (Revisions = true)");
        using var worker = await TcpWorker.ConnectAsync(server.Context.Subscriptions.Port!());
        var answer = await worker.OpenAsync(
            NameOf(db),
            """{"SubscriptionName":"s","Strategy":"Concurrent","MaxDocsPerBatch":2}"""
        );
        Assert.Equal("Invalid", TcpWorker.Status(answer));
        Assert.Contains("cannot share", answer.GetRawText(), StringComparison.Ordinal);
    }

    private static string NameOf(string db) => db.Split('/')[^1];

    // Lets the subscription pass all changes so far.
    private async Task PassAsync(string db)
    {
        var passed = await server.SendAsync(
            "POST",
            $"{db}/subscriptions/update",
            """{"Name":"s","Query":"from Users (Revisions = true)","ChangeVector":"LastDocument"}"""
        );
        Assert.Equal(200, passed.Status);
    }

    private async Task SendBatchAsync(string db, string command)
    {
        var answer = await server.SendAsync("POST", $"{db}/bulk_docs", $$"""{"Commands":[{{command}}]}""");
        Assert.True(answer.Status == 201, answer.Body);
    }

    private async Task<string> DefineAsync(string query, string rule = "")
    {
        string db = await server.CreateDatabaseAsync();
        await server.SendAsync("POST", $"{db}/admin/revisions/config", "{\"Default\":{" + rule + "}}");
        string body = $$"""{"Name":"s","Query":{{JsonSerializer.Serialize(query)}} }""";
        Assert.Equal(201, (await server.SendAsync("PUT", $"{db}/subscriptions", body)).Status);
        return db;
    }

    private Task<Answer> StoreAsync(string db, string id, int n, string collection = "Users") =>
        server.SendAsync(
            "PUT",
            $"{db}/docs?id={id}",
            $$"""{"n":{{n}},"@metadata":{"@collection":"{{collection}}"} }"""
        );

    private async Task<TcpWorker> OpenAsync(string db, int batch)
    {
        while (true)
        {
            var worker = await TcpWorker.ConnectAsync(server.Context.Subscriptions.Port!());
            string options = $$"""{"SubscriptionName":"s","Strategy":"WaitForFree","MaxDocsPerBatch":{{batch}} }""";
            if (TcpWorker.Status(await worker.OpenAsync(NameOf(db), options)) is "Accepted")
            {
                return worker;
            }

            worker.Dispose();
        }
    }

    // Each as "id current-previous".
    private static async Task<List<string>> ReadBatchAsync(TcpWorker worker)
    {
        var pairs = new List<string>();
        while (true)
        {
            var message = await worker.ReadAsync();
            if (message.GetProperty("Type").GetString() is "EndOfBatch")
            {
                return pairs;
            }

            var data = message.GetProperty("Data");
            string? id = data.GetProperty("@metadata").GetProperty("@id").GetString();
            pairs.Add($"{id} {NumberOf(data, "Current")}-{NumberOf(data, "Previous")}");
        }
    }

    private static string NumberOf(JsonElement data, string member) =>
        data.GetProperty(member) is { ValueKind: JsonValueKind.Object } revision
            ? revision.GetProperty("n").GetRawText()
            : "null";
}
