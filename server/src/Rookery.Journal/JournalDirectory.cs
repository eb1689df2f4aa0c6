using Rookery.Platform;

namespace Rookery.Journal;

/// <summary>
/// The open files of a journal directory, classified by their first block. Opening them changes nothing on disk.
/// </summary>
internal sealed class JournalDirectory : IDisposable
{
    private readonly IDisk _disk;
    private readonly JournalOptions _options;
    private readonly List<string> _parts = [];

    private JournalDirectory(IDisk disk, JournalOptions options, NewestNote note)
    {
        _disk = disk;
        _options = options;
        Note = note;
    }

    /// <summary>The note that names the newest segment.</summary>
    public NewestNote Note { get; }

    /// <summary>Segments with a valid header, ordered by generation.</summary>
    public List<Segment> Used { get; } = [];

    /// <summary>Files of a segment's length without a valid header: never used, or torn at their first write.</summary>
    public List<Segment> Spare { get; } = [];

    /// <summary>Files with a segment's name and a content that no crash leaves behind.</summary>
    public List<Segment> Foreign { get; } = [];

    /// <summary>
    /// A file without a valid header whose frames have a higher generation than any header; null if there is none.
    /// </summary>
    public Segment? Orphan { get; private set; }

    /// <summary>
    /// Whether the orphan contains frames of more than one journal write, which proves that its first write was
    /// durable.
    /// </summary>
    public bool OrphanHoldsLaterWrite { get; private set; }

    /// <summary>Whether the note names a later segment than any with a valid header.</summary>
    public bool IsNewestMissing => Note.Generation > NewestGeneration;

    /// <summary>The highest generation found in headers, frames and the note.</summary>
    public long HighestGeneration { get; private set; }

    /// <summary>The highest slot number found.</summary>
    public int HighestSlot { get; private set; }

    private long NewestGeneration => Used.Count == 0 ? 0 : Used[^1].Generation;

    public static JournalDirectory Find(IDisk disk, JournalOptions options, IIoRecorder io)
    {
        var directory = new JournalDirectory(disk, options, NewestNote.Find(disk, options.Directory, io));
        try
        {
            var names = disk.List(options.Directory);
            var keptAside = names.Select(SegmentName.FindKeptAside).ToHashSet(StringComparer.Ordinal);
            foreach (string name in names)
            {
                if (SegmentName.TryParse(name, out int slot))
                {
                    var file = disk.Open(directory.PathOf(name), DiskOpen.ReadWrite);
                    directory.Classify(new Segment(file, name, slot) { IsKeptAside = keptAside.Contains(name) });
                }
                else if (SegmentName.IsPart(name) || name is NewestNote.PartName)
                {
                    directory._parts.Add(name);
                }
            }

            directory.Used.Sort(static (left, right) => left.Generation.CompareTo(right.Generation));
            directory.CheckStore();
            directory.BindNote();
            directory.FindOrphan();
            return directory;
        }
        catch
        {
            directory.Dispose();
            throw;
        }
    }

    public Segment? WithGeneration(long generation) => Used.Find(segment => segment.Generation == generation);

    /// <summary>
    /// Deletes unfinished files and renames foreign files. Releases segments that are neither in
    /// <paramref name="live"/> nor in <paramref name="dropped"/> to the pool. Returns the new names of the foreign
    /// files.
    /// </summary>
    public List<string> CleanUp(
        IReadOnlyCollection<Segment> live,
        IReadOnlyCollection<Segment> dropped,
        SegmentPool pool
    )
    {
        foreach (string part in _parts)
        {
            _disk.Delete(PathOf(part));
        }

        pool.ReserveSlots(HighestSlot);
        var unneeded = Used.Concat(Spare).Where(segment => !live.Contains(segment) && !dropped.Contains(segment));
        foreach (var segment in unneeded)
        {
            pool.Release(segment);
        }

        var aside = new List<string>();
        foreach (var segment in Foreign)
        {
            segment.Dispose();
            string name = FreeAsideName(segment.Name);
            _disk.Rename(PathOf(segment.Name), PathOf(name));
            aside.Add(name);
        }

        Used.Clear();
        Used.AddRange(dropped);
        Spare.Clear();
        Foreign.Clear();
        return aside;
    }

