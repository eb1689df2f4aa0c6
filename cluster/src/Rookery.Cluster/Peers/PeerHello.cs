using System.Buffers.Binary;
using Rookery.Raft;

namespace Rookery.Cluster.Peers;

/// <summary>The kind of a connection between members.</summary>
public enum LinkKind
{
    /// <summary>
    /// For votes, heartbeats, replies and read requests. They do not share a connection with frames, because on Wi-Fi a
    /// lost TCP segment of a bulk transfer would delay them.
    /// </summary>
    Control = 1,

    /// <summary>For entries, snapshot offers and forwarded commands.</summary>
    Bulk = 2,
}

/// <summary>
/// A member's introduction at the beginning of each connection. Its certificate proves the node id; the other values
/// are taken on trust.
/// </summary>
public sealed record PeerHello
{
    /// <summary>The bytes "RKPL", with which every hello begins.</summary>
    private const uint Magic = 0x4C504B52;
    private const int MaxTextBytes = 64;
    private const int GuidBytes = 16;

    /// <summary>The cluster's random id.</summary>
    public required string ClusterId { get; init; }

    /// <summary>The node's random id.</summary>
    public required string NodeId { get; init; }

    /// <summary>The id of the store, new each time a data directory is formatted.</summary>
    public required Guid StoreId { get; init; }

    /// <summary>How often the store was started, including this start.</summary>
    public required long StartNumber { get; init; }

    /// <summary>The highest feature level that the node's version supports.</summary>
    public required int FeatureLevel { get; init; }

    /// <summary>
    /// The port on which the node listens for members; 0 when unknown. Together with the source address, it tells where
    /// to dial a member that moved.
    /// </summary>
    public int Port { get; init; }

    /// <summary>
    /// A random id of this start of the process. Different ids with the same <see cref="StartNumber"/> reveal a copy of
    /// the store.
    /// </summary>
    public ulong StartId { get; init; }

    /// <summary>The kind of the connection.</summary>
    public LinkKind Kind { get; init; }

    /// <summary>The node's id in consensus.</summary>
    public NodeId Member => Members.IdOf(NodeId);

    /// <summary>The number of bytes that <see cref="Write"/> writes.</summary>
    internal int SizeInBytes =>
        sizeof(uint)
        + (2 * sizeof(ushort))
        + WireWriter.SizeOf(NodeId)
        + WireWriter.SizeOf(ClusterId)
        + GuidBytes
        + (2 * sizeof(long))
        + sizeof(int)
        + 1;

    internal void Write(Span<byte> destination)
    {
        var writer = new WireWriter(destination);
        writer.PutInt32((int)Magic);
        writer.PutUInt16(PeerProtocol.Version);
        writer.PutText(NodeId); // the layout up to here is the same in all versions
        writer.PutText(ClusterId);
        writer.PutGuid(StoreId);
        writer.PutInt64(StartNumber);
        writer.PutUInt64(StartId);
        writer.PutInt32(FeatureLevel);
        writer.PutUInt16((ushort)Port);
        writer.PutByte((byte)Kind);
    }

    /// <summary>Reads a hello.</summary>
    /// <exception cref="PeerProtocolException">The bytes are not a hello, or one of another version.</exception>
    internal static PeerHello Read(ReadOnlySpan<byte> body)
    {
        if (body.Length < sizeof(uint) || BinaryPrimitives.ReadUInt32LittleEndian(body) != Magic)
        {
            throw new PeerProtocolException("What came is not a hello of a member.");
        }

        var reader = new WireReader(body);
        reader.Take(sizeof(uint));
        ushort version = reader.TakeUInt16();
        string node = ReadId(ref reader);
        if (version != PeerProtocol.Version)
        {
            string nodeToUpgrade = version < PeerProtocol.Version ? $"node {node}" : "the node that says this";
            throw new PeerProtocolException(
                $"Node {node} speaks version {version} of the protocol between members, and the node that "
                    + $"says this speaks version {PeerProtocol.Version}: upgrade {nodeToUpgrade}."
            );
        }

        var hello = new PeerHello
        {
            NodeId = node,
            ClusterId = ReadId(ref reader),
            StoreId = reader.TakeGuid(),
            StartNumber = reader.TakeInt64(),
            StartId = reader.TakeUInt64(),
            FeatureLevel = reader.TakeInt32(),
            Port = reader.TakeUInt16(),
            Kind = (LinkKind)reader.TakeByte(),
        };
        reader.ExpectEnd();
        return Enum.IsDefined(hello.Kind)
            ? hello
            : throw new PeerProtocolException("A hello is for a connection of no known kind.");
    }

    private static string ReadId(ref WireReader reader) =>
        reader.TakeText() is { Length: > 0 and <= MaxTextBytes } text && text.All(c => c is > ' ' and <= '~')
            ? text
            : throw new PeerProtocolException("A hello names nobody.");
}
