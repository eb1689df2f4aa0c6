using Rookery.Disk;

namespace Rookery.Storage;

/// <summary>
/// One open run. Any number of threads may read at once. Reference counted: made with one reference; when the last is released the file is closed,
/// its blocks leave the cache, and, if it was retired, its name is removed. Index and filter stay in memory and count against the cache's capacity.
/// </summary>
internal sealed class RunReader
{
    private RunReader() => throw new NotSupportedException();

    /// <summary>Opens a run and checks its header, footer, index, filter and range tombstones.</summary>
    /// <returns>The reader, or null when <paramref name="damage"/> says what is wrong. A file that cannot be opened or read is damage too.</returns>
    public static RunReader? Open(IDisk disk, string path, long fileId, BlockCache cache, IIoRecorder io, out RunDamage? damage) => throw new NotSupportedException();

    /// <summary>The run's file.</summary>
    public string Path => throw new NotSupportedException();

    /// <summary>What the footer says.</summary>
    public RunSummary Summary => throw new NotSupportedException();

    /// <summary>The run's range tombstones. They hide rows of older sources, not this run's.</summary>
    public RangeTombstoneSet RangeTombstones => throw new NotSupportedException();

    /// <summary>Bytes of memory for index and filter.</summary>
    public long ResidentBytes => throw new NotSupportedException();

    /// <summary>False when the run surely has no row of the key with this <see cref="KeyHash"/>; true for about 1 % of those it has not.</summary>
    public bool MayContain(ulong keyHash) => throw new NotSupportedException();

    /// <summary>Looks a key up. Asks the filter first.</summary>
    /// <param name="key">The key.</param>
    /// <param name="keyHash">Its <see cref="KeyHash"/>.</param>
    /// <param name="row">The row, to be disposed, when the answer is <see cref="RunLookup.Found"/>.</param>
    /// <param name="damage">The damage, when the answer is <see cref="RunLookup.Damaged"/>.</param>
    public RunLookup TryGet(ReadOnlySpan<byte> key, ulong keyHash, out RunRow row, out RunDamage? damage) => throw new NotSupportedException();

    /// <summary>A cursor for answers to clients: reads through the cache without pushing out what point reads use. Holds a reference.</summary>
    public RunCursor OpenCursor() => throw new NotSupportedException();

    /// <summary>A cursor for compaction and backups: reads ahead 256 KiB at a time into memory of its own and leaves the cache alone. Forward only. Holds a reference.</summary>
    public RunCursor OpenSequentialCursor(IoKind kind) => throw new NotSupportedException();

    /// <summary>Reads and checks a piece of the file, for the scrub.</summary>
    /// <param name="from">Where to go on: 0 at first, then what the last call gave.</param>
    /// <param name="budgetBytes">About how much to read.</param>
    /// <param name="next">Where to go on; the file's length when everything was checked.</param>
    /// <returns>The damage found, or null. After damage <paramref name="next"/> is behind it.</returns>
    public RunDamage? Verify(long from, long budgetBytes, out long next) => throw new NotSupportedException();

    /// <summary>Takes a reference.</summary>
    public void Acquire() => throw new NotSupportedException();

    /// <summary>Gives a reference back. Rows and cursors must have been disposed before the last one goes.</summary>
    public void Release() => throw new NotSupportedException();

    /// <summary>Says that the run is no longer in the manifest: when the last reference goes, <paramref name="removeName"/> is called with the path.</summary>
    public void Retire(Action<string> removeName) => throw new NotSupportedException();
}