    /// <summary>
    /// Releases the dropped segments to the pool, once the journal no longer needs them as proof of its damage.
    /// </summary>
    public void ReleaseDropped(SegmentPool pool)
    {
        foreach (var segment in Used)
        {
            pool.Release(segment);
        }

        Used.Clear();
    }

    /// <summary>
    /// Creates a second hard link to a segment in use, for the operator, and returns its name. The file's bytes are
    /// then never reused.
    /// </summary>
    public string KeepAside(Segment segment)
    {
        string name = FreeAsideName(segment.Name);
        _disk.Link(PathOf(segment.Name), PathOf(name));
        _disk.SyncDirectory(_options.Directory);
        segment.IsKeptAside = true;
        return name;
    }

    public void Dispose()
    {
        foreach (var segment in Used.Concat(Spare).Concat(Foreign))
        {
            segment.Dispose();
        }
    }

    private void Classify(Segment segment)
    {
        var block = new byte[SegmentHeader.Bytes];
        int length = segment.File.Read(block, 0);
        var state = SegmentHeader.Read(block.AsSpan(0, length), segment.File.Path, out var header);
        HighestSlot = Math.Max(HighestSlot, segment.Slot);
        switch (state)
        {
            case SegmentHeaderState.Valid when header!.Slot == segment.Slot:
                segment.Header = header;
                HighestGeneration = Math.Max(HighestGeneration, header.Generation);
                Used.Add(segment);
                break;
            case SegmentHeaderState.Unused when segment.Length > 0:
            case SegmentHeaderState.Unreadable when segment.Length == _options.SegmentBytes:
                Spare.Add(segment);
                break;
            default:
                Foreign.Add(segment);
                break;
        }
    }

    private void CheckStore()
    {
        if (
            _options.StoreId != Guid.Empty
            && Used.Count > 0
            && Used.TrueForAll(segment => segment.Header!.StoreId != _options.StoreId)
        )
        {
            throw new ForeignJournalException(Used[0].File.Path);
        }

        if (Used.Find(segment => segment.Header!.StoreId != Used[^1].Header!.StoreId) is { } stranger)
        {
            throw new JournalFormatException(
                $"{stranger.File.Path} belongs to another store than {Used[^1].File.Path}: two journals were "
                    + $"mixed in one directory. Move the files of one of them away."
            );
        }
    }

    private void BindNote()
    {
        // If no segment exists, a note of any store counts: it proves that a segment existed.
        if (Used.Count > 0)
        {
            Note.Bind(Used[^1].Header!.StoreId);
        }

        HighestGeneration = Math.Max(HighestGeneration, Note.Generation);
    }

    /// <summary>
    /// Finds a newest segment whose header was damaged: its frames have a higher generation than any header. A torn
    /// first write looks similar, but contains frames of only one journal write.
    /// </summary>
    private void FindOrphan()
    {
        long newest = NewestGeneration;
        foreach (var segment in Spare.Concat(Used))
        {
            // A file with a valid header can contain newer frames only if the device lost a header write, so reading
            // its first block suffices.
            bool hasUnreadableHeader = segment.Header is null && !IsUnused(segment);
            long to = hasUnreadableHeader
                ? segment.Length
                : Math.Min(segment.Length, FrameLayout.FirstFrameOffset + FrameLayout.BlockBytes);
            long firstWrite = 0;
            foreach (var (_, header) in FrameScan.HeadersAtBlocks(segment, FrameLayout.FirstFrameOffset, to))
            {
                if (header.Generation <= newest)
                {
                    continue;
                }

                Orphan = segment;
                HighestGeneration = Math.Max(HighestGeneration, header.Generation);
                firstWrite = firstWrite == 0 ? header.Write : firstWrite;
                OrphanHoldsLaterWrite |= header.Write != firstWrite;
            }
        }
    }

    // Whether the first block contains only zeros.
    private static bool IsUnused(Segment segment)
    {
        Span<byte> block = stackalloc byte[SegmentHeader.Bytes];
        int length = segment.File.Read(block, offset: 0);
        return !block[..length].ContainsAnyExcept((byte)0);
    }

    private string FreeAsideName(string name)
    {
        int number = 1;
        while (_disk.Exists(PathOf(SegmentName.Aside(name, number))))
        {
            number++;
        }

        return SegmentName.Aside(name, number);
    }

    private string PathOf(string name) => Path.Join(_options.Directory, name);
}
