using System.Buffers.Binary;
using Rookery.Platform;

namespace Rookery.Storage.Runs;

/// <summary>Options for writing a run.</summary>
/// <param name="BlockBytes">Uncompressed size at which a block is closed; 256 bytes to 32 KiB. Smaller blocks are
/// cheaper to read, larger ones compress better.</param>
/// <param name="HasFilter">Whether to add a Bloom filter; useless for tables that are only iterated over.</param>
/// <param name="SyncsRegularly">Whether to sync after every 512 KiB, so that a concurrent sync of the journal waits for
/// at most 512 KiB of the run.</param>
/// <param name="Kind">The kind of I/O as which writes and syncs are recorded, for instance
/// <see cref="IoKind.RunWrite"/>.</param>
internal readonly record struct RunWriterOptions(int BlockBytes, bool HasFilter, bool SyncsRegularly, IoKind Kind);

/// <summary>
/// Writes one run: add rows in key order, then call <see cref="Finish"/>. One thread at a time. Uses about 400 KiB of
/// memory, and 4 bytes per row for a filter. Disposing an unfinished writer deletes the file. Every method may throw
/// <see cref="DiskException"/>; afterwards only Dispose may be called.
/// </summary>
internal sealed class RunWriter : IDisposable
{
    /// <summary>
    /// Number of rows after which the caller starts another run. Limits the memory of a filter and of its writer. Not
    /// checked here.
    /// </summary>
    public const int RowLimit = 2 * 1024 * 1024;

    /// <summary>Maximum length of a key, in bytes.</summary>
    public const int KeyLimitBytes = 2048;

    /// <summary>Maximum length of a value, in bytes. The engine splits longer values into chunks.</summary>
    public const int ValueLimitBytes = 64 * 1024 + 512;

    private readonly IDisk _disk;
    private readonly string _path;
    private readonly long _fileId;
    private readonly RunWriterOptions _options;
    private readonly RunFile _file;
    private readonly BlockBuilder _block;
    private readonly RunIndexBuilder _index = new();
    private readonly FilterBuilder? _filter;
    private readonly byte[] _lastKey = new byte[KeyLimitBytes];
    private int _lastKeyLength = -1;
    private byte[] _smallestKey = [];
    private byte[] _rawBlock = []; // a block before its compression
    private RunCounts _counts;
    private bool _isFinished;

    /// <summary>Creates the file and writes its header.</summary>
    /// <param name="disk">The disk.</param>
    /// <param name="path">Path of the file, which must not exist.</param>
    /// <param name="fileId">The file's number, which its checksums include.</param>
    /// <param name="options">The options.</param>
    /// <param name="io">Records writes and syncs.</param>
    public RunWriter(IDisk disk, string path, long fileId, RunWriterOptions options, IIoRecorder io)
    {
        Invariant.Holds(
            options.BlockBytes is >= 256 and <= 32 * 1024,
            "a block is 256 bytes to 32 KiB, so that 16 bits address its rows"
        );
        _disk = disk;
        _path = path;
        _fileId = fileId;
        _options = options;
        _block = new BlockBuilder(options.BlockBytes);
        _filter = options.HasFilter ? new FilterBuilder() : null;
        _file = new RunFile(disk, path, options.Kind, options.SyncsRegularly, io);
        RunFormat.WriteHeader(_file.Reserve(RunFormat.HeaderBytes), fileId);
        _file.Advance(RunFormat.HeaderBytes);
    }

    /// <summary>Number of rows added, including tombstones.</summary>
    public long Rows => _counts.Rows;

    /// <summary>Estimated length of the file in bytes, if it were finished now.</summary>
    public long EstimatedBytes =>
        _file.Position + _block.EstimatedBytes + _index.Length + (_filter?.SizeBytes ?? 0) + RunFooter.Bytes;

    /// <summary>Bytes written to disk so far, for rate limits.</summary>
    public long WrittenBytes => _file.WrittenBytes;

    private ReadOnlySpan<byte> LastKey => _lastKey.AsSpan(0, Math.Max(_lastKeyLength, 0));

    /// <summary>
    /// Adds a row. The limits of its parts are <see cref="KeyLimitBytes"/> and <see cref="ValueLimitBytes"/>.
    /// </summary>
    /// <param name="key">The key; higher than the key of the row before.</param>
    /// <param name="sequence">The sequence number, 0 or more.</param>
    /// <param name="kind">The kind of the row.</param>
    /// <param name="value">The value; empty for a tombstone.</param>
    public void Add(ReadOnlySpan<byte> key, long sequence, RowKind kind, ReadOnlySpan<byte> value)
    {
        Invariant.Holds(!_isFinished, "a finished run takes no rows");
        Invariant.Holds(key.Length <= KeyLimitBytes && value.Length <= ValueLimitBytes, "a row fits its limits");
        Invariant.Holds(_lastKeyLength < 0 || key.SequenceCompareTo(LastKey) > 0, "the keys of a run ascend");
        Invariant.Holds(
            sequence >= 0 && (kind != RowKind.Tombstone || value.IsEmpty),
            "a row has a sequence, and a tombstone no value"
        );
        if (_block.IsFullFor(key, value.Length))
        {
            WriteBlock();
        }

        if (_lastKeyLength < 0)
        {
            _smallestKey = key.ToArray();
        }

        _block.Add(key, sequence, kind, value);
        _filter?.Add(key);
        _counts.Add(key.Length, value.Length, sequence, kind);
        key.CopyTo(_lastKey);
        _lastKeyLength = key.Length;
    }

