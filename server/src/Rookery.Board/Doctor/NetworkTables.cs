using System.Buffers.Binary;
using System.Globalization;
using System.Net;

namespace Rookery.Board.Doctor;

/// <summary>Reads the kernel's tables under /proc/net and what avahi-browse prints. Lines that are not as expected are left out.</summary>
public static class NetworkTables
{
    private const int UpAndGateway = 0x3;                   // RTF_UP | RTF_GATEWAY
    private const int Complete = 0x2;                       // ATF_COM
    private const string Listening = "0A";

    /// <summary>The default gateway of the least metric, by /proc/net/route; null when there is none.</summary>
    public static IPAddress? DefaultGateway(string routes)
    {
        var gateways =
            from line in LinesOf(routes)
            let fields = Fields(line)
            where fields.Length >= 8 && fields[1] is "00000000" && fields[7] is "00000000"
            let gateway = Hexadecimal(fields[2])
            where gateway is not null && (Hexadecimal(fields[3]) & UpAndGateway) == UpAndGateway
            orderby int.TryParse(fields[6], NumberStyles.None, CultureInfo.InvariantCulture, out int metric) ? metric : int.MaxValue
            select AddressOf(gateway.Value);
        return gateways.FirstOrDefault();
    }

    /// <summary>Whether a neighbour has answered to its address, by /proc/net/arp.</summary>
    public static bool HasAnswered(string neighbours, IPAddress address) =>
        LinesOf(neighbours).Select(Fields).Any(fields => fields.Length >= 4 && string.Equals(fields[0], address.ToString(), StringComparison.Ordinal)
            && fields[2].StartsWith("0x", StringComparison.Ordinal) && (Hexadecimal(fields[2][2..]) & Complete) != 0);

    /// <summary>The ports on which something listens, by /proc/net/tcp or tcp6.</summary>
    public static IEnumerable<int> ListeningPorts(string sockets) =>
        from line in LinesOf(sockets)
        let fields = Fields(line)
        where fields.Length >= 4 && fields[3] is Listening
        let port = Hexadecimal(fields[1][(fields[1].LastIndexOf(':') + 1)..])
        where port is not null
        select (int)port.Value;

    /// <summary>The services that `avahi-browse --parsable --resolve` found, each address once.</summary>
    public static IReadOnlyList<MdnsService> Services(string browsed)
    {
        var found =
            from line in LinesOf(browsed)
            where line.StartsWith("=;", StringComparison.Ordinal)
            let fields = line.Split(';', 10)
            where fields.Length == 10 && IPAddress.TryParse(fields[7], out _) && int.TryParse(fields[8], NumberStyles.None, CultureInfo.InvariantCulture, out _)
            select new MdnsService(fields[7], int.Parse(fields[8], CultureInfo.InvariantCulture), TextOf(fields[9], "node"), TextOf(fields[9], "cluster"))
            {
                Name = TextOf(fields[9], "name"),
                PeerPort = int.TryParse(TextOf(fields[9], "peers"), NumberStyles.None, CultureInfo.InvariantCulture, out int peers) ? peers : null,
                FormingMark = TextOf(fields[9], "forming"),
            };
        return [.. found.Distinct()];
    }

    private static string? TextOf(string record, string name) =>
        record.Split('"', StringSplitOptions.RemoveEmptyEntries).FirstOrDefault(text => text.StartsWith(name + "=", StringComparison.Ordinal))?[(name.Length + 1)..];

    private static string[] LinesOf(string table) => table.Split('\n', StringSplitOptions.RemoveEmptyEntries);

    private static string[] Fields(string line) => line.Split((char[])[' ', '\t'], StringSplitOptions.RemoveEmptyEntries);

    private static uint? Hexadecimal(string text) => uint.TryParse(text, NumberStyles.AllowHexSpecifier, CultureInfo.InvariantCulture, out uint value) ? value : null;

    // The kernel prints the four bytes as a number of its own order, which is little-endian wherever we run.
    private static IPAddress AddressOf(uint printed)
    {
        byte[] bytes = new byte[sizeof(uint)];
        BinaryPrimitives.WriteUInt32LittleEndian(bytes, printed);
        return new IPAddress(bytes);
    }
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
