using Rookery.Platform;

namespace Rookery.Journal;

/// <summary>Creates segment files and keeps spare ones. Thread-safe; holds no lock across disk I/O.</summary>
internal sealed class SegmentPool(IDisk disk, JournalOptions options, IIoRecorder io) : IDisposable
{
    /// <summary>Zeros are synced in pieces of this size, so that a commit waits for at most one of them.</summary>
    private const int PieceBytes = 512 * 1024;

    private static readonly byte[] Zeros = new byte[PieceBytes];

    private readonly Lock _gate = new();
    private readonly Queue<Segment> _spares = new();
    private int _nextSlot = 1;

    /// <summary>Number of spare segments.</summary>
    public int Ready
    {
        get
        {
            lock (_gate)
            {
                return _spares.Count;
            }
        }
    }

    /// <summary>Reserves all slot numbers through <paramref name="slot"/>.</summary>
    public void ReserveSlots(int slot) => _nextSlot = Math.Max(_nextSlot, slot + 1);

    /// <summary>
    /// Returns a segment of ordinary length with all blocks written: a spare, or a new one if there is none.
    /// </summary>
    public Segment Take()
    {
        lock (_gate)
        {
            if (_spares.TryDequeue(out var spare))
            {
                return spare;
            }
        }

        return MakeZeroed();
    }

    /// <summary>
    /// Prepares a spare if fewer than <see cref="JournalOptions.SpareSegments"/> are ready. Returns whether it did.
    /// </summary>
    public bool Prepare()
    {
        if (Ready >= options.SpareSegments)
        {
            return false;
        }

        AddSpare(MakeZeroed());
        return true;
    }

    /// <summary>
    /// Releases a segment whose entries are no longer needed: keeps it for reuse, or deletes it if its length differs
    /// or enough are ready.
    /// </summary>
    public void Release(Segment segment)
    {
        if (
            !segment.IsKeptAside
            && segment.Length == options.SegmentBytes
            && Ready < Math.Max(options.RecycledSegments, options.SpareSegments)
        )
        {
            AddSpare(segment);
            return;
        }

        segment.Dispose();
        disk.Delete(PathOf(segment.Name));
    }

    /// <summary>
    /// Creates a file of exactly this length, under a name that recovery ignores, for a write larger than an ordinary
    /// segment.
    /// </summary>
    public Segment BeginOversized(long length) => BeginPart(length);

    /// <summary>Renames a completely written and synced file to its final name, atomically.</summary>
    public Segment Publish(Segment part)
    {
        part.Dispose();
        string path = PathOf(part.Name);
        disk.Rename(path + SegmentName.PartSuffix, path);
        disk.SyncDirectory(options.Directory);
        return new Segment(disk.Open(path, DiskOpen.ReadWrite), part.Name, part.Slot) { Header = part.Header };
    }

    public void Dispose()
    {
        lock (_gate)
        {
            while (_spares.TryDequeue(out var spare))
            {
                spare.Dispose();
            }
        }
    }

    private void AddSpare(Segment segment)
    {
        segment.End = FrameLayout.FirstFrameOffset;
        segment.Landmarks = 0;
        segment.Pins = 0;
        lock (_gate)
        {
            _spares.Enqueue(segment);
        }
    }

    private Segment MakeZeroed()
    {
        var part = BeginPart(options.SegmentBytes);
        try
        {
            for (long offset = 0; offset < part.Length; offset += PieceBytes)
            {
                int count = (int)Math.Min(PieceBytes, part.Length - offset);
                long begun = io.Begin();
                part.File.Write(Zeros.AsSpan(0, count), offset);
                part.File.Sync();
                io.Record(IoKind.JournalSpare, begun, count);
            }

            return Publish(part);
        }
        catch (DiskException)
        {
            part.Dispose();
            DeleteQuietly(PathOf(part.Name) + SegmentName.PartSuffix);
            throw;
        }
    }

    private Segment BeginPart(long length)
    {
        int slot = Interlocked.Increment(ref _nextSlot) - 1;
        string name = SegmentName.Of(slot);
        string path = PathOf(name) + SegmentName.PartSuffix;
        var file = disk.Open(path, DiskOpen.CreateNew);
        try
        {
            file.Allocate(length);
            return new Segment(file, name, slot);
        }
        catch (DiskException)
        {
            file.Dispose();
            DeleteQuietly(path);
            throw;
        }
    }

    private string PathOf(string name) => Path.Join(options.Directory, name);

    /// <summary>
    /// Deletes a part file. Ignores a failure, because the caller throws the first one, and the next start deletes
    /// remaining part files.
    /// </summary>
    private void DeleteQuietly(string path)
    {
        try
        {
            disk.Delete(path);
        }
        catch (DiskException)
        {
            // See above.
        }
    }
}
