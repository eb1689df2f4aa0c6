using System.Net;
using System.Net.Sockets;
using System.Text;

namespace Rookery.Redis.Tests;

/// <summary>A connection whose bytes the test writes and reads itself. Bytes are shown as Latin-1.</summary>
internal sealed class RawClient : IDisposable
{
    private static readonly TimeSpan Timeout = TimeSpan.FromSeconds(30);

    private readonly Socket _socket = new(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
    private readonly byte[] _buffer = new byte[64 << 10];
    private int _start;
    private int _end;

    public Task ConnectAsync(int port) => _socket.ConnectAsync(IPAddress.Loopback, port);

    public void Dispose() => _socket.Dispose();

    /// <summary>Sends a command and returns its reply.</summary>
    public async Task<string> CallAsync(params string[] command)
    {
        await SendAsync(Encode(command));
        return await ReadAsync();
    }

    /// <summary>Sends bytes.</summary>
    public Task SendAsync(string bytes) => SendAsync(Encoding.Latin1.GetBytes(bytes));

    public async Task SendAsync(ReadOnlyMemory<byte> bytes)
    {
        while (bytes.Length > 0)
        {
            bytes = bytes[await _socket.SendAsync(bytes)..];
        }
    }

    /// <summary>Closes the sending half.</summary>
    public void EndSending() => _socket.Shutdown(SocketShutdown.Send);

    /// <summary>Reads one reply of any type, with its nested ones; "end" at the end of the connection.</summary>
    public async Task<string> ReadAsync()
    {
        var text = new StringBuilder();
        return await TryReadAsync(text) ? text.ToString() : "end";
    }

    /// <summary>Whether the server closes the connection, after replies that are left unread.</summary>
    public async Task<bool> HasEndedAsync()
    {
        while (true)
        {
            _start = _end;
            if (!await FillAsync())
            {
                return true;
            }
        }
    }

    /// <summary>Encodes a command as an array of strings.</summary>
    public static string Encode(params string[] command) =>
        $"*{command.Length}\r\n{string.Concat(command.Select(static part => $"${part.Length}\r\n{part}\r\n"))}";

    private async Task<bool> TryReadAsync(StringBuilder text)
    {
        if (await ReadLineAsync() is not { } line)
        {
            return false;
        }

        text.Append(line).Append(' ');
        int count = line[0] is '*' or '~' or '>' or '%' or '$' or '=' ? int.Parse(line.AsSpan(1)) : 0;
        if (line[0] is '$' or '=')
        {
            text.Length -= 1 + line.Length;
            text.Append(count < 0 ? "nil " : await ReadBytesAsync(count));
            return true;
        }

        for (int i = 0; i < (line[0] == '%' ? 2 * count : count); i++)
        {
            if (!await TryReadAsync(text))
            {
                return false;
            }

            text.Append(text[^1] == ' ' ? string.Empty : " ");
        }

        text.Length -= 1;
        return true;
    }

    private async Task<string> ReadBytesAsync(int count)
    {
        var text = new StringBuilder();
        for (int left = count + 2; left > 0; )
        {
            if (_start == _end)
            {
                Assert.True(await FillAsync(), "a reply is whole");
            }

            int taken = Math.Min(left, _end - _start);
            text.Append(Encoding.Latin1.GetString(_buffer, _start, taken));
            _start += taken;
            left -= taken;
        }

        return text.ToString(0, count);
    }

    private async Task<string?> ReadLineAsync()
    {
        var line = new StringBuilder();
        while (true)
        {
            if (_start == _end && !await FillAsync())
            {
                return null;
            }

            char next = (char)_buffer[_start++];
            if (next == '\n')
            {
                return line.ToString(0, line.Length - 1);
            }

            line.Append(next);
        }
    }

    private async Task<bool> FillAsync()
    {
        using var timeout = new CancellationTokenSource(Timeout);
        try
        {
            _start = 0;
            _end = await _socket.ReceiveAsync(_buffer.AsMemory(), timeout.Token);
            return _end > 0;
        }
        catch (SocketException)
        {
            return false;
        }
    }
}
