using System.Buffers.Binary;
using System.Text;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Journal;
using Rookery.Raft;

namespace Rookery.Cluster.Peers;

/// <summary>
/// The content of a packet to write. Implemented by structs, so that generic code is compiled for each kind.
/// </summary>
internal interface IPacketBody
{
    /// <summary>The kind of the packet.</summary>
    PacketKind Kind { get; }

    /// <summary>The number of bytes that <see cref="Write"/> writes.</summary>
    long SizeInBytes { get; }

    /// <summary>Writes the body into exactly <see cref="SizeInBytes"/> bytes.</summary>
    void Write(Span<byte> destination);
}

/// <summary>
/// A ping or a pong. Its question is the timestamp at which the ping was sent; the pong repeats it.
/// </summary>
internal readonly struct PingBody(PacketKind kind, long question = 0) : IPacketBody
{
    public PacketKind Kind => kind;

    public long SizeInBytes => question == 0 ? 0 : sizeof(long);

    public void Write(Span<byte> destination)
    {
        if (question != 0)
        {
            BinaryPrimitives.WriteInt64LittleEndian(destination, question);
        }
    }

    /// <summary>Reads the question; 0 when the packet has none, because an older version sent it.</summary>
    public static long ReadQuestion(ReadOnlySpan<byte> body) =>
        body.Length == sizeof(long) ? BinaryPrimitives.ReadInt64LittleEndian(body) : 0;
}

/// <summary>A hello, the first packet of each end of a connection.</summary>
internal readonly struct HelloBody(PeerHello hello) : IPacketBody
{
    public PacketKind Kind => PacketKind.Hello;

    public long SizeInBytes => hello.SizeInBytes;

    public void Write(Span<byte> destination) => hello.Write(destination);
}

/// <summary>The refusal of the other end, before the connection is closed.</summary>
internal readonly struct RefusalBody(PeerRefusal refusal) : IPacketBody
{
    public PacketKind Kind =>
        refusal.Kind switch
        {
            PeerRefusalKind.ForGood => PacketKind.RefusalForGood,
            PeerRefusalKind.NoMember => PacketKind.RefusalOfNoMember,
            _ => PacketKind.Refusal,
        };

    public long SizeInBytes => Encoding.UTF8.GetByteCount(refusal.Sentence);

    public void Write(Span<byte> destination) => Encoding.UTF8.GetBytes(refusal.Sentence, destination);

    /// <summary>Reads a refusal; null when the packet is of another kind.</summary>
    public static PeerRefusal? TryRead(PacketKind kind, ReadOnlySpan<byte> body) =>
        kind switch
        {
            PacketKind.Refusal => new PeerRefusal(Encoding.UTF8.GetString(body)),
            PacketKind.RefusalOfNoMember => new PeerRefusal(Encoding.UTF8.GetString(body), PeerRefusalKind.NoMember),
            PacketKind.RefusalForGood => new PeerRefusal(Encoding.UTF8.GetString(body), PeerRefusalKind.ForGood),
            _ => null,
        };
}

/// <summary>The addresses at which the dialling member listens; see <see cref="AnnouncedAddresses"/>.</summary>
internal readonly struct AddressesBody(IReadOnlyList<string> addresses) : IPacketBody
{
    public PacketKind Kind => PacketKind.Addresses;

    public long SizeInBytes => addresses.Sum(static address => (long)WireWriter.SizeOf(address));

    public void Write(Span<byte> destination)
    {
        var writer = new WireWriter(destination);
        foreach (string address in addresses)
        {
            writer.PutText(address);
        }
    }
}

/// <summary>A message of consensus with its frames.</summary>
internal readonly ref struct MessageBody(Message message, ReadOnlySpan<JournalFrame> frames) : IPacketBody
{
    private readonly Message _message = message;
    private readonly ReadOnlySpan<JournalFrame> _frames = frames;

    public PacketKind Kind => PacketKind.Message;

    public long SizeInBytes => MessageCodec.SizeOf(_frames);

    public void Write(Span<byte> destination) => MessageCodec.Write(destination, _message, _frames);
}

/// <summary>
/// A command that is forwarded to the leader of a term. Layout: see <see cref="PacketKind.ForwardInTerm"/>.
/// </summary>
internal readonly struct ForwardBody(long number, CommandBuffer command) : IPacketBody
{
    /// <summary>The bytes before the command.</summary>
    public const int HeadBytes = sizeof(long) + sizeof(long) + sizeof(bool);

    public PacketKind Kind => PacketKind.ForwardInTerm;

    public long SizeInBytes => HeadBytes + command.Length;

    public void Write(Span<byte> destination)
    {
        BinaryPrimitives.WriteInt64LittleEndian(destination, number);
        BinaryPrimitives.WriteInt64LittleEndian(destination[sizeof(long)..], command.LeaderTerm);
        destination[HeadBytes - 1] = command.WantsReceipt ? (byte)1 : (byte)0;
        command.Written.Span.CopyTo(destination[HeadBytes..]);
    }
}

/// <summary>A forwarded command for a member of an older version, without the leader's term.</summary>
internal readonly struct OldForwardBody(long number, CommandBuffer command) : IPacketBody
{
    public PacketKind Kind => command.WantsReceipt ? PacketKind.ForwardForReceipt : PacketKind.Forward;

    public long SizeInBytes => sizeof(long) + command.Length;

    public void Write(Span<byte> destination)
    {
        BinaryPrimitives.WriteInt64LittleEndian(destination, number);
        command.Written.Span.CopyTo(destination[sizeof(long)..]);
    }
}

/// <summary>The outcome of a forwarded command, with the command's number.</summary>
internal readonly struct OutcomeBody(long number, CommandOutcome outcome) : IPacketBody
{
    public PacketKind Kind => PacketKind.Outcome;

    public long SizeInBytes => sizeof(long) + OutcomeCodec.SizeOf(outcome);

    public void Write(Span<byte> destination)
    {
        BinaryPrimitives.WriteInt64LittleEndian(destination, number);
        OutcomeCodec.Write(destination[sizeof(long)..], outcome);
    }
}
