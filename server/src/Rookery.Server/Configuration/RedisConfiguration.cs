using System.Globalization;
using System.Net;
using System.Net.Sockets;
using Rookery.Documents.Databases;

namespace Rookery.Server.Configuration;

/// <summary>Where and with which database Redis clients are served.</summary>
/// <param name="Listen">Address and port to listen on; port 0 for any free one.</param>
/// <param name="Database">Name of the database, which the first command of a client creates.</param>
/// <param name="UsesTls">Whether connections use TLS: beyond this machine, if the node has a certificate.</param>
public sealed record RedisConfiguration(IPEndPoint Listen, string Database, bool UsesTls)
{
    /// <summary>Name of the database if none is configured.</summary>
    public const string DefaultDatabase = "redis";

    private const string Off = "off";

    /// <summary>Validates the settings.</summary>
    /// <returns>The configuration; null if Redis clients are not served.</returns>
    /// <exception cref="ConfigurationException">A setting is invalid; the message names it.</exception>
    internal static RedisConfiguration? From(ServeSettings settings, bool isSecure)
    {
        string database = settings.RedisDatabase ?? DefaultDatabase;
        if (DatabaseName.Problem(database) is { } problem)
        {
            throw new ConfigurationException($"The database for Redis clients has no valid name: {problem}");
        }

        if (settings.Redis is null && settings.RedisDatabase is not null)
        {
            throw new ConfigurationException(
                $"The database '{database}' for Redis clients is named, but no address to listen on for them. Set "
                    + "redis.listen (--redis) to a port such as 6379, or to \"off\"."
            );
        }

        if (settings.Redis is null or Off)
        {
            return null;
        }

        var listen = Parse(settings.Redis);
        bool isBeyond = !IPAddress.IsLoopback(listen.Address);
        if (isBeyond && !isSecure && settings.Insecure is not true)
        {
            throw new ConfigurationException(
                $"Listening on {settings.Redis} for Redis clients would let anyone who reaches this machine read and "
                    + "write all data, because without https no credential is asked for; say only the port, say "
                    + "https, or say --insecure."
            );
        }

        return new RedisConfiguration(
            ServeConfiguration.UsableOf(listen, Socket.OSSupportsIPv6),
            database,
            isBeyond && isSecure
        );
    }

    // A port alone means this machine. IPEndPoint would read "6379" as the address 0.0.24.235.
    private static IPEndPoint Parse(string listen)
    {
        if (ushort.TryParse(listen, NumberStyles.None, CultureInfo.InvariantCulture, out ushort port))
        {
            return new IPEndPoint(IPAddress.Loopback, port);
        }

        int colon = listen.LastIndexOf(':');
        return
            colon > 0
            && ushort.TryParse(listen.AsSpan(colon + 1), NumberStyles.None, CultureInfo.InvariantCulture, out _)
            && IPEndPoint.TryParse(listen, out var endpoint)
            && (endpoint.AddressFamily == AddressFamily.InterNetwork || listen.StartsWith('['))
            ? endpoint
            : throw new ConfigurationException(
                $"The address to listen on for Redis clients must look like 6379 or [::]:6379, or be \"{Off}\", not "
                    + $"\"{listen}\"."
            );
    }
}
