using System.IO.Compression;
using System.Text;
using System.Text.Json;

namespace Rookery.Server.Tests.Raven;

/// <summary>Imports of JSON lines.</summary>
public sealed class ImportRouteTests(RunningServer server) : IClassFixture<RunningServer>
{
    [Fact]
    public async Task Good_lines_are_stored_and_bad_ones_named()
    {
        string db = await server.CreateDatabaseAsync();
        var answer = await server.SendAsync("POST", db + "/import", EncodeLines("{\"a\":1}", "{\"a\":}", "{\"b\":2}"));
        Assert.Equal(200, answer.Status);
        Assert.Contains("\"BadLine\":2", answer.Body, StringComparison.Ordinal);
        Assert.Equal((Lines: 3, Stored: 2, Bad: 1), ReadResult(answer));
    }

    /// <summary>
    /// Such a document would be stored under an unintended id, and again by each repetition of the import.
    /// </summary>
    [Fact]
    public async Task An_id_that_is_not_a_string_is_a_bad_line()
    {
        string db = await server.CreateDatabaseAsync();
        string[] ids = ["7", "{}", "[\"a\"]", "true", "null", "\"a\""];
        byte[] lines = EncodeLines([.. ids.Select(static id => $$"""{"@metadata":{"@id":{{id}} } }""")]);
        var answer = await server.SendAsync("POST", db + "/import", lines);
        Assert.Equal((6, 2, 4), ReadResult(answer));
        Assert.Contains("@id must be a string", answer.Body, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_compressed_import_is_unpacked()
    {
        string db = await server.CreateDatabaseAsync();
        Assert.Equal(
            (3, 3, 0),
            ReadResult(
                await server.SendAsync(
                    "POST",
                    db + "/import",
                    Compress(EncodeLines("{}", "{}", "{}")),
                    ("Content-Encoding", "gzip")
                )
            )
        );
        Assert.Equal(3, await server.CountAsync(db));
    }

    [Fact]
    public async Task A_line_that_decompresses_beyond_the_limit_is_one_bad_line()
    {
        string db = await server.CreateDatabaseAsync();
        // 64 MiB of equal letters, which take little space when compressed.
        byte[] bomb = Compress(EncodeLines("{}", $$"""{"t":"{{new string('x', 64 << 20)}}"}""", "{}"));
        Assert.InRange(bomb.Length, 0, 1 << 20);
        var answer = await server.SendAsync("POST", db + "/import", bomb, ("Content-Encoding", "gzip"));
        Assert.Equal((3, 2, 1), ReadResult(answer));
        Assert.Contains("8.0 MiB", answer.Body, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Truncated_or_invalid_gzip_is_refused()
    {
        string db = await server.CreateDatabaseAsync();
        byte[] whole = Compress(EncodeLines([.. Enumerable.Range(0, 100).Select(i => $$"""{"n":{{i}}}""")]));
        (await server.SendAsync("POST", db + "/import", whole[..^20], ("Content-Encoding", "gzip"))).IsRefusal(
            400,
            "gzip"
        );
        (await server.SendAsync("POST", db + "/import", EncodeLines("{}"), ("Content-Encoding", "gzip"))).IsRefusal(
            400,
            "gzip"
        );
        (await server.SendAsync("POST", db + "/import", EncodeLines("{}"), ("Content-Encoding", "br"))).IsRefusal(
            415,
            "br"
        );
    }

    [Fact]
    public async Task Bytes_after_the_gzip_are_refused()
    {
        string db = await server.CreateDatabaseAsync();
        byte[] one = Compress(EncodeLines("""{"n":1}"""));
        // A file of several parts is valid gzip.
        byte[] two = [.. one, .. Compress(EncodeLines("""{"n":2}"""))];
        var whole = await server.SendAsync("POST", db + "/import", two, ("Content-Encoding", "gzip"));
        Assert.Equal((2, 2, 0), ReadResult(whole));
        byte[] more = [.. two, .. "rest"u8];
        (await server.SendAsync("POST", db + "/import", more, ("Content-Encoding", "gzip"))).IsRefusal(
            400,
            $"the gzip ends at byte {two.Length}, and other bytes follow it after line 2"
        );
        byte[] bulk = Compress(EncodeLines("""[{"Id":"a","Type":"PUT","Document":{}}]"""));
        (
            await server.SendAsync(
                "POST",
                db + "/bulk_insert",
                (byte[])[.. bulk, .. "rest"u8],
                ("Content-Encoding", "gzip")
            )
        ).IsRefusal(400, $"the gzip ends at byte {bulk.Length}, and other bytes follow it");
    }

    private static byte[] EncodeLines(params string[] lines) => Encoding.UTF8.GetBytes(string.Join('\n', lines) + "\n");

    private static byte[] Compress(byte[] bytes)
    {
        using var compressed = new MemoryStream();
        using (var gzip = new GZipStream(compressed, CompressionLevel.Fastest))
        {
            gzip.Write(bytes);
        }

        return compressed.ToArray();
    }

    private static (int Lines, int Stored, int Bad) ReadResult(Answer answer)
    {
        using var last = JsonDocument.Parse(answer.Body.TrimEnd().Split('\n')[^1]);
        var result = last.RootElement.GetProperty("Result");
        return (
            result.GetProperty("Lines").GetInt32(),
            result.GetProperty("Stored").GetInt32(),
            result.GetProperty("Bad").GetInt32()
        );
    }
}
