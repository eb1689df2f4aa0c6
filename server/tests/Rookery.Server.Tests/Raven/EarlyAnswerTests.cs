using System.Net.Sockets;
using System.Text;

namespace Rookery.Server.Tests.Raven;

/// <summary>A refusal arrives also when its request is still coming.</summary>
public sealed class EarlyAnswerTests(RunningServer server) : IClassFixture<RunningServer>
{
    private const int PieceBytes = 64 << 10;

    [Theory]
    [InlineData("POST", "/bulk_insert", "[{\"Id\":\"a\",\"Type\":\"Counters\"},", "", "501 Not Implemented")]
    [InlineData("POST", "/bulk_insert", "[x", "", "400 Bad Request")]
    [InlineData("POST", "/bulk_insert", "[", "Content-Encoding: br\r\n", "415 Unsupported Media Type")]
    [InlineData("POST", "/bulk_docs?surprise=1", "{", "", "501 Not Implemented")]
    [InlineData("POST", "/nothing", "{", "", "501 Not Implemented")]
    [InlineData("PUT", "/docs?id=a", "{\"a\":\"", "", "413 Payload Too Large")]
    [InlineData("PUT", "/docs?id=a", "{", "Origin: http://evil.example\r\n", "403 Forbidden")]
    [InlineData("POST", "/queries", "{", "Content-Encoding: gzip\r\n", "415 Unsupported Media Type")]
    public async Task A_refusal_arrives_though_its_client_goes_on_sending(
        string method,
        string route,
        string begin,
        string headers,
        string status
    )
    {
        string db = await server.CreateDatabaseAsync();
        foreach (bool isChunked in (bool[])[true, false])
        {
            using var client = new TcpClient();
            await client.ConnectAsync(server.Address.Host, server.Address.Port);
            var stream = client.GetStream();
            const int Bytes = 24 << 20;
            string length = isChunked ? "Transfer-Encoding: chunked" : $"Content-Length: {Bytes}";
            await SendAsync(
                stream,
                $"{method} {db}{route} HTTP/1.1\r\nHost: {server.Address.Authority}\r\n{headers}{length}\r\n\r\n"
            );
            await SendBodyAsync(stream, begin.PadRight(PieceBytes, 'x'), Bytes / PieceBytes, isChunked);

            // Only now: what came before the client looked must not be lost.
            string answer = await ReadAnswerAsync(stream);
            Assert.StartsWith($"HTTP/1.1 {status}", answer, StringComparison.Ordinal);
            Assert.EndsWith("\"}", answer, StringComparison.Ordinal);
        }
    }

    [Theory]
    [InlineData("POST", "/session")]
    [InlineData("POST", "/claim")]
    [InlineData("POST", "{db}/queries")]
    [InlineData("PUT", "{db}/docs?id=a")]
    [InlineData("POST", "{db}/bulk_insert")]
    [InlineData("POST", "{db}/import")]
    public async Task A_chunk_that_is_said_to_be_larger_than_any_number_is_malformed_and_not_logged(
        string method,
        string route
    )
    {
        string path = route.Replace("{db}", await server.CreateDatabaseAsync(), StringComparison.Ordinal);
        foreach (
            string chunks in (string[])["FFFFFFFFFFFFFFFF\r\n{}", "2\r\n{}\r\n80000000\r\n", "zz\r\n", "2\r\n{}xx"]
        )
        {
            using var client = new TcpClient();
            await client.ConnectAsync(server.Address.Host, server.Address.Port);
            var stream = client.GetStream();
            await SendAsync(
                stream,
                $"{method} {path} HTTP/1.1\r\nHost: {server.Address.Authority}\r\nTransfer-Encoding: "
                    + $"chunked\r\n\r\n{chunks}"
            );
            string answer = await ReadAnswerAsync(stream);
            Assert.True(
                answer.StartsWith("HTTP/1.1 400 ", StringComparison.Ordinal)
                    || path.EndsWith("/import", StringComparison.Ordinal),
                answer
            );
        }

        Assert.Empty(server.Log.Lines);
    }

    private static async Task SendAsync(NetworkStream stream, string text) =>
        await stream.WriteAsync(Encoding.ASCII.GetBytes(text));

    private static async Task SendBodyAsync(NetworkStream stream, string first, int pieces, bool isChunked)
    {
        for (int i = 0; i < pieces; i++)
        {
            string piece = i == 0 ? first : new string('x', PieceBytes);
            await SendAsync(stream, isChunked ? $"{PieceBytes:X}\r\n{piece}\r\n" : piece);
        }
    }

    /// <summary>Reads the headers, and as many bytes behind them as they say.</summary>
    private static async Task<string> ReadAnswerAsync(NetworkStream stream)
    {
        var answer = new StringBuilder();
        byte[] buffer = new byte[4096];
        while (!IsWhole(answer.ToString()) && await stream.ReadAsync(buffer) is > 0 and var read)
        {
            answer.Append(Encoding.UTF8.GetString(buffer, 0, read));
        }

        return answer.ToString();
    }

    private static bool IsWhole(string answer)
    {
        int end = answer.IndexOf("\r\n\r\n", StringComparison.Ordinal);
        int at = answer.IndexOf("Content-Length: ", StringComparison.Ordinal);
        return end > 0
            && (
                at < 0
                    ? answer.EndsWith("0\r\n\r\n", StringComparison.Ordinal)
                    : answer.Length >= end + 4 + int.Parse(answer[(at + 16)..answer.IndexOf('\r', at)], null)
            );
    }
}
