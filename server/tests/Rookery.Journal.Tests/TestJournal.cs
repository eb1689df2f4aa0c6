using System.Buffers.Binary;
using Rookery.Platform;

namespace Rookery.Journal.Tests;

/// <summary>Small journals and frames with recognisable content.</summary>
internal static class TestJournal
{
    public const string Folder = "/data/journal";
    public const int SegmentBytes = 32 * 1024;

    /// <summary>
    /// Each write begins a block, so an entry that <see cref="Append"/> writes has a block of its own: a header of
    /// 64 bytes, then the payload. The first block of a segment is the segment's header.
    /// </summary>
    public const int BlockBytes = 4096;

    /// <summary>Bytes of an entry's payload, before it is encoded.</summary>
    public const int PayloadBytes = 450;

    public static JournalOptions Options { get; } =
        new()
        {
            Directory = Folder,
            SegmentBytes = SegmentBytes,
            RecycledSegments = 3,
            ClusterId = new Guid(1, 2, 3, new byte[8]),
            StoreId = new Guid(4, 5, 6, new byte[8]),
        };

    /// <summary>Opens the journal of a node.</summary>
    /// <param name="disk">The disk.</param>
    /// <param name="manifestIndex">The index through which the store's manifest has all entries; 0 for none.</param>
    /// <param name="hasPeers">Whether the node is a member of a cluster, which can repair its journal.</param>
    /// <param name="io">Records disk operations; null for none.</param>
    /// <param name="reset">The reset that the manifest demands, after the installation of a snapshot; null for
    /// none.</param>
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

    /// <summary>Returns an encoded payload that begins with the index and cannot be compressed.</summary>
    /// <param name="index">Index of the entry.</param>
    /// <param name="variant">Distinguishes payloads of the same index.</param>
    /// <param name="length">Bytes before the encoding, at least 16.</param>
    public static byte[] PayloadOf(long index, int variant, int length)
    {
        byte[] content = new byte[Math.Max(length, 16)];
        new Random((int)index + (variant * 100_003)).NextBytes(content);
        BinaryPrimitives.WriteInt64LittleEndian(content, index);
        return Encode(content);
    }

    /// <summary>Returns the encoding of a payload.</summary>
    public static byte[] Encode(byte[] content)
    {
        byte[] encoded = new byte[Payload.MaxEncodedLength(content.Length)];
        return encoded[..Payload.Encode(content, encoded)];
    }

    /// <summary>
    /// Returns the frame of an entry that follows the journal's last one, or of the entry <paramref name="ahead"/>
    /// entries later.
    /// </summary>
    public static JournalFrame Next(NodeJournal journal, int length = PayloadBytes, int ahead = 0, long term = 1) =>
        new(
            FrameType.Batch,
            journal.LastIndex + 1 + ahead,
            term,
            journal.OperationsBeforeNext + (2 * ahead),
            OperationCount: 2,
            PayloadOf(journal.LastIndex + 1 + ahead, variant: 0, length)
        );

    /// <summary>Writes entries of two operations, each in a write of its own.</summary>
    public static void Append(NodeJournal journal, int count, int length = PayloadBytes)
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

    /// <summary>
    /// Fails unless the journal contains, from an index on, exactly the entries that <see cref="Append"/> wrote through
    /// another index.
    /// </summary>
    public static void AssertHolds(NodeJournal journal, long from, long through, int length = PayloadBytes)
    {
        var frames = ReadAll(journal, from);
        Assert.Equal(through - from + 1, frames.Count);
        for (int i = 0; i < frames.Count; i++)
        {
            Assert.Equal(from + i, frames[i].Index);
            Assert.Equal(PayloadOf(from + i, variant: 0, length), frames[i].Payload.ToArray());
        }
    }
}

/// <summary>Counts the disk operations that the journal records.</summary>
internal sealed class CountingRecorder : IIoRecorder
{
    public int Writes { get; private set; }

    public int Syncs { get; private set; }

    public long Bytes { get; private set; }

    /// <summary>The bytes of zeros that were written to prepare segments.</summary>
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
