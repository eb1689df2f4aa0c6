using Rookery.Access;
using Rookery.Data;
using Rookery.Json;
using Rookery.Server.Tests.Raven;

namespace Rookery.Server.Tests.CommandLine;

/// <summary>Documents with many levels of nesting, in the command line and as a parameter of a query.</summary>
public sealed class DeepDocumentTests(RunningServer server) : IClassFixture<RunningServer>
{
    // Without a setting, System.Text.Json reads at most 64 levels.
    [Theory]
    [InlineData(65)]
    [InlineData(JsonLimits.MaxDepth)]
    public async Task A_document_as_deep_as_can_be_stored_can_be_read(int levels)
    {
        string db = await server.CreateDatabaseAsync();
        string value =
            string.Concat(Enumerable.Repeat("[", levels - 1)) + string.Concat(Enumerable.Repeat("]", levels - 1));
        Assert.Equal(201, (await server.SendAsync("PUT", db + "/docs?id=a", $$"""{"a":{{value}}}""")).Status);
        using var client = new NodeClient(new NodeConnection(server.Address, Token: null, Authorities: null));
        var read = await client.GetJsonAsync(HttpMethod.Get, db + "/docs?id=a");
        Assert.Equal(value, read.GetProperty("Results")[0].GetProperty("a").GetRawText());

        using var body = NodeClient.BodyOf(static json => json.WriteString("Query", "from @all_docs"));
        read = await client.GetJsonAsync(HttpMethod.Post, db + "/queries", body);
        Assert.Equal(value, read.GetProperty("Results")[0].GetProperty("a").GetRawText());
        Assert.Equal(value, AskedQuery.ReadParameter("p=" + value).Value.GetRawText());
        var answer = await server.SendAsync(
            "POST",
            db + "/queries",
            $$"""{"Query":"from @all_docs where id() = 'a'","QueryParameters":{"p":{{value}}} }"""
        );
        Assert.True(answer.Status == 200, answer.Body);
    }
}
