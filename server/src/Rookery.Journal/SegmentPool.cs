using Rookery.Platform;

namespace Rookery.Journal;

/// <summary>
/// Makes segment files and keeps those that are ready for use. Any thread; no lock is held across disk work.
/// </summary>
internal sealed class SegmentPool(IDisk disk, JournalOptions options, IIoRecorder io) : IDisposable
{
    /// <summary>
    /// Zeros are synced in pieces of this size, so that a commit never waits behind more of them than this.
    /// </summary>
    private const int PieceBytes = 512 * 1024;

    private static readonly byte[] Zeros = new byte[PieceBytes];

    private readonly Lock _gate = new();
    private readonly Queue<Segment> _spares = new();
    private int _nextSlot = 1;

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

    /// <summary>New files get numbers above <paramref name="slot"/>.</summary>
    public void SlotIsTaken(int slot) => _nextSlot = Math.Max(_nextSlot, slot + 1);

    /// <summary>
    /// A segment of ordinary length whose blocks are all written once: a spare, or a new one when there is none.
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

    /// <summary>Makes a spare when fewer than <see cref="JournalOptions.SpareSegments"/> are ready.</summary>
    public bool Prepare()
    {
        if (Ready >= options.SpareSegments)
        {
            return false;
        }

        Keep(MakeZeroed());
        return true;
    }

    /// <summary>
    /// Takes back a segment whose frames nobody needs: keeps it for reuse, or deletes it when it is of another length
    /// or there are enough.
    /// </summary>
    public void Release(Segment segment)
    {
        if (
            !segment.KeptAside
            && segment.Length == options.SegmentBytes
            && Ready < Math.Max(options.RecycledSegments, options.SpareSegments)
        )
        {
            Keep(segment);
            return;
        }

        segment.Dispose();
        disk.Delete(PathOf(segment.Name));
    }

    /// <summary>
    /// A file of exactly this length under a name that recovery does not read, for a write larger than an ordinary
    /// segment.
    /// </summary>
    public Segment BeginOversized(long length) => BeginPart(length);

    /// <summary>
    /// Gives a wholly written and synced file its name. It appears in the directory whole or not at all.
    /// </summary>
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

    private void Keep(Segment segment)
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
    /// The reason for giving up is on its way to the caller; a part file that stays is deleted at the next start.
    /// </summary>
    private void DeleteQuietly(string path)
    {
        try
        {
            disk.Delete(path);
        }
        catch (DiskException)
        {
            // As said above.
        }
    }
}
