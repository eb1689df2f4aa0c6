using System.Buffers;
using Rookery.Platform;

namespace Rookery.Storage.Runs;

/// <summary>
/// An open run. Thread-safe. Reference counted, starting with one reference: the last release closes the file, evicts
/// its blocks and, if the run was retired, causes the deletion of its file. Index and filter stay in memory and count
/// against the cache's capacity.
/// </summary>
internal sealed unsafe class RunReader
{
    private readonly IDiskFile _file;
    private readonly BlockCache _cache;
    private readonly IIoRecorder _io;
    private readonly RunContents _contents;
    private readonly byte* _filter;
    private readonly uint _filterLines;
    private int _references = 1;
    private Action<string>? _removeFile;

    private RunReader(IDiskFile file, RunContents contents, BlockCache cache, IIoRecorder io)
    {
        _file = file;
        _contents = contents;
        _cache = cache;
        _io = io;
        _filter = contents.Filter;
        _filterLines = (uint)(contents.Footer.FilterBytes / BloomFilter.LineBytes);
        Slots = new int[contents.Index.Blocks];
        cache.AddFixed(ResidentBytes);
    }

    /// <summary>Path of the run's file.</summary>
    public string Path => _file.Path;

    /// <summary>The run's summary, from its footer.</summary>
    public RunSummary Summary => _contents.Summary;

    /// <summary>Native memory of index and filter, in bytes.</summary>
    public long ResidentBytes => _contents.Memory.Bytes;

    internal RunIndex Index => _contents.Index;

    /// <summary>
    /// Per block: the number of its frame in the cache; <see cref="int.MaxValue"/> while a thread loads it; 0 or
    /// negative if it is not cached. A negative value records when the block left the small queue. Only the cache
    /// writes here.
    /// </summary>
    internal int[] Slots { get; }

    /// <summary>Opens a run and checks its header, footer, index, filter and key range.</summary>
    /// <returns>The reader, or null if the run is damaged. A file that cannot be opened or read counts as
    /// damaged.</returns>
    public static RunReader? Open(
        IDisk disk,
        string path,
        long fileId,
        BlockCache cache,
        IIoRecorder io,
        out RunDamage? damage
    )
    {
        IDiskFile? opened = null;
        try
        {
            opened = disk.Open(path, DiskOpen.Read);
            if (RunContents.Load(opened, fileId, out damage) is { } loaded)
            {
                var reader = new RunReader(opened, loaded, cache, io);
                opened = null;
                return reader;
            }
        }
        catch (DiskException exception)
        {
            damage = new RunDamage(
                path,
                Offset: 0,
                Length: 0,
                $"it could not be read ({DiskException.Describe(exception.Error)})"
            );
        }
        finally
        {
            opened?.Dispose();
        }

        return null;
    }

    /// <summary>
    /// Returns false if the run surely contains no row of the key with this <see cref="KeyHash"/>. Returns true for
    /// about 1 % of absent keys, and always without a filter.
    /// </summary>
    public bool MayContain(ulong keyHash) =>
        _filterLines == 0 || BloomFilter.MayContain(_filter, _filterLines, keyHash);

    /// <summary>Looks up a key. Checks the filter first.</summary>
    /// <param name="key">The key.</param>
    /// <param name="keyHash">The key's <see cref="KeyHash"/>.</param>
    /// <param name="mayReadDisk">Whether a block that is not in memory is read; otherwise the result is
    /// <see cref="RunLookup.NotInMemory"/>.</param>
    /// <param name="row">The row, if the result is <see cref="RunLookup.Found"/>; the caller disposes it.</param>
    /// <param name="damage">The damage, if the result is <see cref="RunLookup.Damaged"/>.</param>
    public RunLookup TryGet(
        ReadOnlySpan<byte> key,
        ulong keyHash,
        bool mayReadDisk,
        out RunRow row,
        out RunDamage? damage
    )
    {
        row = default;
        damage = null;
        if (!MayContain(keyHash))
        {
            return RunLookup.Absent;
        }

        int number = _contents.Index.BlockOf(key);
        if (number < 0)
        {
            return RunLookup.Absent;
        }

        var block = mayReadDisk
            ? _cache.Pin(this, number, isPointRead: true, out damage)
            : _cache.PinFromMemory(this, number, isPointRead: true);
        if (block is null)
        {
            return mayReadDisk ? RunLookup.Damaged : RunLookup.NotInMemory;
        }

        int rowNumber = block.View.LowerBound(key, out bool isEqual);
        if (!isEqual)
        {
            block.Unpin();
            return RunLookup.Absent;
        }

        row = new RunRow(block, block.View.Read(rowNumber));
        return RunLookup.Found;
    }

