using System.Buffers;
using System.Buffers.Binary;
using System.Globalization;
using System.Net;
using System.Runtime.InteropServices;
using System.Text.Json;

namespace Rookery.Board.Doctor;

/// <summary>
/// Reads the kernel's tables under /proc/net and what `ip` and avahi-browse print. Lines that are not as expected are
/// left out.
/// </summary>
public static class NetworkTables
{
    private const int UpAndGateway = 0x3; // RTF_UP | RTF_GATEWAY
    private const string Established = "01";
    private const string Listening = "0A";

    /// <summary>
    /// The default gateway of the least metric, by /proc/net/route, or, where there is none, by /proc/net/ipv6_route,
    /// then with its interface behind a percent sign; null when there is none at all.
    /// </summary>
    public static string? DefaultGateway(string routes, string routes6)
    {
        var gateways =
            from line in LinesOf(routes)
            let fields = Fields(line)
            where fields.Length >= 8 && fields[1] is "00000000" && fields[7] is "00000000"
            let gateway = AddressOf(fields[2])
            where gateway is not null && (Hexadecimal(fields[3]) & UpAndGateway) == UpAndGateway
            orderby int.TryParse(fields[6], NumberStyles.None, CultureInfo.InvariantCulture, out int metric)
                ? metric
                : int.MaxValue
            select gateway.ToString();
        var gateways6 =
            from line in LinesOf(routes6)
            let fields = Fields(line)
            where
                fields.Length == 10
                && fields[1] is "00"
                && (Hexadecimal(fields[8]) & UpAndGateway) == UpAndGateway
                && fields[4].Length == 32
            orderby Hexadecimal(fields[5]) ?? uint.MaxValue
            select $"{new IPAddress(Convert.FromHexString(fields[4]))}%{fields[9]}";
        return gateways.Concat(gateways6).FirstOrDefault();
    }

    /// <summary>What the kernel has found out about a neighbour, by `ip -json neighbour`.</summary>
    public static Neighbour NeighbourAt(string neighbours, IPAddress address)
    {
        try
        {
            // A neighbour of one address may stand there for each interface.
            using var table = JsonDocument.Parse(neighbours);
            return table
                .RootElement.EnumerateArray()
                .Where(entry => IsAt(entry, address))
                .Select(StateOf)
                .DefaultIfEmpty(Neighbour.Absent)
                .Max();
        }
        catch (Exception wrong) when (wrong is JsonException or InvalidOperationException)
        {
            return Neighbour.Absent;
        }
    }

    // The interface, which belongs to a link-local address, stands in a field of its own.
    private static bool IsAt(JsonElement entry, IPAddress address) =>
        entry.TryGetProperty("dst", out var destination)
        && IPAddress.TryParse(destination.GetString(), out var found)
        && found.GetAddressBytes().AsSpan().SequenceEqual(address.GetAddressBytes());

    private static Neighbour StateOf(JsonElement entry) =>
        !entry.TryGetProperty("state", out var states)
            ? Neighbour.Absent
            : states.EnumerateArray().FirstOrDefault() switch
            {
                { ValueKind: JsonValueKind.Undefined } => Neighbour.Absent,
                var state => StateOf(state.GetString()),
            };

    private static Neighbour StateOf(string? state) =>
        state switch
        {
            "REACHABLE" or "PERMANENT" or "NOARP" => Neighbour.Present,
            "FAILED" => Neighbour.Absent,
            _ => Neighbour.Unsettled,
        };

    /// <summary>The ends here at which something listens, by /proc/net/tcp or tcp6.</summary>
    public static IEnumerable<IPEndPoint> Listeners(string sockets) =>
        from socket in Sockets(sockets)
        where socket.State is Listening
        select socket.Local;

    /// <summary>The connections that stand, by /proc/net/tcp or tcp6.</summary>
    public static IEnumerable<(IPEndPoint Local, IPEndPoint Remote)> Connections(string sockets) =>
        from socket in Sockets(sockets)
        where socket.State is Established
        select (socket.Local, socket.Remote);

