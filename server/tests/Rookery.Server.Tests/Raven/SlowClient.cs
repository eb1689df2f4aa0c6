using System.Globalization;
using System.Net.Sockets;
using System.Text;

namespace Rookery.Server.Tests.Raven;

/// <summary>A client that sends parts of requests, and reads only when it is told to.</summary>
internal sealed class SlowClient : IDisposable
{
    // Longest wait for what must happen, by the real clock.
    private static readonly TimeSpan Guard = TimeSpan.FromMinutes(2);

    private readonly TcpClient _client = new() { ReceiveBufferSize = 32 << 10 };

    public static async Task<SlowClient> OpenAsync(RunningServer server, string request, string header)
    {
        var client = new SlowClient();
        await client._client.ConnectAsync(server.Address.Host, server.Address.Port);
        await client.SendAsync(
            $"{request} HTTP/1.1\r\nHost: {server.Address.Authority}\r\n{header}"
                + $"{(header.Length == 0 ? "" : "\r\n")}\r\n"
        );
        return client;
    }

    public Task SendAsync(string text) =>
        _client.GetStream().WriteAsync(Encoding.ASCII.GetBytes(text)).AsTask().WaitAsync(Guard);

    public Task SendChunkAsync(string text) =>
        SendAsync(string.Create(CultureInfo.InvariantCulture, $"{text.Length:x}\r\n{text}\r\n"));

    public async Task<string> AnswerAsync()
    {
        byte[] buffer = new byte[64 << 10];
        int read = await _client.GetStream().ReadAsync(buffer).AsTask().WaitAsync(Guard);
        return Encoding.UTF8.GetString(buffer, 0, read);
    }

    /// <summary>Reads until the server hangs up.</summary>
    public async Task<long> CountAsync()
    {
        byte[] buffer = new byte[64 << 10];
        long bytes = 0;
        try
        {
            while (await _client.GetStream().ReadAsync(buffer).AsTask().WaitAsync(Guard) is > 0 and int read)
            {
                bytes += read;
            }
        }
        catch (IOException)
        {
            // The connection was reset.
        }

        return bytes;
    }

    public void Dispose() => _client.Dispose();
}
