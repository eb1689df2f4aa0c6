using System.Runtime.InteropServices;
using Rookery.Journal;
using Rookery.Raft;

namespace Rookery.Cluster.Peers;

/// <summary>
/// The wire format of a consensus message: <c>[u8 kind][u8 flags]</c>, eighteen 64-bit numbers and one of 32 bits in
/// the order of <see cref="Write"/>, <c>[u32 frames]</c>, then for each frame <c>[u8 type][i64 index][i64 term][i64
/// operations before][u32 operations][u32 payload length][payload]</c>. Numbers are not packed, because a message
/// without frames fits into one Ethernet packet anyway. Sender and receiver are not included: the connection
/// authenticates both, so a member cannot send in another's name.
/// </summary>
internal static class MessageCodec
{
    /// <summary>The size of a message without frames, in bytes.</summary>
    public const int HeadBytes = 2 + (18 * sizeof(long)) + sizeof(int) + sizeof(uint);

    private const int FrameHeadBytes = 1 + (3 * sizeof(long)) + sizeof(int) + sizeof(uint);
    private const byte Refused = 1;
    private const byte IsTransfer = 2;
    private const byte IsClockSure = 4;

    /// <summary>Returns the number of bytes that <see cref="Write"/> writes.</summary>
    public static long SizeOf(ReadOnlySpan<JournalFrame> frames)
    {
        long bytes = HeadBytes;
        foreach (ref readonly var frame in frames)
        {
            bytes += FrameHeadBytes + frame.Payload.Length;
        }

        return bytes;
    }

    /// <summary>Writes a message.</summary>
    public static void Write(Span<byte> destination, in Message message, ReadOnlySpan<JournalFrame> frames)
    {
        var writer = new WireWriter(destination);
        writer.PutByte((byte)message.Kind);
        int flags = message.Refused ? Refused : 0;
        flags |= message.IsTransfer ? IsTransfer : 0;
        flags |= message.Clock.IsSure ? IsClockSure : 0;
        writer.PutByte((byte)flags);
        writer.PutInt64(message.Term);
        writer.PutInt64(message.StartNumber);
        writer.PutInt64(message.Position.Term);
        writer.PutInt64(message.Position.Index);
        writer.PutInt64(message.LastIndex);
        writer.PutInt64(message.Commit);
        writer.PutInt64(message.Sequence);
        writer.PutInt64(message.Hint.Term);
        writer.PutInt64(message.Hint.Index);
        writer.PutInt64(message.ElectionTimeoutMicroseconds);
        writer.PutInt64(message.SentAtMicroseconds);
        writer.PutInt64(message.Health.SyncMicroseconds);
        writer.PutInt64(message.Health.StallMicroseconds);
        writer.PutInt32(message.Health.BoardPenalty);
        writer.PutInt64(message.Health.SpareBytes);
        writer.PutInt64(message.Outcome.Index);
        writer.PutInt64(message.Outcome.Hash);
        writer.PutInt64(message.OutcomeIndex);
        writer.PutInt64(message.Clock.UtcTicks);
        writer.PutInt32(frames.Length);
        foreach (ref readonly var frame in frames)
        {
            writer.PutByte((byte)frame.Type);
            writer.PutInt64(frame.Index);
            writer.PutInt64(frame.Term);
            writer.PutInt64(frame.OperationsBefore);
            writer.PutInt32(frame.OperationCount);
            writer.PutInt32(frame.Payload.Length);
            writer.Put(frame.Payload.Span);
        }
    }

