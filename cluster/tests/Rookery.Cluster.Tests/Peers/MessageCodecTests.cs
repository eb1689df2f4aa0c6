using System.Runtime.InteropServices;
using Rookery.Cluster.Peers;
using Rookery.Journal;
using Rookery.Raft;

namespace Rookery.Cluster.Tests.Peers;

/// <summary>The encoding of messages between members, and of the journal frames that they carry.</summary>
public sealed class MessageCodecTests
{
    private static readonly NodeId From = new(7);
    private static readonly NodeId To = new(long.MinValue);

    public static TheoryData<MessageKind> Kinds => [.. Enum.GetValues<MessageKind>()];

    [Theory]
    [MemberData(nameof(Kinds))]
    public void Every_field_of_every_kind_arrives(MessageKind kind)
    {
        var sent = Samples.Message(new Random((int)kind), kind, From, To);
        Assert.Equal(sent, Decode(Encode(sent, frames: []), out var frames));
        Assert.Empty(frames);
    }

    /// <summary>Half of all hashes are negative numbers; they must not end a connection.</summary>
    [Theory]
    [InlineData(long.MinValue)]
    [InlineData(-1)]
    public void The_hash_of_outcomes_may_be_any_number(long hash)
    {
        var sent = Samples.Message(new Random(4), MessageKind.Heartbeat, From, To) with
        {
            Outcome = new OutcomeHash(Index: 7, hash),
        };
        Assert.Equal(sent, Decode(Encode(sent, frames: []), out _));
    }

    [Fact]
    public void Frames_arrive_as_they_were()
    {
        var sent = Samples.Append(new Random(1), From, To, out var frames);
        Assert.Equal(sent, Decode(Encode(sent, frames), out var arrived));
        Samples.AssertEqual(frames, CollectionsMarshal.AsSpan(arrived));
    }

    [Fact]
    public void One_frame_may_be_longer_than_several_frames_may_be_together()
    {
        var frame = Samples.Frame(
            FrameType.Batch,
            index: 5,
            term: 3,
            operationsBefore: 10,
            operationCount: 2,
            Samples.Bytes(new Random(2), count: 3 << 20)
        );
        var sent = Samples.Message(new Random(2), MessageKind.Append, From, To) with
        {
            Term = 9,
            Position = new LogPosition(Term: 2, Index: 4),
            LastIndex = 5,
        };
        byte[] encoded = Encode(sent, [frame]);
        Decode(encoded, out var arrived);
        Samples.AssertEqual([frame], CollectionsMarshal.AsSpan(arrived));

        var second = Samples.Frame(
            FrameType.Batch,
            index: 6,
            term: 3,
            operationsBefore: 12,
            operationCount: 1,
            Samples.Bytes(new Random(3), count: 1 << 20)
        );
        byte[] both = Encode(sent with { LastIndex = 6 }, [frame, second]);
        Assert.Contains(
            "Several frames",
            Assert.Throws<PeerProtocolException>(() => Decode(both, out _)).Message,
            StringComparison.Ordinal
        );
    }

    /// <summary>
    /// Consensus limits payload bytes. A member that catches up on single writes gets thousands of frames at once, and
    /// must not refuse them for the size of their headers.
    /// </summary>
    [Fact]
    public void A_full_message_of_the_smallest_frames_arrives()
    {
        const int PayloadBytes = 40;
        byte[] content = new byte[PayloadBytes - Payload.OverheadBytes];
        var frames = new JournalFrame[(1 << 20) / PayloadBytes];
        for (int i = 0; i < frames.Length; i++)
        {
            frames[i] = Samples.Frame(FrameType.Batch, 5 + i, term: 3, 10 + i, operationCount: 1, content);
        }

        var sent = Samples.Message(new Random(5), MessageKind.Append, From, To) with
        {
            Term = 9,
            Position = new LogPosition(Term: 2, Index: 4),
            LastIndex = 4 + frames.Length,
        };
        Decode(Encode(sent, frames), out var arrived);
        Samples.AssertEqual(frames, CollectionsMarshal.AsSpan(arrived));
    }

