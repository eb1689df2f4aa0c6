using Rookery.Documents.Commands;

namespace Rookery.Server.Tests.Raven;

/// <summary>The changes feed for clients other than RavenDB's.</summary>
public sealed class ChangesStreamTests(RunningServer server) : IClassFixture<RunningServer>
{
    private const string Reset = "event: reset\ndata: {}";

    [Fact]
    public async Task Changes_are_sent_as_server_sent_events()
    {
        string db = await server.CreateDatabaseAsync();
        await server.SendAsync("PUT", db + "/docs?id=a", "{}");
        await server.SendAsync("PUT", db + "/docs?id=b", """{"@metadata":{"@collection":"Bs"}}""");
        await server.SendAsync("DELETE", db + "/docs?id=a");
        using var response = await server.Http.GetAsync(
            new Uri(server.Address, db + "/changes/stream?since=0"),
            HttpCompletionOption.ResponseHeadersRead
        );

        // EventSource requires this content type.
        Assert.Equal("text/event-stream", response.Content.Headers.ContentType?.MediaType);
        using var events = new StreamReader(await response.Content.ReadAsStreamAsync());
        var lines = new List<string>();
        while (lines.Count(line => line.StartsWith("data:", StringComparison.Ordinal)) < 2)
        {
            lines.Add((await events.ReadLineAsync())!);
        }

        Assert.Equal(
            ["event: put", "event: delete"],
            lines.Where(line => line.StartsWith("event:", StringComparison.Ordinal))
        );
        Assert.Contains(
            "\"Id\":\"b\",\"Collection\":\"Bs\"",
            lines.First(line => line.StartsWith("data:", StringComparison.Ordinal)),
            StringComparison.Ordinal
        );

        await server.SendAsync("PUT", db + "/docs?id=c", "{}");
        string line;
        do
        {
            line = (await events.ReadLineAsync())!;
        } while (!line.StartsWith("data:", StringComparison.Ordinal));
        Assert.Contains("\"Id\":\"c\",\"Collection\":\"@empty\"", line, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_reader_of_another_history_is_told_to_start_over()
    {
        string db = await server.CreateDatabaseAsync();
        await server.SendAsync("PUT", db + "/docs?id=a", "{}");
        // The feed begins with its position. After it comes what the reader lacks.
        string put = (await ReadBlocksAsync(count: 2, db, since: "0"))[1];
        string position = IdOf(put);
        Assert.StartsWith("event: put", put, StringComparison.Ordinal);
        Assert.Equal(["id: " + position], await ReadBlocksAsync(count: 1, db, position));

        // As after a restore: etags that were already assigned, under another history.
        string name = db["/databases/".Length..];
        await server.SendAsync("DELETE", "/admin/databases", $$"""{"DatabaseNames":["{{name}}"],"HardDelete":true}""");
        await server.SendAsync("PUT", $"/admin/databases?name={name}", $$"""{"DatabaseName":"{{name}}"}""");
        await server.SendAsync("PUT", db + "/docs?id=b", "{}");
        Assert.Equal(Reset, (await ReadBlocksAsync(count: 1, db, position))[0]);
        var again = await ReadBlocksAsync(count: 2, db, since: "", lastEventId: position);
        Assert.Equal(Reset, again[0]);
        Assert.Contains("\"Id\":\"b\"", again[1], StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_reader_from_the_start_is_unaffected_by_removed_tombstones()
    {
        const int Documents = 1_500;
        string db = await server.CreateDatabaseAsync();
        var puts = Enumerable
            .Range(0, Documents)
            .Select(static i => $$"""{"Id":"docs/{{i}}","Type":"PUT","Document":{} }""");
        await server.SendAsync("POST", db + "/bulk_docs", $$"""{"Commands":[{{string.Join(',', puts)}}]}""");
        await server.SendAsync("PUT", db + "/docs?id=gone", "{}");
        await server.SendAsync("DELETE", db + "/docs?id=gone");
        Assert.True(server.Node.Databases.TryGet(db["/databases/".Length..], out var database));
        await server.Node.Consensus.ProposeAsync(
            CommandEncoder.SetTombstoneHorizon(database.Number, long.MaxValue),
            default
        );

        // The feed reads 1500 documents in several parts. Each part begins below the tombstone horizon, which must not
        // count as a gap for a reader that began at zero.
        var ids = (await ReadBlocksAsync(Documents + 1, db, since: "0")).Where(static block =>
            block.StartsWith("event: put", StringComparison.Ordinal)
        );
        Assert.Equal(Documents, ids.Select(IdOf).Distinct(StringComparer.Ordinal).Count());
    }

    [Fact]
    public async Task A_future_etag_belongs_to_another_history()
    {
        string db = await server.CreateDatabaseAsync();
        await server.SendAsync("PUT", db + "/docs?id=a", "{}");
        // Far beyond any etag that the node has assigned.
        Assert.Equal([Reset], await ReadBlocksAsync(count: 1, db, since: "4000000000"));
    }

    [Fact]
    public async Task A_reader_that_begins_now_receives_its_position()
    {
        string db = await server.CreateDatabaseAsync();
        await server.SendAsync("PUT", db + "/docs?id=a", "{}");
        string startPosition = IdOf((await ReadBlocksAsync(count: 1, db, since: ""))[0]);
        await server.SendAsync("PUT", db + "/docs?id=b", "{}");
        Assert.Contains(
            "\"Id\":\"b\"",
            (await ReadBlocksAsync(count: 2, db, since: "", lastEventId: startPosition))[1],
            StringComparison.Ordinal
        );
    }

    /// <summary>Some clients send the header without an id until they have one.</summary>
    [Fact]
    public async Task An_empty_last_event_id_does_not_hide_the_position_in_the_address()
    {
        string db = await server.CreateDatabaseAsync();
        await server.SendAsync("PUT", db + "/docs?id=a", "{}");
        Assert.Equal(
            await ReadBlocksAsync(count: 1, db, since: "0"),
            await ReadBlocksAsync(count: 1, db, since: "0", lastEventId: "")
        );
    }

    [Theory]
    [InlineData("soon")]
    [InlineData("-1")]
    [InlineData("A:7")]
    [InlineData("A:x-history")]
    public async Task An_invalid_position_is_refused(string since) =>
        (
            await server.SendAsync("GET", await server.CreateDatabaseAsync() + "/changes/stream?since=" + since)
        ).IsRefusal(400, "since");

    /// <summary>Returns the first blocks of the feed, without comments. A block is an event or a position.</summary>
    private async Task<List<string>> ReadBlocksAsync(int count, string db, string since, string? lastEventId = null)
    {
        using var request = new HttpRequestMessage(
            HttpMethod.Get,
            new Uri(server.Address, $"{db}/changes/stream?since={since}")
        );
        if (lastEventId is not null)
        {
            request.Headers.TryAddWithoutValidation("Last-Event-ID", lastEventId);
        }

        using var response = await server.Http.SendAsync(request, HttpCompletionOption.ResponseHeadersRead);
        using var events = new StreamReader(await response.Content.ReadAsStreamAsync());
        var blocks = new List<string>();
        var block = new List<string>();
        while (blocks.Count < count)
        {
            string line = (await events.ReadLineAsync())!;
            if (line.Length == 0)
            {
                blocks.Add(string.Join('\n', block));
                block.Clear();
            }
            else if (line[0] is not ':')
            {
                block.Add(line);
            }
        }

        return blocks;
    }

    private static string IdOf(string block) =>
        block.Split('\n').Single(line => line.StartsWith("id: ", StringComparison.Ordinal))["id: ".Length..];
}