    /// <summary>
    /// Opens a cursor for client reads. It reads through the cache without evicting blocks of point reads. Holds a
    /// reference.
    /// </summary>
    public RunCursor OpenCursor() => new(this, new CachedBlocks(this, _cache));

    /// <summary>
    /// Opens a cursor for merges and backups. It reads ahead 256 KiB at a time into private memory, without the cache.
    /// Holds a reference.
    /// </summary>
    public RunCursor OpenSequentialCursor(IoKind kind) => new(this, new SequentialBlocks(this, kind));

    /// <summary>Reads and checks a part of the file, for the scrub.</summary>
    /// <param name="from">Offset to continue at: 0 at first, then the last call's <paramref name="next"/>.</param>
    /// <param name="budgetBytes">Approximate number of bytes to read; at least one part is checked.</param>
    /// <param name="next">Offset to continue at; the file's length once everything was checked.</param>
    /// <returns>The damage found, or null. After damage, <paramref name="next"/> is the offset after it.</returns>
    public RunDamage? Verify(long from, long budgetBytes, out long next) =>
        new RunVerification(this, _contents, _file, _io).Check(from, budgetBytes, out next);

    /// <summary>
    /// Adds a reference. The caller must already hold one, or know that another holder does not release meanwhile.
    /// </summary>
    public void Acquire() =>
        Invariant.Holds(Interlocked.Increment(ref _references) > 1, "a closed run is not used again");

    /// <summary>Releases a reference. Rows and cursors must be disposed before the last release.</summary>
    public void Release()
    {
        int remaining = Interlocked.Decrement(ref _references);
        Invariant.Holds(remaining >= 0, "a reference is given back once");
        if (remaining == 0)
        {
            _cache.ReleaseFixed(ResidentBytes, this);
            _contents.Dispose();
            _file.Dispose();
            _removeFile?.Invoke(Path);
        }
    }

    /// <summary>
    /// Marks the run as no longer in the manifest. The last <see cref="Release"/> calls <paramref name="remove"/> with
    /// the path.
    /// </summary>
    public void Retire(Action<string> remove) => Volatile.Write(ref _removeFile, remove);

    /// <summary>Whether <see cref="Retire"/> was called.</summary>
    public bool IsRetired => Volatile.Read(ref _removeFile) is not null;

    /// <summary>Reads a block into the cache; called by the cache only.</summary>
    internal CachedBlock? ReadBlock(int block, BlockCache into, bool wasEvictedRecently, out RunDamage? damage)
    {
        int length = _contents.Index.BytesOnDisk(block);
        byte[] buffer = ArrayPool<byte>.Shared.Rent(length);
        try
        {
            var bytes = buffer.AsSpan(0, length);
            long begun = _io.Begin();
            string? problem = ReadExactly(_contents.Index.Offset(block), bytes);
            _io.Record(IoKind.Read, begun, length);
            var sealedBlock = default(SealedBlock);
            problem ??= SealedBlock.Open(bytes, _contents.FileId, _contents.Index.Offset(block), out sealedBlock);
            CachedBlock? frame = null;
            if (problem is null)
            {
                frame = into.Fill(sealedBlock, this, block, wasEvictedRecently);
                problem = frame is null ? SealedBlock.Malformed : null;
            }

            damage = problem is null ? null : DamageOf(block, problem);
            return frame;
        }
        finally
        {
            ArrayPool<byte>.Shared.Return(buffer);
        }
    }

    /// <summary>
    /// Fills <paramref name="buffer"/> from the file; returns the reason if it cannot, otherwise null.
    /// </summary>
    internal string? ReadExactly(long offset, Span<byte> buffer)
    {
        try
        {
            return _file.Read(buffer, offset) == buffer.Length ? null : "the file ends early";
        }
        catch (DiskException exception)
        {
            return $"it could not be read ({DiskException.Describe(exception.Error)})";
        }
    }

    /// <summary>Returns the damage of one block, with the affected key range.</summary>
    internal RunDamage DamageOf(int block, string reason) =>
        new(Path, Index.Offset(block), Index.BytesOnDisk(block), reason)
        {
            From = Index.Separator(block).ToArray(),
            ToExclusive =
                block + 1 < Index.Blocks ? Index.Separator(block + 1).ToArray() : [.. Summary.LargestKey.Span, 0],
        };

    internal long FileId => _contents.FileId;

    internal IIoRecorder Io => _io;
}
