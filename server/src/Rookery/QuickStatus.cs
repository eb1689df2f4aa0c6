using System.Text;
using Rookery.Access;
using Rookery.Hosting;
using Rookery.Hosting.Logging;

namespace Rookery;

/// <summary>
/// A fast path of `rookery status` for a node on plain HTTP, because scripts and prompts call it often. It avoids the
/// command-line library, the HTTP client, TLS and JSON, each of which takes longer to load than the rest of the command
/// takes. The node formats the text. <see cref="StatusCommand"/> handles all other cases and all errors.
/// </summary>
internal static class QuickStatus
{
    // After this time StatusCommand takes over, which waits longer and reports what it waited for.
    private static readonly TimeSpan Timeout = TimeSpan.FromSeconds(5);

    /// <summary>Runs the command if this fast path can handle it.</summary>
    /// <param name="arguments">The whole command line.</param>
    /// <returns>The exit code; null if nothing was printed and <see cref="StatusCommand"/> must run.</returns>
    public static int? TryRun(string[] arguments)
    {
        if (arguments is not ["status", ..] || !TryReadOptions(arguments.AsSpan(1), out string? url, out bool isJson))
        {
            return null;
        }

        try
        {
            if (
                AddressOf(url) is not { } hostAndPort
                || !PlainHttpRequest.TryReadAddress(hostAndPort, out uint address, out ushort port)
                || TryAsk(hostAndPort, address, port, isJson, out int code) is not { } answer
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
        catch (Exception failure) when (failure is AdminException or IOException)
        {
            return null;
        }
    }

    /// <summary>
    /// Reads the options; false if this fast path does not handle them. It does not handle an empty address, which is
    /// an error: probably an environment variable is not set.
    /// </summary>
    internal static bool TryReadOptions(ReadOnlySpan<string> options, out string? url, out bool isJson)
    {
        (url, isJson) = (null, false);
        for (int index = 0; index < options.Length; index++)
        {
            switch (options[index])
            {
                case "--json":
                    isJson = true;
                    break;
                case "--url" when url is null && index + 1 < options.Length && options[index + 1].Length > 0:
                    index++;
                    url = options[index];
                    break;
                default:
                    return false;
            }
        }

        return true;
    }

    /// <summary>
    /// Returns the single address that the command uses, without its scheme, by the rules of <see cref="NodeAddress"/>.
    /// Null if there are several addresses, if a token is sent, or if the address is not plain HTTP.
    /// </summary>
    private static string? AddressOf(string? url)
    {
        url ??= Environment.GetEnvironmentVariable("ROOKERY_URL");
        bool isNamed = !string.IsNullOrEmpty(url);
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
    /// Asks the node for its status. Returns the text to print and the exit code; null if the node does not answer, or
    /// if <see cref="StatusCommand"/> must send further requests.
    /// </summary>
    private static ReadOnlyMemory<byte>? TryAsk(
        string hostAndPort,
        uint address,
        ushort port,
        bool isJson,
        out int code
    )
    {
        // With HTTP/1.0 the body is not chunked and ends with the connection.
        byte[] request = Encoding.ASCII.GetBytes(
            (isJson ? "GET /readyz?verbose HTTP/1.0\r\nHost: " : "GET /readyz?words HTTP/1.0\r\nHost: ")
                + hostAndPort
                + "\r\n\r\n"
        );
        code = ExitCode.Failure;
        if (PlainHttpRequest.Exchange(address, port, request, Timeout, out int length) is not { } answer)
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

        // Text with control characters is left to StatusCommand, which escapes them.
        foreach (byte letter in whole[(end + 4)..])
        {
            if (letter is not ((byte)'\n' or (>= (byte)' ' and < 0x7f)))
            {
                return null;
            }
        }

        code = isWell ? ExitCode.Success : ExitCode.Failure;
        // Not written as a conditional with null: a null array would convert to empty memory instead of null.
        return answer.AsMemory((end + 4)..length);
    }
}
