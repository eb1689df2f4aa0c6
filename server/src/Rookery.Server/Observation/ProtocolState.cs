using System.Net;
using System.Text.Json;

namespace Rookery.Server.Observation;

/// <summary>
/// What a protocol besides HTTP serves, for the dashboard and for alerts. Counts are since its start.
/// </summary>
internal sealed record ProtocolState
{
    /// <summary>Address and port that it listens on.</summary>
    public required IPEndPoint Address { get; init; }

    /// <summary>Whether connections use TLS.</summary>
    public required bool UsesTls { get; init; }

    /// <summary>Name of the database that it serves.</summary>
    public required string Database { get; init; }

    /// <summary>How long it has been served.</summary>
    public required TimeSpan Uptime { get; init; }

    /// <summary>Connections now.</summary>
    public required int Clients { get; init; }

    /// <summary>Most connections at once.</summary>
    public required int MaxClients { get; init; }

    /// <summary>Connections with subscriptions.</summary>
    public required int Subscribers { get; init; }

    /// <summary>Connections that wait within a command.</summary>
    public required int Blocked { get; init; }

    /// <summary>Commands by family, without families that had none.</summary>
    public required IReadOnlyList<(string Family, long Count)> Commands { get; init; }

    /// <summary>Replies that are errors.</summary>
    public required long Errors { get; init; }

    /// <summary>Connections refused because there were too many, of all clients or of one address.</summary>
    public required long Refused { get; init; }

    /// <summary>Commands whose outcome the node could not tell.</summary>
    public required long UnknownOutcomes { get; init; }

    /// <summary>Clients disconnected because they did not read their replies or messages.</summary>
    public required long SlowClients { get; init; }

    /// <summary>Writes the members of the answer of /dashboard/redis after <c>IsOn</c>.</summary>
    public void WriteMembers(Utf8JsonWriter json)
    {
        json.WriteString("Address"u8, Address.ToString());
        json.WriteBoolean("UsesTls"u8, UsesTls);
        json.WriteString("Database"u8, Database);
        json.WriteNumber("UptimeSeconds"u8, Math.Round(Uptime.TotalSeconds, 3));
        json.WriteNumber("Clients"u8, Clients);
        json.WriteNumber("MaxClients"u8, MaxClients);
        json.WriteNumber("Subscribers"u8, Subscribers);
        json.WriteNumber("Blocked"u8, Blocked);
        json.WriteStartObject("Commands"u8);
        foreach (var (family, count) in Commands)
        {
            json.WriteNumber(family, count);
        }

        json.WriteEndObject();
        json.WriteNumber("Errors"u8, Errors);
        json.WriteNumber("Refused"u8, Refused);
        json.WriteNumber("UnknownOutcomes"u8, UnknownOutcomes);
        json.WriteNumber("SlowClients"u8, SlowClients);
    }
}
