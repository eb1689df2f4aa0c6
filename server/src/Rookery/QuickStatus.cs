using System.Text;
using Rookery.Access;
using Rookery.Hosting;
using Rookery.Hosting.Logging;

namespace Rookery;

/// <summary>
/// `rookery status` of a node that speaks plain HTTP, in a fraction of the time that the usual way takes: scripts and
/// prompts ask it often. Without the library for command lines, an HTTP client, sockets, TLS and JSON, of which each
/// takes longer than all the rest: the node puts it into words. Code that was compiled ahead is nearly free, and what
/// is generic over a primitive, or made of wide vectors, is compiled at each start. Whatever is not the plain case, and
/// whatever goes wrong, is left to <see cref="StatusCommand"/>, which says it in sentences.
/// </summary>
internal static class QuickStatus
{
    // Then the usual way asks, which waits for longer and says in a sentence what it waited for.
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(5);

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
            if (
                AddressOf(url) is not { } place
                || !PlainQuestion.TryReadAddress(place, out uint address, out ushort port)
                || TryAsk(place, address, port, isJson, out int code) is not { } answer
            )
            {
                return null;
            }

            StandardStream.Output.Write(answer.Span);
            if (isJson)
            {
                StandardStream.Output.Write("\n"u8);
            }

            return code;
        }
        catch (Exception strange) when (strange is AdminException or IOException)
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

    /// <summary>
    /// The one address that is meant, as <see cref="NodeAddress"/> has it; null when there are several, a token goes
    /// with it, or it is no plain HTTP. Without its scheme.
    /// </summary>
    private static string? AddressOf(string? url)
    {
        bool isNamed = (url ??= Environment.GetEnvironmentVariable("ROOKERY_URL")) is { Length: > 0 };
        var settings = UserSettings.Read();
        if (
            settings.Token is not null
            || (isNamed && !string.IsNullOrEmpty(Environment.GetEnvironmentVariable("ROOKERY_TOKEN")))
            || (!isNamed && settings.Urls.Count > 1)
        )
        {
            return null;
        }

        url =
            isNamed ? url
            : settings.Urls.Count == 1 ? settings.Urls[0]
            : NodeAddress.DefaultUrl;
        const string Scheme = "http://";
        return url!.StartsWith(Scheme, StringComparison.Ordinal) ? url[Scheme.Length..].TrimEnd('/') : null;
    }

    /// <summary>
    /// What the node says of itself, and how the command ends for it; null when it says nothing, or the usual way has
    /// more to ask.
    /// </summary>
    private static ReadOnlyMemory<byte>? TryAsk(string place, uint address, ushort port, bool isJson, out int code)
    {
        // HTTP/1.0: the answer comes in one piece and ends with the connection.
        byte[] question = Encoding.ASCII.GetBytes(
            (isJson ? "GET /readyz?verbose HTTP/1.0\r\nHost: " : "GET /readyz?words HTTP/1.0\r\nHost: ")
                + place
                + "\r\n\r\n"
        );
        code = ExitCode.Failure;
        if (PlainQuestion.Ask(address, port, question, Patience, out int length) is not { } answer)
        {
            return null;
        }

        var whole = answer.AsSpan(0, length);
        int end = whole.IndexOf("\r\n\r\n"u8);
        if (end < 0 || !(whole.StartsWith("HTTP/1.1 200 "u8) || whole.StartsWith("HTTP/1.1 503 "u8)))
        {
            return null;
        }

        var head = whole[..(end + 2)];
        bool isWell = head.IndexOf("\r\nRookery-Status: well\r\n"u8) >= 0;
        if (!isWell && head.IndexOf("\r\nRookery-Status: unwell\r\n"u8) < 0)
        {
            return null;
        }

        // Whatever a terminal might obey is among the rest, and the usual way makes it visible.
        foreach (byte letter in whole[(end + 4)..])
        {
            if (letter is not ((byte)'\n' or (>= (byte)' ' and < 0x7f)))
            {
                return null;
            }
        }

        code = isWell ? ExitCode.Success : ExitCode.Failure;
        // Never as the other branch of a null, which would be an empty answer: an array that is null makes such a
        // memory.
        return answer.AsMemory((end + 4)..length);
    }
}
