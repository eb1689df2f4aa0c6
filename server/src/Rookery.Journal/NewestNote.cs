using System.Buffers.Binary;
using Rookery.Platform;

namespace Rookery.Journal;

/// <summary>
/// The file <c>newest</c> of a journal directory: the incarnation of the newest segment that was durable. Each segment
/// tells what came before it, and nothing else tells that one came after: without
/// this note a journal whose last files are gone looks like one that ends there. It is written off the commit path, a
/// little later than the segment. A journal without a note is judged by its segments. So is one whose note cannot be
/// read, or is of another store: a program of before the note puts a new journal in the place of an old one and leaves
/// the note of that.
/// </summary>
/// <remarks>
/// Two blocks of 4 KiB are written in turn, so that a torn one leaves the other. A block is [8 magic and version][u32
/// CRC-32C of the rest][4 zero][u64 incarnation][16 store id].
/// </remarks>
internal sealed class NewestNote(IDisk disk, string directory, IIoRecorder io)
{
    /// <summary>A note that was not whole yet when power was lost.</summary>
    public const string PartName = Name + SegmentName.PartSuffix;

    private const string Name = "newest";
    private const int BlockBytes = 4096;
    private const int StoreOffset = 24;
    private const int ContentBytes = StoreOffset + 16;

    private readonly (Guid StoreId, long Incarnation)[] _blocks = new (Guid StoreId, long Incarnation)[2];
    private Guid _store;
    private int _nextBlock;
    private bool _isNameDurable;

    private static ReadOnlySpan<byte> Magic => "ROOKNEW2"u8;

    /// <summary>The highest incarnation that is noted; 0 when none is.</summary>
    public long Incarnation { get; private set; }

    /// <summary>Why the note cannot be read; null when it can.</summary>
    public string? Trouble { get; private set; }

    /// <summary>Where the note lies.</summary>
    public static string PathIn(string directory) => Path.Join(directory, Name);

    /// <summary>
    /// Reads the note of a directory whose names are known to the device as to the system. Changes nothing.
    /// </summary>
    public static NewestNote Find(IDisk disk, string directory, IIoRecorder io)
    {
        var note = new NewestNote(disk, directory, io);
        note.Try(note.Read);
        return note;
    }

    /// <summary>Lets the note count for the journal of one store only: one block may still be of another.</summary>
    public void Bind(Guid storeId)
    {
        (_store, Incarnation, _nextBlock) = (storeId, 0, 0);
        for (int place = 0; place < _blocks.Length; place++)
        {
            if (_blocks[place].StoreId == storeId && _blocks[place].Incarnation > Incarnation)
            {
                (Incarnation, _nextBlock) = (_blocks[place].Incarnation, 1 - place);
            }
        }
    }

    /// <summary>Notes a segment that is durable, unless it is noted and the whole note can be read.</summary>
    /// <exception cref="DiskException">The disk refused; the earlier note stays.</exception>
    public void Write(long incarnation)
    {
        if (incarnation <= Incarnation && Trouble is null)
        {
            return;
        }

        string path = PathIn(directory);
        byte[] block = new byte[BlockBytes];
        Magic.CopyTo(block);
        BinaryPrimitives.WriteInt64LittleEndian(block.AsSpan(16), incarnation);
        _store.TryWriteBytes(block.AsSpan(StoreOffset));
        BinaryPrimitives.WriteUInt32LittleEndian(block.AsSpan(8), ChecksumOf(block));
        long begun = io.Begin();
        if (Trouble is null)
        {
            WriteBlock(path, block);
        }
        else
        {
            Replace(path, block);
        }

        io.Record(IoKind.Manifest, begun, BlockBytes);
        Trouble = null;
        _blocks[_nextBlock] = (_store, incarnation);
        _nextBlock = 1 - _nextBlock;
        Incarnation = incarnation;
    }

    private void WriteBlock(string path, ReadOnlySpan<byte> block)
    {
        using (var file = disk.Open(path, disk.Exists(path) ? DiskOpen.ReadWrite : DiskOpen.CreateNew))
        {
            file.Write(block, _nextBlock * BlockBytes);
            file.Sync();
        }

        if (!_isNameDurable)
        {
            disk.SyncDirectory(directory);
            _isNameDurable = true;
        }
    }

    /// <summary>
    /// Puts a new file in the place of one that cannot be read, because its blocks may take no other bytes either.
    /// The old file stays until the new one is durable: without any note a journal that lost its end looks whole.
    /// </summary>
    private void Replace(string path, ReadOnlySpan<byte> block)
    {
        string part = Path.Join(directory, PartName);
        if (disk.Exists(part))
        {
            disk.Delete(part);
        }

        using (var file = disk.Open(part, DiskOpen.CreateNew))
        {
            file.Write(block, _nextBlock * BlockBytes);
            file.Sync();
        }

        disk.Rename(part, path);
        disk.SyncDirectory(directory);
        _isNameDurable = true;
        Array.Clear(_blocks);
    }

    private void Read()
    {
        string path = PathIn(directory);
        if (!disk.Exists(path))
        {
            return;
        }

        _isNameDurable = true;
        using var file = disk.Open(path, DiskOpen.Read);
        for (int place = 0; place < _blocks.Length; place++)
        {
            int current = place;
            Try(() => Read(file, current));
        }
    }

    private void Read(IDiskFile file, int place)
    {
        byte[] block = new byte[ContentBytes];
        if (
            file.Read(block, place * BlockBytes) == ContentBytes
            && block.AsSpan().StartsWith(Magic)
            && BinaryPrimitives.ReadUInt32LittleEndian(block.AsSpan(8)) == ChecksumOf(block)
        )
        {
            long noted = BinaryPrimitives.ReadInt64LittleEndian(block.AsSpan(16));
            _blocks[place] = (new Guid(block.AsSpan(StoreOffset)), noted);
            Incarnation = Math.Max(Incarnation, noted);
        }
    }

    // A block that cannot be read must not hide the other.
    private void Try(Action read)
    {
        try
        {
            read();
        }
        catch (DiskException failure)
        {
            Trouble = failure.Message;
        }
    }

    private static uint ChecksumOf(ReadOnlySpan<byte> block) => Checksum.Of(block[12..ContentBytes]);
}
