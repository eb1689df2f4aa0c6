using System.Globalization;
using System.Net.Sockets;
using System.Text;
using Rookery.Server.Tests.Raven;

namespace Rookery.Server.Tests.FastPath;

/// <summary>A response as it came over a connection. The Date header is left out.</summary>
/// <param name="Status">The status line.</param>
/// <param name="Headers">The header lines in ascending order.</param>
/// <param name="Body">The body as UTF-8.</param>
internal sealed record RawResponse(string Status, string Headers, string Body)
{
    /// <summary>The status code.</summary>
    public int Code => int.Parse(Status.Split(' ')[1], CultureInfo.InvariantCulture);
}

/// <summary>A connection on which a test sends bytes and reads whole responses.</summary>
internal sealed class RawConnection : IDisposable
{
    // Ends a test that would otherwise hang; a passing test never waits for it.
    private static readonly TimeSpan Guard = TimeSpan.FromMinutes(1);

    private readonly TcpClient _client = new() { NoDelay = true };
    private byte[] _received = [];

    private RawConnection() { }

    public NetworkStream Stream { get; private set; } = null!;

    public static async Task<RawConnection> OpenAsync(RunningServer server)
    {
        var connection = new RawConnection();
        await connection._client.ConnectAsync(server.Address.Host, server.Address.Port);
        connection.Stream = connection._client.GetStream();
        return connection;
    }

    /// <summary>Sends each character as one byte.</summary>
    public async Task SendAsync(string bytes) => await Stream.WriteAsync(Encoding.Latin1.GetBytes(bytes));

    /// <summary>Ends the client's side of the connection.</summary>
    public void EndSending() => _client.Client.Shutdown(SocketShutdown.Send);

    /// <summary>Reads the next response; null if the server has closed the connection.</summary>
    public async Task<RawResponse?> ReadAsync()
    {
        if (await FindHeadAsync() is not { } headLength)
        {
            return null;
        }

        string[] lines = Encoding.Latin1.GetString(_received, 0, headLength).Split("\r\n");
        string[] headers =
        [
            .. lines[1..^2].Where(static line => !line.StartsWith("Date: ", StringComparison.Ordinal)).Order(),
        ];
        int bodyLength = headers
            .Where(static line => line.StartsWith("Content-Length: ", StringComparison.Ordinal))
            .Select(static line => int.Parse(line["Content-Length: ".Length..], CultureInfo.InvariantCulture))
            .FirstOrDefault();
        while (_received.Length < headLength + bodyLength)
        {
            Assert.True(await ReceiveAsync(), "the connection stays open until the body is complete");
        }

        string body = Encoding.UTF8.GetString(_received, headLength, bodyLength);
        _received = _received[(headLength + bodyLength)..];
        return new RawResponse(lines[0], string.Join('\n', headers), body);
    }

    /// <summary>Reads all responses until the server closes the connection.</summary>
    public async Task<List<RawResponse>> ReadAllAsync()
    {
        var all = new List<RawResponse>();
        while (await ReadAsync() is { } response)
        {
            all.Add(response);
        }

        return all;
    }

    public void Dispose() => _client.Dispose();

    // Receives the status line and all headers. Returns their length; null if the connection ends before them.
    private async Task<int?> FindHeadAsync()
    {
        int end;
        while ((end = _received.AsSpan().IndexOf("\r\n\r\n"u8)) < 0)
        {
            if (!await ReceiveAsync())
            {
                Assert.Empty(_received);
                return null;
            }
        }

        return end + 4;
    }

    // Adds received bytes; false at the end of the connection.
    private async Task<bool> ReceiveAsync()
    {
        byte[] buffer = new byte[64 << 10];
        int read = await Stream.ReadAsync(buffer).AsTask().WaitAsync(Guard);
        _received = [.. _received, .. buffer.AsSpan(0, read)];
        return read > 0;
    }
}
