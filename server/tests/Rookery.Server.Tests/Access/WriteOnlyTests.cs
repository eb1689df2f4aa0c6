using System.Text;

namespace Rookery.Server.Tests.Access;

/// <summary>
/// A caller with the scope write learns nothing about the content of documents: neither the document nor whether a
/// guess about it is right.
/// </summary>
public class WriteOnlyTests(SecureServer server) : IClassFixture<SecureServer>
{
    private const string Secret = "hunter2";
    private const string Docs = "/databases/Shop/docs?id=users/1";

    [Theory]
    [InlineData("{}")]
    [InlineData("""{"s":"hunter2"}""")]
    [InlineData("""{"s":"other"}""")]
    [InlineData("""{"missing":null}""")]
    public async Task A_merge_patch_without_the_right_to_read_reveals_nothing_of_the_document(string patch)
    {
        await StoreAsync();
        var answer = await PatchAsync(await CreateWriterAsync(), patch, "application/merge-patch+json");
        Assert.Equal((200, """{"Status":"Patched"}"""), answer);
    }

    [Fact]
    public async Task A_merge_patch_without_the_right_to_read_applies_or_answers_404()
    {
        await StoreAsync();
        string writer = await CreateWriterAsync();
        await PatchAsync(writer, """{"seen":true}""", "application/merge-patch+json");
        Assert.True(
            (await server.SendAsync("GET", Docs, SecureServer.LocalKey))
                .Json.GetProperty("Results")[0]
                .GetProperty("seen")
                .GetBoolean()
        );
        await server.SendAsync("DELETE", Docs, SecureServer.LocalKey);
        Assert.Equal(404, (await PatchAsync(writer, """{"seen":true}""", "application/merge-patch+json")).Status);
    }

    [Theory]
    [InlineData("PATCH", Docs, """{"Patch":{"Script":"let a=1"}}""")]
    [InlineData("PATCH", Docs, """{"Patch":{"Script":"throw this.s"}}""")]
    [InlineData("PATCH", Docs, """{"Patch":{"Script":"if (this.s[0] == 'h') this.a = 1"}}""")]
    [InlineData(
        "PATCH",
        "/databases/Shop/docs?id=users/none",
        """{"Patch":{"Script":"this.a = 1"},"PatchIfMissing":{"Script":"throw load('users/1').s"}}"""
    )]
    [InlineData(
        "POST",
        "/databases/Shop/bulk_docs",
        """{"Commands":[{"Id":"a","Type":"PUT","Document":{}},{"Id":"users/1","Type":"PATCH","Patch":{"Script":"this.a = 1"},"ReturnDocument":true}]}"""
    )]
    [InlineData(
        "PATCH",
        "/databases/Shop/queries?details=true",
        """{"Query":{"Query":"from @all_docs where startsWith(s,'hun') update { this.a = 1 }"}}"""
    )]
    [InlineData("DELETE", "/databases/Shop/queries", """{"Query":"from @all_docs where startsWith(s,'hun')"}""")]
    [InlineData(
        "POST",
        "/databases/Shop/bulk_docs",
        """{"Commands":[{"Id":"users/1","Name":"a","DestinationId":"a","DestinationName":"a","Type":"AttachmentCOPY"}]}"""
    )]
    [InlineData("POST", "/databases/Shop/bulk_docs?waitForIndexesTimeout=1", """{"Commands":[]}""")]
    [InlineData("POST", "/databases/Shop/bulk_docs?waitForSpecificIndex=none", """{"Commands":[]}""")]
    public async Task Writes_that_reveal_documents_need_the_scope_read_too(string method, string url, string body)
    {
        await StoreAsync();
        await server.SendAsync("DELETE", "/databases/Shop/docs?id=a", SecureServer.LocalKey);
        var refused = await server.SendAsync(method, url, await CreateWriterAsync(), body);
        refused.IsRefusal(403, "needs the scope read and write");
        Assert.DoesNotContain(Secret, refused.Body, StringComparison.Ordinal);
        Assert.Equal(Secret, SecretIn(await server.SendAsync("GET", Docs, SecureServer.LocalKey)));
        Assert.Equal(404, (await server.SendAsync("GET", "/databases/Shop/docs?id=a", SecureServer.LocalKey)).Status);

        string both = await server.GiveTokenAsync(["read", "write"], ["Shop"]);
        var allowed = await server.SendAsync(method, url, both, body);
        Assert.NotEqual(403, allowed.Status);
        await WaitForOperationAsync(allowed);
    }

