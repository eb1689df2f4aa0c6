namespace Rookery.Cluster.Peers;

/// <summary>
/// The protocol between members, negotiated as ALPN <c>rookery/1</c>. Packets are <c>[u32 length of the rest][u8
/// kind][body]</c>, little-endian. The dialler sends a hello. The other end answers with its own hello or with a
/// refusal. Then packets follow. Only the dialler sends messages, so each direction has its own connections. A refusal
/// with <see cref="PacketKind.RefusalOfNoMember"/> is followed by a hello, because the dialler may in turn refuse the
/// sender for good as an old copy.
/// </summary>
internal static class PeerProtocol
{
    /// <summary>
    /// The version in the hello. Framing, the start of a hello and refusals are the same in all versions, so that a
    /// node can report which of two versions is older.
    /// </summary>
    public const ushort Version = 1;

    /// <summary>The feature level in the hello.</summary>
    public const int FeatureLevel = 3;

    /// <summary>
    /// The lowest feature level that accepts <see cref="PacketKind.Addresses"/>. An unknown packet closes a connection.
    /// </summary>
    public const int AddressesSince = 2;

    /// <summary>The lowest feature level that accepts <see cref="PacketKind.ForwardInTerm"/>.</summary>
    public const int ForwardInTermSince = 3;

    /// <summary>The bytes before the body of a packet.</summary>
    public const int PacketHeadBytes = sizeof(uint) + sizeof(byte);

    /// <summary>
    /// The maximum size of a packet on a control connection, and on any connection before the exchange of hellos.
    /// </summary>
    public const int MaxControlPacketBytes = 4 << 10;

    /// <summary>
    /// The maximum size of a packet that carries frames or an outcome: an atomic batch of 32 MiB plus its headers.
    /// </summary>
    public const int MaxBulkPacketBytes = 40 << 20;

    /// <summary>
    /// The maximum size of a packet with several frames. Consensus sends at most 1 MiB of payloads at once, or one
    /// larger frame alone. With the smallest payloads, of about 40 bytes, the headers take almost as many bytes as the
    /// payloads.
    /// </summary>
    public const int MaxSharedPacketBytes = 4 << 20;

    /// <summary>The maximum size of a frame's content after decompression.</summary>
    public const int MaxFrameContentBytes = 40 << 20;
}

/// <summary>The kind of a packet. The values are on the wire.</summary>
internal enum PacketKind : byte
{
    /// <summary>The sender's introduction; the first packet of each end.</summary>
    Hello = 1,

    /// <summary>Why the sender closes the connection: a sentence for the other end's log.</summary>
    Refusal = 2,

    /// <summary>
    /// Asks for a <see cref="Pong"/>: <c>[i64 question]</c> or empty. The question is a timestamp that only the sender
    /// interprets.
    /// </summary>
    Ping = 3,

    /// <summary>Answers a ping: the same body.</summary>
    Pong = 4,

    /// <summary>A consensus message with its frames.</summary>
    Message = 5,

    /// <summary>A forwarded command of an older version: <c>[i64 number][command]</c>.</summary>
    Forward = 6,

    /// <summary>The outcome of a forwarded command: <c>[i64 number][outcome]</c>.</summary>
    Outcome = 7,

    /// <summary>Like <see cref="Forward"/>, but the outcome must carry a receipt.</summary>
    ForwardForReceipt = 8,

    /// <summary>Like <see cref="Refusal"/>, and the other end's data must never participate again.</summary>
    RefusalForGood = 9,

    /// <summary>
    /// Like <see cref="Refusal"/>, because the other end is not a member. The sender's hello follows.
    /// </summary>
    RefusalOfNoMember = 10,

    /// <summary>
    /// The addresses at which the dialler listens, on control connections: see <see cref="AnnouncedAddresses"/>.
    /// </summary>
    Addresses = 11,

    /// <summary>
    /// A forwarded command for the leader of a term: <c>[i64 number][i64 term][u8 whether the outcome must carry a
    /// receipt][command]</c>.
    /// </summary>
    ForwardInTerm = 12,
}
