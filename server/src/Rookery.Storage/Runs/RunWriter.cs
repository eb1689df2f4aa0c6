using System.Buffers.Binary;
using Rookery.Disk;

namespace Rookery.Storage;

/// <summary>How a run is written.</summary>
/// <param name="BlockBytes">A block is closed when its rows reach this many uncompressed bytes; 256 bytes to 32 KiB. Smaller reads cheaper, larger compresses better.</param>
/// <param name="Filter">Whether to add a Bloom filter; pointless for tables that are only ever walked.</param>
/// <param name="Paced">Whether to sync each 512 KiB, so that a commit's sync never waits behind more (flush and compaction beside live traffic).</param>
/// <param name="Kind">What the writes are recorded as: <see cref="IoKind.RunWrite"/> or <see cref="IoKind.Compaction"/>.</param>
internal readonly record struct RunWriterOptions(int BlockBytes, bool Filter, bool Paced, IoKind Kind);

/// <summary>
/// Writes one run: rows in key order, then <see cref="Finish"/>. One thread at a time. Memory: about 400 KiB, and 4 bytes per row while there is a filter.
/// Disposing an unfinished writer closes and deletes the file. Every method may throw <see cref="DiskException"/>; then only disposing is left to do.
/// </summary>
internal sealed class RunWriter : IDisposable
{
    /// <summary>A run should not have more rows: bounds the memory of its filter and its writer.</summary>
    public const int RowLimit = 2 * 1024 * 1024;

    /// <summary>The longest key, in bytes.</summary>
    public const int KeyLimitBytes = 2048;

    /// <summary>The longest value, in bytes. Longer ones are the engine's to cut into chunks.</summary>
    public const int ValueLimitBytes = 64 * 1024 + 512;

    private readonly IDisk disk;
    private readonly string path;
    private readonly long fileId;
    private readonly RunWriterOptions options;
    private readonly RunFile file;
    private readonly BlockBuilder block;
    private readonly RunIndexBuilder index = new();
    private readonly FilterBuilder? filter;
    private readonly byte[] lastKey = new byte[KeyLimitBytes];
    private int lastKeyLength = -1;
    private byte[] smallestKey = [];
    private byte[] raw = [];
    private RangeTombstoneSet rangeTombstones = RangeTombstoneSet.Empty;
    private RunCounts counts;
    private bool finished;

    /// <summary>Creates the file.</summary>
    public RunWriter(IDisk disk, string path, long fileId, RunWriterOptions options, IIoRecorder io)
    {
        Invariant.Holds(options.BlockBytes is >= 256 and <= 32 * 1024, "a block's rows begin within 64 KiB, as its directory needs");
        this.disk = disk;
        this.path = path;
        this.fileId = fileId;
        this.options = options;
        block = new BlockBuilder(options.BlockBytes);
        filter = options.Filter ? new FilterBuilder() : null;
        file = new RunFile(disk.Open(path, DiskOpen.CreateNew), options.Kind, options.Paced, io);
        RunFormat.WriteHeader(file.Reserve(RunFormat.HeaderBytes), fileId);
        file.Advance(RunFormat.HeaderBytes);
    }

    /// <summary>Rows added.</summary>
    public long Rows => counts.Rows;

    /// <summary>About how long the file would be if it were finished now.</summary>
    public long EstimatedBytes => file.Position + block.EstimatedBytes + index.Length + (filter?.SizeBytes ?? 0) + RunFooter.Bytes;

    /// <summary>Bytes handed to the disk so far, for rate limits.</summary>
    public long WrittenBytes => file.WrittenBytes;

    private ReadOnlySpan<byte> LastKey => lastKey.AsSpan(0, Math.Max(lastKeyLength, 0));

    /// <summary>Adds a row. Its key must be higher than the last one (<see cref="Invariant"/>). <paramref name="value"/> must be empty for a tombstone.</summary>
    public void Add(ReadOnlySpan<byte> key, long sequence, RowKind kind, ReadOnlySpan<byte> value)
    {
        Invariant.Holds(!finished, "a finished run takes no rows");
        Invariant.Holds(key.Length <= KeyLimitBytes && value.Length <= ValueLimitBytes, "a row fits its limits");
        Invariant.Holds(lastKeyLength < 0 || key.SequenceCompareTo(LastKey) > 0, "the keys of a run ascend");
        Invariant.Holds(sequence >= 0 && (kind != RowKind.Tombstone || value.IsEmpty), "a row has a sequence, and a tombstone no value");
        if (block.IsFullFor(key, value.Length))
        {
            WriteBlock();
        }

        if (lastKeyLength < 0)
        {
            smallestKey = key.ToArray();
        }

        block.Add(key, sequence, kind, value);
        filter?.Add(key);
        counts.Add(key.Length, value.Length, sequence, kind);
        key.CopyTo(lastKey);
        lastKeyLength = key.Length;
    }

