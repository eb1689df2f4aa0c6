using System.Net;
using System.Net.Sockets;
using System.Text;
using System.Text.Json;
using Rookery.Access;
using Rookery.Terminal;

namespace Rookery;

/// <summary>
/// `rookery status` of a node that speaks plain HTTP, in a third of the time that the usual way takes: scripts and prompts ask it often. Without the library for command lines, an HTTP
/// client and TLS, of which each takes longer than all the rest. Whatever is not the plain case, and whatever goes wrong, is left to <see cref="StatusCommand"/>, which says it in sentences.
/// </summary>
internal static class QuickStatus
{
    private const int PatienceMilliseconds = 5000;
    private const int MostBytes = 1 << 20;

    /// <summary>Asks and prints.</summary>
    /// <param name="arguments">The whole command line.</param>
    /// <returns>The exit code; null when nothing was printed, and the usual way is to be gone.</returns>
    public static int? TryRun(string[] arguments)
    {
        if (arguments is not ["status", ..] || !TryReadOptions(arguments.AsSpan(1), out string? url, out bool isJson))
        {
            return null;
        }

        try
        {
            if (AddressOf(url) is not { } address || TryAsk(address) is not { } answer)
            {
                return null;
            }

            using var status = JsonDocument.Parse(answer);
            if (!StatusCommand.IsWholeStory(status.RootElement))
            {
                return null;
            }

            string text = isJson ? status.RootElement.GetRawText() : string.Join('\n', StatusCommand.Describe(status.RootElement));
            int code = StatusCommand.IsWell(status.RootElement) ? ExitCode.Success : ExitCode.Failure;
            Output.Line(text);
            return code;
        }
        catch (Exception strange) when (strange is JsonException or KeyNotFoundException or InvalidOperationException or AdminException or IOException)
        {
            return null;
        }
    }

    private static bool TryReadOptions(ReadOnlySpan<string> options, out string? url, out bool isJson)
    {
        (url, isJson) = (null, false);
        for (int at = 0; at < options.Length; at++)
        {
            switch (options[at])
            {
                case "--json":
                    isJson = true;
                    break;
                case "--url" when url is null && at + 1 < options.Length:
                    url = options[++at];
                    break;
                default:
                    return false;
            }
        }

        return true;
    }

    /// <summary>The one address that is meant, as <see cref="NodeAddress"/> has it; null when there are several, a token goes with it, or it is no plain HTTP to an address in numbers.</summary>
    private static IPEndPoint? AddressOf(string? url)
    {
        bool isNamed = (url ??= Environment.GetEnvironmentVariable("ROOKERY_URL")) is { Length: > 0 };
        var settings = UserSettings.Read();
        if (settings.Token is not null || (isNamed && !string.IsNullOrEmpty(Environment.GetEnvironmentVariable("ROOKERY_TOKEN"))) || (!isNamed && settings.Urls.Count > 1))
        {
            return null;
        }

        url = isNamed ? url : settings.Urls.Count == 1 ? settings.Urls[0] : NodeAddress.DefaultUrl;
        const string Scheme = "http://";
        return url!.StartsWith(Scheme, StringComparison.Ordinal) && IPEndPoint.TryParse(url.AsSpan(Scheme.Length).TrimEnd('/'), out var address) && address.Port != 0 ? address : null;
    }

    /// <summary>The JSON of /readyz?verbose; null when there is none.</summary>
    private static ReadOnlyMemory<byte>? TryAsk(IPEndPoint address)
    {
        try
        {
            using var socket = new Socket(address.AddressFamily, SocketType.Stream, ProtocolType.Tcp) { SendTimeout = PatienceMilliseconds, ReceiveTimeout = PatienceMilliseconds, NoDelay = true };
            socket.Connect(address);

            // HTTP/1.0: the answer comes in one piece and ends with the connection.
            socket.Send(Encoding.ASCII.GetBytes($"GET /readyz?verbose HTTP/1.0\r\nHost: {address}\r\n\r\n"));
            byte[] answer = new byte[16 << 10];
            int length = 0;
            for (int read; (read = socket.Receive(answer, length, answer.Length - length, SocketFlags.None)) > 0;)
            {
                length += read;
                if (length == answer.Length)
                {
                    if (length >= MostBytes)
                    {
                        return null;
                    }

                    Array.Resize(ref answer, 2 * length);
                }
            }

            var whole = answer.AsSpan(0, length);
            int end = whole.IndexOf("\r\n\r\n"u8);
            if (end < 0 || !(whole.StartsWith("HTTP/1.1 200 "u8) || whole.StartsWith("HTTP/1.1 503 "u8)))
            {
                return null;
            }

            return answer.AsMemory((end + 4)..length);
        }
        catch (SocketException)
        {
            return null;
        }
    }
}
