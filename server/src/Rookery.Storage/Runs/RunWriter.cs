using System.Buffers.Binary;
using Rookery.Platform;

namespace Rookery.Storage.Runs;

/// <summary>Options for writing a run.</summary>
/// <param name="BlockBytes">Uncompressed size at which a block is closed; 256 bytes to 32 KiB. Smaller blocks are
/// cheaper to read, larger ones compress better.</param>
/// <param name="Filter">Whether to add a Bloom filter; useless for tables that are only iterated over.</param>
/// <param name="Paced">Whether to sync every 512 KiB, so that a concurrent journal sync waits for at most that
/// much.</param>
/// <param name="Kind">How the writes are recorded, for instance as <see cref="IoKind.RunWrite"/>.</param>
internal readonly record struct RunWriterOptions(int BlockBytes, bool Filter, bool Paced, IoKind Kind);

/// <summary>
/// Writes one run: add rows in key order, then call <see cref="Finish"/>. One thread at a time. Uses about 400 KiB of
/// memory, and 4 bytes per row for a filter. Disposing an unfinished writer deletes the file. Every method may throw
/// <see cref="DiskException"/>; afterwards only Dispose may be called.
/// </summary>
internal sealed class RunWriter : IDisposable
{
    /// <summary>
    /// Recommended maximum of rows in a run, which limits the memory of its filter and of its writer.
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
    private byte[] _raw = [];
    private RunCounts _counts;
    private bool _finished;

    /// <summary>Creates the file.</summary>
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
        _filter = options.Filter ? new FilterBuilder() : null;
        _file = new RunFile(disk, path, options.Kind, options.Paced, io);
        RunFormat.WriteHeader(_file.Reserve(RunFormat.HeaderBytes), fileId);
        _file.Advance(RunFormat.HeaderBytes);
    }

    /// <summary>Number of rows added.</summary>
    public long Rows => _counts.Rows;

    /// <summary>Estimated length of the file if it were finished now.</summary>
    public long EstimatedBytes =>
        _file.Position + _block.EstimatedBytes + _index.Length + (_filter?.SizeBytes ?? 0) + RunFooter.Bytes;

    /// <summary>Bytes written to disk so far, for rate limits.</summary>
    public long WrittenBytes => _file.WrittenBytes;

    private ReadOnlySpan<byte> LastKey => _lastKey.AsSpan(0, Math.Max(_lastKeyLength, 0));

    /// <summary>
    /// Adds a row. Its key must be higher than the last one. <paramref name="value"/> must be empty for a tombstone.
    /// </summary>
    public void Add(ReadOnlySpan<byte> key, long sequence, RowKind kind, ReadOnlySpan<byte> value)
    {
        Invariant.Holds(!_finished, "a finished run takes no rows");
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
    /// Writes the rest: last block, index, filter, properties and footer, then syncs. The name is durable once the
    /// caller has synced the directory.
    /// </summary>
    public RunSummary Finish()
    {
        Invariant.Holds(!_finished, "a run is finished once");
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
        _finished = true;
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
        if (!_finished)
        {
            _finished = true;
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
        if (_raw.Length < _block.EncodedLimitBytes)
        {
            _raw = new byte[Math.Max(_block.EncodedLimitBytes, 2 * _options.BlockBytes)];
        }

        int rawLength = _block.Encode(_raw);
        var target = _file.Reserve(RunFormat.BlockHeaderBytes + rawLength);
        var payload = target[RunFormat.BlockHeaderBytes..];

        // A block that shrinks by less than an eighth is stored uncompressed, because it is faster to read.
        // Compress returns 0 if the result does not fit.
        int stored = Lz4.Compress(_raw.AsSpan(0, rawLength), payload[..(rawLength - (rawLength / 8))]);
        uint flag = stored > 0 ? RunFormat.CompressedFlag : 0;
        if (stored == 0)
        {
            _raw.AsSpan(0, rawLength).CopyTo(payload);
            stored = rawLength;
        }

        // The block's header: [u32 checksum of the rest][u32 length before compression, and the flag][u32 rows].
        int bytesOnDisk = RunFormat.BlockHeaderBytes + stored;
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
