using System.Buffers.Binary;
using Rookery.Platform;

namespace Rookery.Journal;

/// <summary>
/// The file <c>newest</c> of a journal directory, which contains the generation of the newest durable segment and the
/// number of a durable write. Segments and writes are numbered, so a missing predecessor is noticed, but a missing
/// successor is not. Without this note, a journal whose last files are missing or older copies would look complete. The
/// note is written outside the commit path: slightly later than a segment, at each start and at a clean stop. A note
/// that is missing, unreadable or of another store is ignored. (Older versions did not replace the note when they
/// replaced a journal.)
/// </summary>
/// <remarks>
/// Two blocks of 4 KiB are written alternately, so a torn write leaves the other block intact. A block is [8 magic and
/// version][u32 CRC-32C of the 28 bytes that follow][4 zero][u64 generation][16 store id], then [u64 write][u64
/// index][u32 CRC-32C of everything from the 4 zero on]. Earlier versions neither write nor read the last three.
/// </remarks>
internal sealed class NewestNote(IDisk disk, string directory, IIoRecorder io)
{
    /// <summary>Name of an unfinished replacement of the note.</summary>
    public const string PartName = Name + SegmentName.PartSuffix;

    private const string Name = "newest";
    private const int BlockBytes = 4096;
    private const int ChecksumOffset = 8;
    private const int GenerationOffset = 16;
    private const int StoreOffset = 24;
    private const int WriteOffset = StoreOffset + 16;
    private const int IndexOffset = WriteOffset + sizeof(long);
    private const int WriteChecksumOffset = IndexOffset + sizeof(long);
    private const int ContentBytes = WriteChecksumOffset + sizeof(uint);

    private readonly (Guid StoreId, NotedEnd End)[] _blocks = new (Guid, NotedEnd)[2];
    private Guid _store;
    private int _nextBlock;
    private bool _isNameDurable;

    private static ReadOnlySpan<byte> Magic => "ROOKNEW2"u8;

    /// <summary>The highest recorded generation; 0 if there is none.</summary>
    public long Generation { get; private set; }

    /// <summary>The highest recorded write, and the log's last index after it; zeros if there is none.</summary>
    public NotedEnd End { get; private set; }

    /// <summary>Why the note cannot be read; null if it can.</summary>
    public string? Trouble { get; private set; }

    /// <summary>Returns the path of the note.</summary>
    public static string PathIn(string directory) => Path.Join(directory, Name);

    /// <summary>Reads the note of a directory whose names were synced. Changes nothing.</summary>
    public static NewestNote Find(IDisk disk, string directory, IIoRecorder io)
    {
        var note = new NewestNote(disk, directory, io);
        note.TryRead(note.Read);
        return note;
    }

    /// <summary>Restricts the note to one store, because a block may belong to another store.</summary>
    public void Bind(Guid storeId)
    {
        _store = storeId;
        Generation = 0;
        End = default;
        _nextBlock = 0;
        long written = 0;
        for (int place = 0; place < _blocks.Length; place++)
        {
            var (store, end) = _blocks[place];
            if (store != storeId)
            {
                continue;
            }

            if ((end.Generation, end.Write).CompareTo((Generation, written)) > 0)
            {
                Generation = end.Generation;
                written = end.Write;
                _nextBlock = 1 - place;
            }

            // Earlier versions write no end, so the higher end may be in the older block.
            if (end.Write > End.Write)
            {
                End = end;
            }
        }
    }

    /// <summary>
    /// Returns whether the note names the segment of this generation or a later one, and both blocks can be read.
    /// </summary>
    public bool Has(long generation) => generation <= Generation && Trouble is null;

    /// <summary>Records a durable segment and a durable write, unless both are recorded already.</summary>
    /// <exception cref="DiskException">A disk operation failed; the earlier note remains.</exception>
    public void Write(in NotedEnd end)
    {
        if (Has(end.Generation) && end.Write <= End.Write)
        {
            return;
        }

        string path = PathIn(directory);
        byte[] block = new byte[BlockBytes];
        Magic.CopyTo(block);
        BinaryPrimitives.WriteInt64LittleEndian(block.AsSpan(GenerationOffset), end.Generation);
        _store.TryWriteBytes(block.AsSpan(StoreOffset));
        BinaryPrimitives.WriteUInt32LittleEndian(block.AsSpan(ChecksumOffset), ChecksumOf(block, WriteOffset));
        BinaryPrimitives.WriteInt64LittleEndian(block.AsSpan(WriteOffset), end.Write);
        BinaryPrimitives.WriteInt64LittleEndian(block.AsSpan(IndexOffset), end.Index);
        BinaryPrimitives.WriteUInt32LittleEndian(
            block.AsSpan(WriteChecksumOffset),
            ChecksumOf(block, WriteChecksumOffset)
        );
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
        _blocks[_nextBlock] = (_store, end);
        _nextBlock = 1 - _nextBlock;
        Generation = end.Generation;
        End = end;
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
            TryRead(() => Read(file, current));
        }
    }

    private void Read(IDiskFile file, int place)
    {
        byte[] block = new byte[ContentBytes];
        if (
            file.Read(block, place * BlockBytes) == ContentBytes
            && block.AsSpan().StartsWith(Magic)
            && BinaryPrimitives.ReadUInt32LittleEndian(block.AsSpan(ChecksumOffset)) == ChecksumOf(block, WriteOffset)
        )
        {
            long generation = BinaryPrimitives.ReadInt64LittleEndian(block.AsSpan(GenerationOffset));
            bool hasEnd =
                BinaryPrimitives.ReadUInt32LittleEndian(block.AsSpan(WriteChecksumOffset))
                == ChecksumOf(block, WriteChecksumOffset);
            var end = new NotedEnd(
                generation,
                hasEnd ? BinaryPrimitives.ReadInt64LittleEndian(block.AsSpan(WriteOffset)) : 0,
                hasEnd ? BinaryPrimitives.ReadInt64LittleEndian(block.AsSpan(IndexOffset)) : 0
            );
            _blocks[place] = (new Guid(block.AsSpan(StoreOffset, 16)), end);
            Generation = Math.Max(Generation, generation);
        }
    }

    // Records a failure of the disk in Trouble: if one block is unreadable, the other must still be read.
    private void TryRead(Action read)
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

    // Returns the checksum of the bytes between the first checksum and an offset.
    private static uint ChecksumOf(ReadOnlySpan<byte> block, int end) =>
        Checksum.Of(block[(ChecksumOffset + sizeof(uint))..end]);
}

/// <summary>The journal's end when the note was written, all of it durable.</summary>
/// <param name="Generation">Generation of the newest segment.</param>
/// <param name="Write">Number of a durable write; 0 if it is not known.</param>
/// <param name="Index">The last index of the log after that write; 0 if it is not known.</param>
internal readonly record struct NotedEnd(long Generation, long Write, long Index);