    /// <summary>
    /// Writes the rest: last block, index, filter, properties and footer, then syncs. The file's name is durable once
    /// the caller has synced the directory.
    /// </summary>
    public RunSummary Finish()
    {
        Invariant.Holds(!_isFinished, "a run is finished once");
        if (_block.Rows > 0)
        {
            WriteBlock();
        }

        byte[] largestKey = LastKey.ToArray();
        byte[] properties = RunProperties.Encode(_smallestKey, largestKey);
        using var filterMemory = new NativeRegion(_filter?.SizeBytes ?? 0);
        var filterBytes = filterMemory.SpanOf(offset: 0, _filter?.SizeBytes ?? 0);
        _filter?.Build(filterBytes);
        long indexOffset = _file.Position;
        var footer = new RunFooter(
            FileBytes: indexOffset + _index.Length + filterBytes.Length + properties.Length + RunFooter.Bytes,
            indexOffset,
            _index.Length,
            filterBytes.Length,
            properties.Length,
            _counts.Rows,
            _counts.Tombstones,
            RangeTombstones: 0,
            _counts.LogicalBytes,
            _counts.SmallestSequence,
            _counts.LargestSequence,
            _index.Blocks,
            IndexChecksum: RunFormat.ChecksumOf(_fileId, indexOffset, _index.Encoded),
            FilterChecksum: RunFormat.ChecksumOf(_fileId, indexOffset + _index.Length, filterBytes),
            PropertiesChecksum: RunFormat.ChecksumOf(
                _fileId,
                indexOffset + _index.Length + filterBytes.Length,
                properties
            )
        );
        _file.Append(_index.Encoded);
        _file.Append(filterBytes);
        _file.Append(properties);
        footer.Write(_file.Reserve(RunFooter.Bytes), _fileId);
        _file.Advance(RunFooter.Bytes);
        _file.Finish();
        _isFinished = true;
        return new RunSummary(
            _fileId,
            footer.FileBytes,
            footer.Rows,
            footer.Tombstones,
            footer.RangeTombstones,
            footer.LogicalBytes,
            footer.SmallestSequence,
            footer.LargestSequence,
            _smallestKey,
            largestKey
        );
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _file.Dispose();
        if (!_isFinished)
        {
            _isFinished = true;
            try
            {
                _disk.Delete(_path);
            }
            catch (DiskException)
            {
                // The failure that left the run unfinished is already being thrown. The next start deletes a file that
                // no manifest names.
            }
        }
    }

    private void WriteBlock()
    {
        if (_rawBlock.Length < _block.EncodedLimitBytes)
        {
            _rawBlock = new byte[Math.Max(_block.EncodedLimitBytes, 2 * _options.BlockBytes)];
        }

        int rawLength = _block.Encode(_rawBlock);
        var target = _file.Reserve(RunFormat.BlockHeaderBytes + rawLength);
        var payload = target[RunFormat.BlockHeaderBytes..];

        // A block that shrinks by less than an eighth is stored uncompressed, because it is faster to read.
        // Compress returns 0 if the result does not fit.
        int storedLength = Lz4.Compress(_rawBlock.AsSpan(0, rawLength), payload[..(rawLength - (rawLength / 8))]);
        uint flag = storedLength > 0 ? RunFormat.CompressedFlag : 0;
        if (storedLength == 0)
        {
            _rawBlock.AsSpan(0, rawLength).CopyTo(payload);
            storedLength = rawLength;
        }

        // The block's header: [u32 checksum of the rest][u32 length before compression, and the flag][u32 rows].
        int bytesOnDisk = RunFormat.BlockHeaderBytes + storedLength;
        BinaryPrimitives.WriteUInt32LittleEndian(target[4..], (uint)rawLength | flag);
        BinaryPrimitives.WriteUInt32LittleEndian(target[8..], (uint)_block.Rows);
        BinaryPrimitives.WriteUInt32LittleEndian(
            target,
            RunFormat.ChecksumOf(_fileId, _file.Position, target[4..bytesOnDisk])
        );
        _index.Add(_block.FirstKey, LastKey, bytesOnDisk);
        _block.Clear();
        _file.Advance(bytesOnDisk);
    }
}