    /// <summary>
    /// What is wrong, and the frame. The message that carries it has term 9, and its frames follow index 4 of term 2.
    /// </summary>
    public static TheoryData<string, JournalFrame> BadFrames =>
        new()
        {
            {
                "vote",
                Samples.Frame(FrameType.Vote, index: 5, term: 3, operationsBefore: 10, operationCount: 0, content: [1])
            },
            {
                "gap",
                Samples.Frame(FrameType.Batch, index: 6, term: 3, operationsBefore: 10, operationCount: 1, content: [1])
            },
            {
                "term falls",
                Samples.Frame(FrameType.Batch, index: 5, term: 1, operationsBefore: 10, operationCount: 1, content: [1])
            },
            {
                "term of a later leader",
                Samples.Frame(
                    FrameType.Batch,
                    index: 5,
                    term: 10,
                    operationsBefore: 10,
                    operationCount: 1,
                    content: [1]
                )
            },
            {
                "no payload",
                new JournalFrame(
                    FrameType.Batch,
                    Index: 5,
                    Term: 3,
                    OperationsBefore: 10,
                    OperationCount: 1,
                    Payload: default
                )
            },
            {
                "payload of no codec",
                new JournalFrame(
                    FrameType.Batch,
                    Index: 5,
                    Term: 3,
                    OperationsBefore: 10,
                    OperationCount: 1,
                    new byte[20]
                )
            },
            {
                "rot",
                Damage(
                    Samples.Frame(
                        FrameType.Batch,
                        index: 5,
                        term: 3,
                        operationsBefore: 10,
                        operationCount: 1,
                        content: [1, 2, 3, 4]
                    )
                )
            },
            {
                "configuration too long",
                Samples.Frame(
                    FrameType.Configuration,
                    index: 5,
                    term: 3,
                    operationsBefore: 10,
                    operationCount: 0,
                    new byte[4000]
                )
            },
            {
                "content too long",
                Samples.Frame(
                    FrameType.Batch,
                    index: 5,
                    term: 3,
                    operationsBefore: 10,
                    operationCount: 0,
                    new byte[PeerProtocol.MaxFrameContentBytes + 1]
                )
            },
            {
                "operations past their end",
                Samples.Frame(FrameType.Batch, index: 5, term: 3, long.MaxValue, operationCount: 1, content: [1])
            },
        };

    [Theory]
    [MemberData(nameof(BadFrames), DisableDiscoveryEnumeration = true)]
    public void A_message_that_the_journal_could_not_store_is_refused(string flaw, JournalFrame frame)
    {
        Assert.NotEmpty(flaw);
        var sent = Samples.Message(new Random(3), MessageKind.Append, From, To) with
        {
            Term = 9,
            Position = new LogPosition(Term: 2, Index: 4),
            LastIndex = 5,
        };
        byte[] encoded = Encode(sent, [frame]);
        Assert.Throws<PeerProtocolException>(() => Decode(encoded, out _));
    }

    [Fact]
    public void A_message_must_hold_the_frames_that_it_names()
    {
        var sent = Samples.Append(new Random(4), From, To, out var frames);
        Assert.Throws<PeerProtocolException>(() =>
            Decode(Encode(sent with { LastIndex = sent.LastIndex + 1 }, frames), out _)
        );
        Assert.Throws<PeerProtocolException>(() =>
            Decode(Encode(sent with { Kind = MessageKind.Heartbeat }, frames), out _)
        );
        Assert.Throws<PeerProtocolException>(() =>
            Decode(Encode(sent with { LastIndex = long.MaxValue }, frames), out _)
        );
    }

    /// <summary>
    /// Any bytes lead to a message that could have been sent or to one kind of exception, with bounded memory.
    /// </summary>
    [Fact]
    public void Changed_truncated_and_random_bytes_are_either_read_or_refused()
    {
        int refused = 0;
        for (int seed = 0; seed < 20_000; seed++)
        {
            var random = new Random(seed);
            byte[] bytes = Mangle(random, Encode(Samples.Append(random, From, To, out var frames), frames));
            try
            {
                long before = GC.GetAllocatedBytesForCurrentThread();
                Decode(bytes, out _);
                Assert.True(
                    GC.GetAllocatedBytesForCurrentThread() - before < 16_384,
                    $"seed {seed}: reading takes less than 16 KiB"
                );
            }
            catch (PeerProtocolException)
            {
                refused++;
            }
            catch (Exception other)
            {
                Assert.Fail($"seed {seed}: {other}");
            }
        }

        Assert.InRange(refused, 10_000, 20_000);
    }

    /// <summary>Shortens, lengthens, replaces or changes bytes at random.</summary>
    internal static byte[] Mangle(Random random, byte[] bytes)
    {
        switch (random.Next(4))
        {
            case 0:
                return bytes[..random.Next(bytes.Length)];
            case 1:
                random.NextBytes(bytes);
                return bytes;
            case 2:
                return [.. bytes, (byte)random.Next(256)];
            default:
                for (int change = 0; change <= random.Next(4); change++)
                {
                    bytes[random.Next(bytes.Length)] = random.Next(3) switch
                    {
                        0 => 0xFF,
                        1 => 0,
                        _ => (byte)random.Next(256),
                    };
                }

                return bytes;
        }
    }

    // Changes one bit of the content.
    private static JournalFrame Damage(in JournalFrame frame)
    {
        byte[] payload = frame.Payload.ToArray();
        payload[^6] ^= 1;
        return frame with { Payload = payload };
    }

    private static byte[] Encode(in Message message, ReadOnlySpan<JournalFrame> frames)
    {
        byte[] bytes = new byte[MessageCodec.SizeOf(frames)];
        MessageCodec.Write(bytes, message, frames);
        return bytes;
    }

    private static Message Decode(byte[] bytes, out List<JournalFrame> frames)
    {
        frames = [];
        return MessageCodec.Read(bytes, From, To, frames);
    }
}
