using System.Buffers;
using System.Buffers.Binary;
using System.Globalization;
using System.Net;
using System.Runtime.InteropServices;
using System.Text.Json;

namespace Rookery.Board.Doctor;

/// <summary>
/// Parses the kernel's tables under /proc/net and the output of `ip` and avahi-browse. Lines of an unexpected form are
/// skipped.
/// </summary>
public static class NetworkTables
{
    private const int UpAndGateway = 0x3; // RTF_UP | RTF_GATEWAY
    private const string Established = "01";
    private const string Listening = "0A";

    /// <summary>
    /// Returns the default gateway with the lowest metric, from /proc/net/route. If there is none, returns that of
    /// /proc/net/ipv6_route, followed by a percent sign and its interface. Null if there is none there either.
    /// </summary>
    public static string? DefaultGateway(string routes, string routes6)
    {
        // Columns: interface, destination, gateway, flags, references, uses, metric, mask.
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
        // Columns: destination, its prefix length, source, its prefix length, next hop, metric, references, uses,
        // flags, interface.
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

    /// <summary>Returns the state of a neighbour's address resolution, from `ip -json neighbour`.</summary>
    public static Neighbour NeighbourAt(string neighbours, IPAddress address)
    {
        try
        {
            // The table may list an address once per interface.
            using var table = JsonDocument.Parse(neighbours);
            return table
                .RootElement.EnumerateArray()
                .Where(entry => IsAt(entry, address))
                .Select(StateOf)
                .DefaultIfEmpty(Neighbour.Absent)
                .Max();
        }
        catch (Exception malformed) when (malformed is JsonException or InvalidOperationException)
        {
            return Neighbour.Absent;
        }
    }

    // For a link-local address the interface is in another field.
    private static bool IsAt(JsonElement entry, IPAddress address) =>
        entry.TryGetProperty("dst", out var destination)
        && IPAddress.TryParse(destination.GetString(), out var entryAddress)
        && entryAddress.GetAddressBytes().AsSpan().SequenceEqual(address.GetAddressBytes());

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

    /// <summary>Returns the local end points of listening sockets, from /proc/net/tcp or tcp6.</summary>
    public static IEnumerable<IPEndPoint> Listeners(string sockets) =>
        from socket in Sockets(sockets)
        where socket.State is Listening
        select socket.Local;

    /// <summary>Returns the established connections, from /proc/net/tcp or tcp6.</summary>
    public static IEnumerable<(IPEndPoint Local, IPEndPoint Remote)> Connections(string sockets) =>
        from socket in Sockets(sockets)
        where socket.State is Established
        select (socket.Local, socket.Remote);

    /// <summary>Returns the distinct services in the output of `avahi-browse --parsable --resolve`.</summary>
    public static IReadOnlyList<MdnsService> Services(string browsed)
    {
        // Columns: "=", interface, protocol, name, type, domain, host, address, port, text records in quotes.
        var services =
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
        return [.. services.Distinct()];
    }

    // Columns: number, local address, remote address, state.
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
        && AddressOf(address) is { } ipAddress
        && Hexadecimal(port) is { } number and <= IPEndPoint.MaxPort
            ? new IPEndPoint(ipAddress, (int)number)
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

    // The kernel prints each four bytes as a number in its native byte order, which is little-endian on all supported
    // machines.
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

/// <summary>The state of a neighbour's address resolution, from least to most certain.</summary>
public enum Neighbour
{
    /// <summary>It did not answer, or was not asked.</summary>
    Absent,

    /// <summary>It is being asked, or answered some time ago.</summary>
    Unsettled,

    /// <summary>It answers.</summary>
    Present,
}

/// <summary>A node that mDNS announces.</summary>
/// <param name="Address">Its IP address.</param>
/// <param name="Port">Its port for clients.</param>
/// <param name="NodeId">Its id; null if it is not announced.</param>
/// <param name="ClusterId">Its cluster's id; null if it is not announced.</param>
public sealed record MdnsService(string Address, int Port, string? NodeId, string? ClusterId)
{
    /// <summary>Its name; null if it is not announced.</summary>
    public string? Name { get; init; }

    /// <summary>Its port for members; null if it is not announced.</summary>
    public int? PeerPort { get; init; }

    /// <summary>A mark that is equal on all nodes that form one cluster; null if it forms no cluster.</summary>
    public string? FormingMark { get; init; }
}
