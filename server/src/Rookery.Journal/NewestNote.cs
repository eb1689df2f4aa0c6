using System.Buffers.Binary;
using Rookery.Platform;

namespace Rookery.Journal;

/// <summary>
/// The file <c>newest</c> of a journal directory, which contains the generation of the newest durable segment. A
/// segment identifies its predecessor but not its successor. Without this note, a journal whose last files are missing
/// would look complete. The note is written outside the commit path, slightly later than the segment. A note that is
/// missing, unreadable or of another store is ignored. (Older versions did not replace the note when they replaced a
/// journal.)
/// </summary>
/// <remarks>
/// Two blocks of 4 KiB are written in turn, so a torn write leaves the other one. A block is [8 magic and version][u32
/// CRC-32C of the rest][4 zero][u64 generation][16 store id].
/// </remarks>
internal sealed class NewestNote(IDisk disk, string directory, IIoRecorder io)
{
    /// <summary>Name of an unfinished replacement of the note.</summary>
    public const string PartName = Name + SegmentName.PartSuffix;

    private const string Name = "newest";
    private const int BlockBytes = 4096;
    private const int StoreOffset = 24;
    private const int ContentBytes = StoreOffset + 16;

    private readonly (Guid StoreId, long Generation)[] _blocks = new (Guid StoreId, long Generation)[2];
    private Guid _store;
    private int _nextBlock;
    private bool _isNameDurable;

    private static ReadOnlySpan<byte> Magic => "ROOKNEW2"u8;

    /// <summary>The highest recorded generation; 0 if there is none.</summary>
    public long Generation { get; private set; }

    /// <summary>Why the note cannot be read; null if it can.</summary>
    public string? Trouble { get; private set; }

    /// <summary>Returns the path of the note.</summary>
    public static string PathIn(string directory) => Path.Join(directory, Name);

    /// <summary>Reads the note of a directory whose names were synced. Changes nothing.</summary>
    public static NewestNote Find(IDisk disk, string directory, IIoRecorder io)
    {
        var note = new NewestNote(disk, directory, io);
        note.Try(note.Read);
        return note;
    }

    /// <summary>Restricts the note to one store, because a block may belong to another store.</summary>
    public void Bind(Guid storeId)
    {
        (_store, Generation, _nextBlock) = (storeId, 0, 0);
        for (int place = 0; place < _blocks.Length; place++)
        {
            if (_blocks[place].StoreId == storeId && _blocks[place].Generation > Generation)
            {
                (Generation, _nextBlock) = (_blocks[place].Generation, 1 - place);
            }
        }
    }

    /// <summary>
    /// Records the generation of a durable segment, unless it is recorded already and both blocks are readable.
    /// </summary>
    /// <exception cref="DiskException">The disk refused; the earlier note remains.</exception>
    public void Write(long generation)
    {
        if (generation <= Generation && Trouble is null)
        {
            return;
        }

        string path = PathIn(directory);
        byte[] block = new byte[BlockBytes];
        Magic.CopyTo(block);
        BinaryPrimitives.WriteInt64LittleEndian(block.AsSpan(16), generation);
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
        _blocks[_nextBlock] = (_store, generation);
        _nextBlock = 1 - _nextBlock;
        Generation = generation;
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
    /// Replaces a file that cannot be read, because writing to its blocks may fail too. The old file remains until the
    /// new one is durable.
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
            Generation = Math.Max(Generation, noted);
        }
    }

    // If one block is unreadable, the other must still be read.
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
