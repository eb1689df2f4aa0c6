using System.Net;
using System.Net.Sockets;
using System.Text;

namespace Rookery.Server.Tests.CommandLine;

/// <summary>A program that answers every request with the same bytes.</summary>
internal sealed class OtherProgram : IAsyncDisposable
{
    private readonly TcpListener _listener = new(IPAddress.Loopback, 0);
    private readonly byte[] _answer;
    private readonly Task _serving;

    /// <summary>Listens on a free port.</summary>
    /// <param name="answer">The bytes of each answer, as Latin-1.</param>
    public OtherProgram(string answer)
    {
        _answer = Encoding.Latin1.GetBytes(answer);
        _listener.Start();
        _serving = ServeAsync();
    }

    public string Url => $"http://127.0.0.1:{((IPEndPoint)_listener.LocalEndpoint).Port}";

    public async ValueTask DisposeAsync()
    {
        _listener.Stop();
        await _serving;
    }

    private async Task ServeAsync()
    {
        try
        {
            while (true)
            {
                using var client = await _listener.AcceptTcpClientAsync();
                var stream = client.GetStream();
                byte[] request = new byte[64 << 10];
                _ = await stream.ReadAtLeastAsync(request, 1, throwOnEndOfStream: false);
                await stream.WriteAsync(_answer);
            }
        }
        catch (Exception ends) when (ends is SocketException or IOException or InvalidOperationException)
        {
            // The test has ended, or the command has closed the connection.
        }
    }
}
