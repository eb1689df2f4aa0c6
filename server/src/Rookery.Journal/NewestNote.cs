using System.Buffers.Binary;
using Rookery.Disk;

namespace Rookery.Journal;

/// <summary>
/// The file <c>newest</c> of a journal directory: the incarnation of the newest segment that was durable. Each segment
/// tells what came before it, and nothing else tells that one came after: without
/// this note a journal whose last files are gone looks like one that ends there. It is written off the commit path, a
/// little later than the segment. A journal without a note is judged by its segments.
/// </summary>
/// <remarks>
/// Two blocks of 4 KiB are written in turn, so that a torn one leaves the other. A block is [8 magic and version][u32
/// CRC-32C of the rest][4 zero][u64 incarnation].
/// </remarks>
internal sealed class NewestNote(IDisk disk, string directory, IIoRecorder io)
{
    private const string Name = "newest";
    private const int BlockBytes = 4096;
    private const int ContentBytes = 24;

    private int nextBlock;

    private static ReadOnlySpan<byte> Magic => "ROOKNEW1"u8;

    /// <summary>The highest incarnation that is noted; 0 when none is.</summary>
    public long Incarnation { get; private set; }

    /// <summary>Where the note lies.</summary>
    public static string PathIn(string directory) => Path.Join(directory, Name);

    /// <summary>Reads the note of a directory. Changes nothing.</summary>
    public static NewestNote Find(IDisk disk, string directory, IIoRecorder io)
    {
        var note = new NewestNote(disk, directory, io);
        note.Read();
        return note;
    }

    /// <summary>Notes a segment that is durable, unless it is noted.</summary>
    /// <exception cref="DiskException">The disk refused; the earlier note stays.</exception>
    public void Write(long incarnation)
    {
        if (incarnation <= Incarnation)
        {
            return;
        }

        string path = PathIn(directory);
        bool isNew = !disk.Exists(path);
        byte[] block = new byte[BlockBytes];
        Magic.CopyTo(block);
        BinaryPrimitives.WriteInt64LittleEndian(block.AsSpan(16), incarnation);
        BinaryPrimitives.WriteUInt32LittleEndian(block.AsSpan(8), ChecksumOf(block));
        long begun = io.Begin();
        using (var file = disk.Open(path, isNew ? DiskOpen.CreateNew : DiskOpen.ReadWrite))
        {
            file.Write(block, nextBlock * BlockBytes);
            file.Sync();
        }

        if (isNew)
        {
            disk.SyncDirectory(directory);
        }

        io.Record(IoKind.Manifest, begun, BlockBytes);
        nextBlock = 1 - nextBlock;
        Incarnation = incarnation;
    }

    private void Read()
    {
        string path = PathIn(directory);
        if (!disk.Exists(path))
        {
            return;
        }

        using var file = disk.Open(path, DiskOpen.Read);
        byte[] block = new byte[ContentBytes];
        for (int place = 0; place < 2; place++)
        {
            if (file.Read(block, place * BlockBytes) == ContentBytes && block.AsSpan().StartsWith(Magic)
                && BinaryPrimitives.ReadUInt32LittleEndian(block.AsSpan(8)) == ChecksumOf(block)
                && BinaryPrimitives.ReadInt64LittleEndian(block.AsSpan(16)) is var noted && noted > Incarnation)
            {
                Incarnation = noted;
                nextBlock = 1 - place;
            }
        }
    }

    private static uint ChecksumOf(ReadOnlySpan<byte> block) => Checksum.Of(block[12..ContentBytes]);
}