    /// <summary>Adds the run's range tombstones; once, any time before <see cref="Finish"/>. Rows that they had hidden must not be added.</summary>
    public void SetRangeTombstones(RangeTombstoneSet tombstones) => rangeTombstones = tombstones;

    /// <summary>Writes what is left, filter, index and footer, and syncs. The name is durable once the caller has synced the directory.</summary>
    public RunSummary Finish()
    {
        Invariant.Holds(!finished, "a run is finished once");
        if (block.Rows > 0)
        {
            WriteBlock();
        }

        foreach (var piece in rangeTombstones.Pieces)
        {
            counts.AddRangeTombstone(piece.Sequence);
        }

        var (smallest, largest) = KeyRange();
        byte[] properties = RunProperties.Encode(smallest, largest, rangeTombstones);
        using var filterMemory = new NativeRegion(filter?.SizeBytes ?? 0);
        var filterBytes = filterMemory.SpanOf(0, filter?.SizeBytes ?? 0);
        filter?.Build(filterBytes);
        long indexOffset = file.Position;
        var footer = new RunFooter(
            FileBytes: indexOffset + index.Length + filterBytes.Length + properties.Length + RunFooter.Bytes,
            indexOffset,
            index.Length,
            filterBytes.Length,
            properties.Length,
            counts.Rows,
            counts.Tombstones,
            rangeTombstones.Pieces.Count,
            counts.LogicalBytes,
            counts.SmallestSequence,
            counts.LargestSequence,
            index.Blocks,
            IndexChecksum: RunFormat.ChecksumOf(fileId, indexOffset, index.Encoded),
            FilterChecksum: RunFormat.ChecksumOf(fileId, indexOffset + index.Length, filterBytes),
            PropertiesChecksum: RunFormat.ChecksumOf(fileId, indexOffset + index.Length + filterBytes.Length, properties));
        file.Append(index.Encoded);
        file.Append(filterBytes);
        file.Append(properties);
        footer.Write(file.Reserve(RunFooter.Bytes), fileId);
        file.Advance(RunFooter.Bytes);
        file.Finish();
        finished = true;
        return new RunSummary(
            fileId, footer.FileBytes, footer.Rows, footer.Tombstones, footer.RangeTombstones, footer.LogicalBytes, footer.SmallestSequence, footer.LargestSequence, smallest, largest);
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        file.Dispose();
        if (!finished)
        {
            finished = true;
            try
            {
                disk.Delete(path);
            }
            catch (DiskException)
            {
                // The failure that left the run unfinished is already on its way up; a file that no manifest names is removed at the next start.
            }
        }
    }

    private void WriteBlock()
    {
        if (raw.Length < block.EncodedLimitBytes)
        {
            raw = new byte[Math.Max(block.EncodedLimitBytes, 2 * options.BlockBytes)];
        }

        int rawLength = block.Encode(raw);
        var target = file.Reserve(RunFormat.BlockHeaderBytes + rawLength);
        var payload = target[RunFormat.BlockHeaderBytes..];

        // A block that shrinks by less than an eighth is stored as it is: reading it costs less than the bytes are worth.
        int stored = Lz4.Compress(raw.AsSpan(0, rawLength), payload[..(rawLength - (rawLength / 8))]);
        uint flag = stored > 0 ? RunFormat.CompressedFlag : 0;
        if (stored == 0)
        {
            raw.AsSpan(0, rawLength).CopyTo(payload);
            stored = rawLength;
        }

        int bytesOnDisk = RunFormat.BlockHeaderBytes + stored;
        BinaryPrimitives.WriteUInt32LittleEndian(target[4..], (uint)rawLength | flag);
        BinaryPrimitives.WriteUInt32LittleEndian(target[8..], (uint)block.Rows);
        BinaryPrimitives.WriteUInt32LittleEndian(target, RunFormat.ChecksumOf(fileId, file.Position, target[4..bytesOnDisk]));
        index.Add(block.FirstKey, LastKey, bytesOnDisk);
        block.Clear();
        file.Advance(bytesOnDisk);
    }

    private (byte[] Smallest, byte[] Largest) KeyRange()
    {
        byte[] smallest = smallestKey;
        byte[] largest = LastKey.ToArray();
        if (!rangeTombstones.IsEmpty)
        {
            byte[] from = rangeTombstones.Pieces[0].From.ToArray();
            byte[] to = rangeTombstones.Pieces[^1].ToExclusive.ToArray();
            smallest = lastKeyLength < 0 || from.AsSpan().SequenceCompareTo(smallest) < 0 ? from : smallest;
            largest = to.AsSpan().SequenceCompareTo(largest) > 0 ? to : largest;
        }

        return (smallest, largest);
    }
}
