namespace Rookery.Server.Tests.Raven;

/// <summary>The changes feed for everything but RavenDB's clients.</summary>
public sealed class ChangesStreamTests(RunningServer server) : IClassFixture<RunningServer>
{
    [Fact]
    public async Task Changes_come_as_server_sent_events()
    {
        string db = await server.CreateDatabaseAsync();
        await server.SendAsync("PUT", db + "/docs?id=a", "{}");
        await server.SendAsync("PUT", db + "/docs?id=b", """{"@metadata":{"@collection":"Bs"}}""");
        await server.SendAsync("DELETE", db + "/docs?id=a");
        using var response = await server.Http.GetAsync(new Uri(server.Address, db + "/changes/stream?since=0"), HttpCompletionOption.ResponseHeadersRead);

        // What a browser's EventSource insists on.
        Assert.Equal("text/event-stream", response.Content.Headers.ContentType?.MediaType);
        using var events = new StreamReader(await response.Content.ReadAsStreamAsync());
        var lines = new List<string>();
        while (lines.Count(line => line.StartsWith("data:", StringComparison.Ordinal)) < 2)
        {
            lines.Add((await events.ReadLineAsync())!);
        }

        Assert.Equal(["event: put", "event: delete"], lines.Where(line => line.StartsWith("event:", StringComparison.Ordinal)));
        Assert.Contains("\"Id\":\"b\",\"Collection\":\"Bs\"", lines.First(line => line.StartsWith("data:", StringComparison.Ordinal)), StringComparison.Ordinal);

        await server.SendAsync("PUT", db + "/docs?id=c", "{}");
        string line;
        do
        {
            line = (await events.ReadLineAsync())!;
        }
        while (!line.StartsWith("data:", StringComparison.Ordinal));
        Assert.Contains("\"Id\":\"c\",\"Collection\":\"@empty\"", line, StringComparison.Ordinal);
    }
}
