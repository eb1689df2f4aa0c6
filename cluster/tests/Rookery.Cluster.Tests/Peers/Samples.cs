using Rookery.Journal;
using Rookery.Raft;

namespace Rookery.Cluster.Tests.Peers;

/// <summary>Random messages and frames from a seed.</summary>
internal static class Samples
{
    /// <summary>Makes a message with random values in all fields.</summary>
    public static Message Message(Random random, MessageKind kind, NodeId from, NodeId to)
    {
        long last = random.NextInt64(1L << 50);
        return new Message
        {
            Kind = kind,
            From = from,
            To = to,
            Term = random.NextInt64(),
            StartNumber = random.NextInt64(),
            Position = new LogPosition(random.NextInt64(1000), last),
            LastIndex = last,
            Commit = random.NextInt64(),
            Sequence = random.NextInt64(),
            Refused = random.Next(2) == 0,
            Hint = new LogPosition(random.NextInt64(), random.NextInt64()),
            IsTransfer = random.Next(2) == 0,
            ElectionTimeoutMicroseconds = random.NextInt64(),
            SentAtMicroseconds = random.NextInt64(),
            Clock = new ClockReading(random.NextInt64(DateTime.MaxValue.Ticks), random.Next(2) == 0),
            Health = new StoreHealth(
                random.NextInt64(),
                random.NextInt64(),
                random.Next(),
                random.NextInt64(-1000, 1000)
            ),
        };
    }

    /// <summary>Makes an append with frames of every type that is sent.</summary>
    public static Message Append(Random random, NodeId from, NodeId to, out JournalFrame[] frames)
    {
        var message = Message(random, MessageKind.Append, from, to) with { Term = 2_000 };
        long operationsBefore = random.NextInt64(1L << 40);
        frames = new JournalFrame[random.Next(1, 6)];
        for (int i = 0; i < frames.Length; i++)
        {
            var type =
                i % 3 == 0 ? FrameType.Batch
                : i % 3 == 1 ? FrameType.Configuration
                : FrameType.NoOp;
            int count = type == FrameType.Batch ? random.Next(1, 50) : 0;
            frames[i] = Frame(
                type,
                message.Position.Index + 1 + i,
                1_000 + i,
                operationsBefore,
                count,
                type == FrameType.NoOp ? [] : Bytes(random, random.Next(0, 2_000))
            );
            operationsBefore += count;
        }

        return message with
        {
            LastIndex = message.Position.Index + frames.Length,
        };
    }

    /// <summary>Makes a frame.</summary>
    /// <param name="type">Its type.</param>
    /// <param name="index">Its index in the log.</param>
    /// <param name="term">Its term.</param>
    /// <param name="operationsBefore">The number of operations in the frames before it.</param>
    /// <param name="operationCount">The number of operations in it.</param>
    /// <param name="content">The content before it is encoded. A no-op without content has no payload.</param>
    public static JournalFrame Frame(
        FrameType type,
        long index,
        long term,
        long operationsBefore,
        int operationCount,
        byte[] content
    )
    {
        byte[] payload = new byte[Payload.MaxEncodedLength(content.Length)];
        int length = Payload.Encode(content, payload);
        return new JournalFrame(
            type,
            index,
            term,
            operationsBefore,
            operationCount,
            type == FrameType.NoOp && content.Length == 0 ? default : payload.AsMemory(0, length)
        );
    }

    public static byte[] Bytes(Random random, int count)
    {
        byte[] bytes = new byte[count];
        random.NextBytes(bytes);
        return bytes;
    }

    public static void AssertEqual(ReadOnlySpan<JournalFrame> expected, ReadOnlySpan<JournalFrame> actual)
    {
        Assert.Equal(expected.Length, actual.Length);
        for (int i = 0; i < expected.Length; i++)
        {
            Assert.Equal(expected[i] with { Payload = default }, actual[i] with { Payload = default });
            Assert.True(expected[i].Payload.Span.SequenceEqual(actual[i].Payload.Span));
        }
    }
}