    [Fact]
    public async Task A_write_only_caller_sees_its_own_operations_only()
    {
        // The first operation is that of another caller, the second the writer's own.
        await StoreAsync();
        string admin = await server.GiveTokenAsync(["admin"]);
        var started = await server.SendAsync(
            "PATCH",
            "/databases/Shop/queries",
            SecureServer.LocalKey,
            $$"""{"Query":{"Query":"from @all_docs where s = '{{Secret}}' update { this.a = 1 }"} }"""
        );
        string state = $"/databases/Shop/operations/state?id={started.Json.GetProperty("OperationId").GetInt64()}";
        Assert.Equal(200, (await server.SendAsync("GET", state, admin)).Status);
        (await server.SendAsync("GET", state, await CreateWriterAsync())).IsRefusal(400, "knows no operation");
        (
            await server.SendAsync(
                "POST",
                state.Replace("state", "kill", StringComparison.Ordinal),
                await CreateWriterAsync()
            )
        ).IsRefusal(400, "knows no operation");

        await WaitForOperationAsync(started);

        string writer = await CreateWriterAsync();
        long id = (await server.SendAsync("GET", "/databases/Shop/operations/next-operation-id", writer))
            .Json.GetProperty("Id")
            .GetInt64();
        Assert.Equal(
            201,
            (
                await server.SendAsync(
                    "POST",
                    $"/databases/Shop/bulk_insert?id={id}",
                    writer,
                    """[{"Id":"bulk/1","Type":"PUT","Document":{}}]"""
                )
            ).Status
        );
        Assert.Equal(
            1,
            (await server.SendAsync("GET", $"/databases/Shop/operations/state?id={id}", writer))
                .Json.GetProperty("Result")
                .GetProperty("Total")
                .GetInt32()
        );
    }

    /// <summary>Tokens and certificates have names of their own, so both may be called alike.</summary>
    [Fact]
    public async Task A_write_only_token_sees_no_operation_of_a_certificate_with_its_name()
    {
        await StoreAsync();
        using var certificate = server.Identity.NewClient("app");
        await server.RegisterAsync(certificate, isAdmin: false, ("Shop", "rw"));
        string token = await server.GiveTokenAsync(["write"], ["Shop"], name: "app");
        var started = await server.SendAsync(
            "PATCH",
            "/databases/Shop/queries",
            body: $$"""{"Query":{"Query":"from @all_docs where s = '{{Secret}}' update { this.a = 1 }"} }""",
            certificate: certificate
        );
        string state = $"/databases/Shop/operations/state?id={started.Json.GetProperty("OperationId").GetInt64()}";
        (await server.SendAsync("GET", state, token)).IsRefusal(400, "knows no operation");
        Assert.Equal(200, (await server.SendAsync("GET", state, certificate: certificate)).Status);
        await WaitForOperationAsync(started);
    }

    [Fact]
    public async Task A_write_only_caller_sees_no_document_counts()
    {
        Assert.Equal(
            """{"Databases":[{"Name":"Shop","Disabled":false,"LockMode":"Unlock"}]}""",
            (await server.SendAsync("GET", "/databases", await CreateWriterAsync())).Body
        );
        Assert.Contains(
            "DocumentsCount",
            (await server.SendAsync("GET", "/databases", await server.GiveTokenAsync(["read"], ["Shop"]))).Body,
            StringComparison.Ordinal
        );
    }

    private static string? SecretIn(Raven.Answer answer) =>
        answer.Json.GetProperty("Results")[0].GetProperty("s").GetString();

    // An operation by query that is still running would change documents of the next test.
    private async Task WaitForOperationAsync(Raven.Answer started)
    {
        if (started.Status >= 400 || !started.Json.TryGetProperty("OperationId", out var id))
        {
            return;
        }

        string state = $"/databases/Shop/operations/state?id={id.GetInt64()}";
        while (
            (await server.SendAsync("GET", state, SecureServer.LocalKey)).Json.GetProperty("Status").GetString()
                is "InProgress"
        )
        {
            await Task.Delay(10);
        }
    }

    /// <summary>Returns a token that may only write.</summary>
    private Task<string> CreateWriterAsync() => server.GiveTokenAsync(["write"], ["Shop"]);

    /// <summary>Stores the document with the secret.</summary>
    private async Task StoreAsync() =>
        Assert.Equal(
            201,
            (await server.SendAsync("PUT", Docs, SecureServer.LocalKey, $$"""{"s":"{{Secret}}"}""")).Status
        );

    private async Task<(int Status, string Body)> PatchAsync(string token, string body, string type)
    {
        using var http = server.NewClient();
        using var request = new HttpRequestMessage(HttpMethod.Patch, new Uri(server.Address, Docs))
        {
            Content = new StringContent(body, Encoding.UTF8, type),
        };
        request.Headers.TryAddWithoutValidation("Authorization", "Bearer " + token);
        using var answer = await http.SendAsync(request);
        return ((int)answer.StatusCode, await answer.Content.ReadAsStringAsync());
    }
}