    /// <summary>Reads a message, and checks that its frames are consecutive and their payloads intact.</summary>
    /// <param name="body">The bytes that <see cref="Write"/> wrote. The payloads of the frames are slices of these
    /// bytes.</param>
    /// <param name="from">The member at the other end of the connection.</param>
    /// <param name="to">This node.</param>
    /// <param name="frames">Cleared, then filled with the frames.</param>
    /// <exception cref="PeerProtocolException">The message is malformed.</exception>
    public static Message Read(ReadOnlyMemory<byte> body, NodeId from, NodeId to, List<JournalFrame> frames)
    {
        var reader = new WireReader(body.Span);
        var kind = (MessageKind)reader.TakeByte();
        byte flags = reader.TakeByte();
        Demand(
            Enum.IsDefined(kind) && (flags & ~(Refused | IsTransfer | IsClockSure)) == 0,
            "A message is of a kind that is not known here."
        );
        var message = new Message
        {
            Kind = kind,
            From = from,
            To = to,
            Refused = (flags & Refused) != 0,
            IsTransfer = (flags & IsTransfer) != 0,
            Term = reader.TakeInt64(),
            StartNumber = reader.TakeInt64(),
            Position = new LogPosition(reader.TakeInt64(), reader.TakeInt64()),
            LastIndex = reader.TakeInt64(),
            Commit = reader.TakeInt64(),
            Sequence = reader.TakeInt64(),
            Hint = new LogPosition(reader.TakeInt64(), reader.TakeInt64()),
            ElectionTimeoutMicroseconds = reader.TakeInt64(),
            SentAtMicroseconds = reader.TakeInt64(),
            Health = new StoreHealth(
                reader.TakeInt64(),
                reader.TakeInt64(),
                reader.TakeInt32(),
                reader.TakeSignedInt64()
            ),
            Outcome = new OutcomeHash(reader.TakeInt64(), reader.TakeSignedInt64()),
            OutcomeIndex = reader.TakeInt64(),
            Clock = new ClockReading(reader.TakeInt64(), (flags & IsClockSure) != 0),
        };
        Demand(message.Clock.UtcTicks <= DateTime.MaxValue.Ticks, "A message has a time that is out of range.");
        ReadFrames(body, ref reader, message, frames);
        reader.ExpectEnd();
        return message;
    }

    private static void ReadFrames(
        ReadOnlyMemory<byte> body,
        ref WireReader reader,
        in Message message,
        List<JournalFrame> frames
    )
    {
        frames.Clear();
        int count = reader.TakeInt32();
        long expected = message.Kind == MessageKind.Append ? message.LastIndex - message.Position.Index : 0;
        Demand(
            count == expected && count <= reader.Remaining / FrameHeadBytes,
            "A message has more or fewer frames than its head says."
        );
        Demand(
            count <= 1 || body.Length <= PeerProtocol.MaxSharedPacketBytes,
            "Several frames together are longer than permitted."
        );
        for (int i = 0; i < count; i++)
        {
            var type = (FrameType)reader.TakeByte();
            long index = reader.TakeInt64();
            long term = reader.TakeInt64();
            long operationsBefore = reader.TakeInt64();
            int operations = reader.TakeInt32();
            int length = reader.TakeInt32();
            int start = reader.Position;
            reader.Take(length);
            frames.Add(new JournalFrame(type, index, term, operationsBefore, operations, body.Slice(start, length)));
        }

        Check(message, CollectionsMarshal.AsSpan(frames));
    }

    private static void Check(in Message message, ReadOnlySpan<JournalFrame> frames)
    {
        var before = message.Position;
        long operations = frames.IsEmpty ? 0 : frames[0].OperationsBefore;
        foreach (ref readonly var frame in frames)
        {
            Demand(frame.IsReplicated, "A frame is of a type that is not sent.");
            Demand(
                frame.Index == before.Index + 1 && frame.Term >= before.Term && frame.Term <= message.Term,
                "Frames do not follow each other."
            );
            Demand(
                frame.OperationsBefore == operations && operations <= long.MaxValue - frame.OperationCount,
                "Frames count their operations with a gap."
            );
            Demand(HasValidPayload(frame), "The payload of a frame is damaged.");
            before = new LogPosition(frame.Term, frame.Index);
            operations += frame.OperationCount;
        }
    }

    private static bool HasValidPayload(in JournalFrame frame)
    {
        var payload = frame.Payload.Span;
        return frame.Type switch
        {
            FrameType.NoOp when payload.IsEmpty => frame.OperationCount == 0,
            FrameType.Configuration when payload.Length > JournalFrame.MaxConfigurationBytes => false,
            _ => Payload.ContentLength(payload) is >= 0 and <= PeerProtocol.MaxFrameContentBytes
                && Payload.IsIntact(payload),
        };
    }

    private static void Demand(bool condition, string sentence)
    {
        if (!condition)
        {
            throw new PeerProtocolException(sentence);
        }
    }
}
