namespace Rookery.Cluster.Peers;

/// <summary>
/// The protocol between members, behind ALPN <c>rookery/1</c>: packets <c>[u32 length of what follows][u8
/// kind][body]</c>, little-endian. The dialler sends a hello, the other end answers with its own or with a refusal;
/// then packets flow. Messages flow from the dialler only, so that each direction has connections of its own. Behind
/// the refusal of who is no member comes a hello: perhaps the dialler refuses that for good, because an old card says
/// so.
/// </summary>
internal static class PeerProtocol
{
    /// <summary>
    /// The version in the hello. Packets' framing, the head of a hello and refusals are the same in all versions, so
    /// that two versions can say to each other which is the older.
    /// </summary>
    public const ushort Version = 1;

    /// <summary>The feature level in the hello.</summary>
    public const int FeatureLevel = 3;

    /// <summary>
    /// The level from which on a member takes <see cref="PacketKind.Places"/>: a packet that it does not know closes a
    /// connection.
    /// </summary>
    public const int PlacesSince = 2;

    /// <summary>The level from which on a member takes <see cref="PacketKind.ForwardInTerm"/>.</summary>
    public const int ForwardInTermSince = 3;

    /// <summary>Bytes before the body of a packet.</summary>
    public const int PacketHeadBytes = sizeof(uint) + sizeof(byte);

    /// <summary>
    /// The longest packet on a connection that carries no frames, and of any connection before it has said hello.
    /// </summary>
    public const int MaxControlPacketBytes = 4 << 10;

    /// <summary>
    /// The longest packet that carries frames or an outcome: one atomic batch of 32 MiB, with room for what lies around
    /// it.
    /// </summary>
    public const int MaxBulkPacketBytes = 40 << 20;

    /// <summary>
    /// The longest packet of several frames. Consensus sends 1 MiB of payloads at once, or one longer frame alone; of
    /// the smallest payloads, some 40 bytes, the heads around them take almost as much again.
    /// </summary>
    public const int MaxSharedPacketBytes = 4 << 20;

    /// <summary>The longest content that a frame's payload may decompress to.</summary>
    public const int MaxFrameContentBytes = 40 << 20;
}

/// <summary>What a packet is. The numbers are on the wire.</summary>
internal enum PacketKind : byte
{
    /// <summary>Who speaks; the first packet of each end.</summary>
    Hello = 1,

    /// <summary>Why the sender closes the connection: a sentence for the log of the other end.</summary>
    Refusal = 2,

    /// <summary>Are you there? <c>[i64 question]</c> or nothing; what it means is the dialler's affair.</summary>
    Ping = 3,

    /// <summary>Answers a ping: the same body.</summary>
    Pong = 4,

    /// <summary>A message of consensus, with its frames.</summary>
    Message = 5,

    /// <summary>A command to be proposed, of a program of before: <c>[i64 number][command]</c>.</summary>
    Forward = 6,

    /// <summary>What became of it: <c>[i64 number][outcome]</c>.</summary>
    Outcome = 7,

    /// <summary>As <see cref="Forward"/>, and the outcome shall bring a receipt.</summary>
    ForwardForReceipt = 8,

    /// <summary>As <see cref="Refusal"/>, and the other end's data must not take part again.</summary>
    RefusalForGood = 9,

    /// <summary>As <see cref="Refusal"/>, and the other end is no member.</summary>
    RefusalOfNoMember = 10,

    /// <summary>Where the dialler listens, on connections that carry no frames: see <see cref="PeerPlaces"/>.</summary>
    Places = 11,

    /// <summary>
    /// A command to be proposed by the leader of a term:
    /// <c>[i64 number][i64 term][u8 whether the outcome shall bring a receipt][command]</c>.
    /// </summary>
    ForwardInTerm = 12,
}