    /// <summary>The services that `avahi-browse --parsable --resolve` found, each address once.</summary>
    public static IReadOnlyList<MdnsService> Services(string browsed)
    {
        var found =
            from line in LinesOf(browsed)
            where line.StartsWith("=;", StringComparison.Ordinal)
            let fields = line.Split(';', 10)
            where
                fields.Length == 10
                && IPAddress.TryParse(fields[7], out _)
                && int.TryParse(fields[8], NumberStyles.None, CultureInfo.InvariantCulture, out _)
            select new MdnsService(
                fields[7],
                int.Parse(fields[8], CultureInfo.InvariantCulture),
                TextOf(fields[9], "node"),
                TextOf(fields[9], "cluster")
            )
            {
                Name = TextOf(fields[9], "name"),
                PeerPort = int.TryParse(
                    TextOf(fields[9], "peers"),
                    NumberStyles.None,
                    CultureInfo.InvariantCulture,
                    out int peers
                )
                    ? peers
                    : null,
                FormingMark = TextOf(fields[9], "forming"),
            };
        return [.. found.Distinct()];
    }

    private static IEnumerable<(string State, IPEndPoint Local, IPEndPoint Remote)> Sockets(string sockets) =>
        from line in LinesOf(sockets)
        let fields = Fields(line)
        where fields.Length >= 4
        let local = EndPointOf(fields[1])
        let remote = EndPointOf(fields[2])
        where local is not null && remote is not null
        select (fields[3], local, remote);

    private static IPEndPoint? EndPointOf(string printed) =>
        printed.Split(':') is [var address, var port]
        && AddressOf(address) is { } at
        && Hexadecimal(port) is { } number and <= IPEndPoint.MaxPort
            ? new IPEndPoint(at, (int)number)
            : null;

    private static string? TextOf(string record, string name) =>
        record
            .Split('"', StringSplitOptions.RemoveEmptyEntries)
            .FirstOrDefault(text => text.StartsWith(name + "=", StringComparison.Ordinal))
            ?[(name.Length + 1)..];

    private static string[] LinesOf(string table) => table.Split('\n', StringSplitOptions.RemoveEmptyEntries);

    private static string[] Fields(string line) =>
        line.Split((char[])[' ', '\t'], StringSplitOptions.RemoveEmptyEntries);

    private static uint? Hexadecimal(string text) =>
        uint.TryParse(text, NumberStyles.AllowHexSpecifier, CultureInfo.InvariantCulture, out uint value)
            ? value
            : null;

    // The kernel prints each four bytes as a number of its own order, which is little-endian wherever we run.
    private static IPAddress? AddressOf(string printed)
    {
        byte[] bytes = new byte[printed.Length / 2];
        if (
            bytes.Length is not 4 and not 16
            || Convert.FromHexString(printed, bytes, out _, out _) != OperationStatus.Done
        )
        {
            return null;
        }

        foreach (ref uint word in MemoryMarshal.Cast<byte, uint>(bytes.AsSpan()))
        {
            word = BinaryPrimitives.ReverseEndianness(word);
        }

        var address = new IPAddress(bytes);
        return address.IsIPv4MappedToIPv6 ? address.MapToIPv4() : address;
    }
}

/// <summary>What the kernel has found out about a neighbour, the most at last.</summary>
public enum Neighbour
{
    /// <summary>It is not there, or nobody asked.</summary>
    Absent,

    /// <summary>It is being asked, or was there a while ago.</summary>
    Unsettled,

    /// <summary>It answers to its address.</summary>
    Present,
}

/// <summary>A node that mDNS announces.</summary>
/// <param name="Address">Its IP address.</param>
/// <param name="Port">Its port for clients.</param>
/// <param name="NodeId">Its id, if it says one.</param>
/// <param name="ClusterId">Its cluster's id, if it says one.</param>
public sealed record MdnsService(string Address, int Port, string? NodeId, string? ClusterId)
{
    /// <summary>Its name, if it says one.</summary>
    public string? Name { get; init; }

    /// <summary>Its port for members, if it says one.</summary>
    public int? PeerPort { get; init; }

    /// <summary>By what it is known to others that form a cluster with it; null when it forms none.</summary>
    public string? FormingMark { get; init; }
}
