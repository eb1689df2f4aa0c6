using System.Buffers.Binary;
using Rookery.Platform;

namespace Rookery.Journal.Tests;

/// <summary>Small journals and frames with recognisable content.</summary>
internal static class TestJournal
{
    public const string Folder = "/data/journal";
    public const int SegmentBytes = 32 * 1024;

    public static JournalOptions Options { get; } =
        new()
        {
            Directory = Folder,
            SegmentBytes = SegmentBytes,
            RecycledSegments = 3,
            ClusterId = new Guid(1, 2, 3, new byte[8]),
            StoreId = new Guid(4, 5, 6, new byte[8]),
        };

    public static NodeJournal Open(
        IDisk disk,
        long manifestIndex = 0,
        bool hasPeers = false,
        IIoRecorder? io = null,
        JournalReset? reset = null
    ) =>
        NodeJournal.Open(
            disk,
            Options,
            new JournalKnowledge(manifestIndex, manifestIndex == 0 ? 0 : 1, hasPeers)
            {
                PendingReset = reset,
                ManifestOperations = 2 * manifestIndex,
            },
            io ?? new CountingRecorder()
        );

    /// <summary>Payload bytes that name the index and cannot be compressed.</summary>
    public static byte[] PayloadOf(long index, int variant, int length)
    {
        byte[] content = new byte[Math.Max(length, 16)];
        new Random((int)index + (variant * 100_003)).NextBytes(content);
        BinaryPrimitives.WriteInt64LittleEndian(content, index);
        return Encode(content);
    }

    public static byte[] Encode(byte[] content)
    {
        byte[] encoded = new byte[Payload.MaxEncodedLength(content.Length)];
        return encoded[..Payload.Encode(content, encoded)];
    }

    /// <summary>The next batch frame of a journal, with two operations.</summary>
    public static JournalFrame Next(NodeJournal journal, int length = 450, int ahead = 0, long term = 1) =>
        new(
            FrameType.Batch,
            journal.LastIndex + 1 + ahead,
            term,
            journal.OperationsBeforeNext + (2 * ahead),
            2,
            PayloadOf(journal.LastIndex + 1 + ahead, 0, length)
        );

    public static void Append(NodeJournal journal, int count, int length = 450)
    {
        for (int i = 0; i < count; i++)
        {
            journal.Write([Next(journal, length)]);
        }
    }

    /// <summary>Reads all frames from an index on and copies their payloads.</summary>
    public static List<JournalFrame> ReadAll(NodeJournal journal, long? from = null)
    {
        var frames = new List<JournalFrame>();
        using var reader = journal.Read(from ?? journal.FirstIndex);
        while (reader.Next(out var frame))
        {
            frames.Add(frame with { Payload = frame.Payload.ToArray() });
        }

        return frames;
    }

    /// <summary>Fails unless the journal contains exactly the frames that <see cref="Append"/> wrote.</summary>
    public static void AssertHolds(NodeJournal journal, long from, long through, int length = 450)
    {
        var frames = ReadAll(journal, from);
        Assert.Equal(through - from + 1, frames.Count);
        for (int i = 0; i < frames.Count; i++)
        {
            Assert.Equal(from + i, frames[i].Index);
            Assert.Equal(PayloadOf(from + i, 0, length), frames[i].Payload.ToArray());
        }
    }
}

/// <summary>Counts the disk operations that the journal records.</summary>
internal sealed class CountingRecorder : IIoRecorder
{
    public int Writes { get; private set; }

    public int Syncs { get; private set; }

    public long Bytes { get; private set; }

    public long ZeroBytes { get; private set; }

    public long Begin() => 0;

    public void Record(IoKind kind, long begun, long bytes)
    {
        Writes += kind == IoKind.JournalWrite ? 1 : 0;
        Syncs += kind == IoKind.JournalSync ? 1 : 0;
        ZeroBytes += kind == IoKind.JournalSpare ? bytes : 0;
        Bytes += bytes;
    }
}
