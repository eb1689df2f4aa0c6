using System.IO.Pipelines;
using System.Net.Sockets;
using System.Text;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Http.Features;
using Rookery.Simulation;

namespace Rookery.Server.Tests.Raven;

/// <summary>An error reaches the client even if its request is still being sent.</summary>
public sealed class EarlyResponseTests(RunningServer server) : IClassFixture<RunningServer>
{
    private const int PieceBytes = 64 << 10;

    [Theory]
    [InlineData(
        "POST",
        "/bulk_insert",
        "[{\"Id\":\"a\",\"Type\":\"TimeSeriesBulkInsert\"},",
        "",
        "501 Not Implemented"
    )]
    [InlineData("POST", "/bulk_insert", "[x", "", "400 Bad Request")]
    [InlineData("POST", "/bulk_insert", "[", "Content-Encoding: br\r\n", "415 Unsupported Media Type")]
    [InlineData("POST", "/bulk_docs?surprise=1", "{", "", "501 Not Implemented")]
    [InlineData("POST", "/nothing", "{", "", "501 Not Implemented")]
    [InlineData("PUT", "/docs?id=a", "{\"a\":\"", "", "413 Payload Too Large")]
    [InlineData("PUT", "/docs?id=a", "{", "Origin: http://evil.example\r\n", "403 Forbidden")]
    [InlineData("POST", "/queries", "{", "Content-Encoding: gzip\r\n", "415 Unsupported Media Type")]
    public async Task An_error_arrives_although_the_client_keeps_sending(
        string method,
        string route,
        string firstBytes,
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
            await SendBodyAsync(stream, firstBytes.PadRight(PieceBytes, 'x'), Bytes / PieceBytes, isChunked);

            // Read only now: what arrived before the client looked must not be lost.
            string answer = await ReadAnswerAsync(stream);
            Assert.StartsWith($"HTTP/1.1 {status}", answer, StringComparison.Ordinal);
            Assert.EndsWith("\"}", answer, StringComparison.Ordinal);
        }
    }

    [Theory]
    [InlineData("gzip, chunked", "")]
    [InlineData("identity, chunked", "")]
    [InlineData("chunked, chunked", "")]
    [InlineData("gzip, chunked", "Origin: http://elsewhere.example\r\n")]
    [InlineData("chunked", "Connection: keep-alive\r\n", "1.0", 400)]
    public async Task A_body_in_an_unsupported_transfer_coding_is_refused_and_later_requests_are_not_executed(
        string coding,
        string header,
        string version = "1.1",
        int status = 501
    )
    {
        string db = await server.CreateDatabaseAsync();
        using var client = new TcpClient();
        await client.ConnectAsync(server.Address.Host, server.Address.Port);
        var stream = client.GetStream();
        string host = $" HTTP/{version}\r\nHost: {server.Address.Authority}\r\n";
        await SendAsync(
            stream,
            $"PUT {db}/docs?id=a{host}{header}Transfer-Encoding: {coding}\r\n\r\n2\r\n{{}}\r\n0\r\n\r\n"
                + $"PUT {db}/docs?id=b{host}Content-Length: 2\r\n\r\n{{}}"
        );
        Assert.StartsWith($"HTTP/1.1 {status}", await ReadAnswerAsync(stream), StringComparison.Ordinal);
        Assert.Equal(0, await server.CountAsync(db));
    }

    /// <summary>An import at a stop is answered after a sync, which can take seconds on a slow card.</summary>
    [Fact]
    public async Task The_body_is_read_after_an_error_even_late_in_a_stop()
    {
        const int Pieces = 32;
        var body = new Pipe();
        var http = new DefaultHttpContext();
        http.Features.Set<IRequestBodyPipeFeature>(new BodyPipe(body.Reader));
        using var stopping = new CancellationTokenSource();
        await stopping.CancelAsync();
        var reading = EarlyResponse.ReadOnAsync(http, new SimulatedTimeProvider(), stopping.Token);

        // The pipe accepts a piece only once the previous one is read.
        for (int i = 0; i < Pieces; i++)
        {
            await body.Writer.WriteAsync(new byte[PieceBytes]).AsTask().WaitAsync(TimeSpan.FromMinutes(1));
        }

        await body.Writer.CompleteAsync();
        await reading.WaitAsync(TimeSpan.FromMinutes(1));
    }

    /// <summary>Kestrel would wait for the rest of the body for seconds, or until the end of a stop.</summary>
    [Fact]
    public async Task A_connection_whose_client_falls_silent_is_closed()
    {
        var http = new DefaultHttpContext();
        http.Features.Set<IRequestBodyPipeFeature>(new BodyPipe(new Pipe().Reader));
        var lifetime = new Lifetime();
        http.Features.Set<IHttpRequestLifetimeFeature>(lifetime);
        var time = new SimulatedTimeProvider();
        var reading = EarlyResponse.ReadOnAsync(http, time, CancellationToken.None);
        using var timeout = new CancellationTokenSource(TimeSpan.FromMinutes(1));
        while (!reading.IsCompleted)
        {
            time.Advance(TimeSpan.FromSeconds(1));
            await Task.Delay(1, timeout.Token);
        }

        await reading;
        Assert.True(lifetime.IsAborted);
    }

    [Theory]
    [InlineData("POST", "/session")]
    [InlineData("POST", "/claim")]
    [InlineData("POST", "{db}/queries")]
    [InlineData("PUT", "{db}/docs?id=a")]
    [InlineData("POST", "{db}/bulk_insert")]
    [InlineData("POST", "{db}/import")]
    public async Task A_chunk_with_an_overflowing_length_is_malformed_and_not_logged(string method, string route)
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

    /// <summary>Reads the headers, and as many bytes of the body as they announce.</summary>
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

    private sealed class Lifetime : IHttpRequestLifetimeFeature
    {
        public bool IsAborted { get; private set; }

        public CancellationToken RequestAborted { get; set; }

        public void Abort() => IsAborted = true;
    }

    private sealed record BodyPipe(PipeReader Reader) : IRequestBodyPipeFeature;
}
