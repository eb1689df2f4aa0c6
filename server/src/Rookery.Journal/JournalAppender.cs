using Rookery.Platform;

namespace Rookery.Journal;

/// <summary>Appends writes to segments and syncs them. A write becomes part of the log only after its sync.</summary>
internal sealed class JournalAppender(
    JournalOptions options,
    SegmentPool pool,
    IIoRecorder io,
    NewestNote note,
    Guid clusterId,
    Guid storeId
) : IDisposable
{
    private readonly SegmentWriteStream _stream = new(io);

    /// <summary>
    /// The segment that is being written; null before the first. Reads the list under <see cref="Gate"/>, because
    /// another thread may remove released segments from its front.
    /// </summary>
    private Segment? Newest
    {
        get
        {
            lock (Gate)
            {
                return Live.Count == 0 ? null : Live[^1];
            }
        }
    }

    /// <summary>Guards the list of segments and the map; never held across disk I/O.</summary>
    public Lock Gate { get; } = new();

    /// <summary>Segments in use, oldest first; the last one is being written.</summary>
    public List<Segment> Live { get; } = [];

    /// <summary>Segments of a discarded log that readers may still use. Guarded by <see cref="Gate"/>.</summary>
    public List<Segment> Discarded { get; } = [];

    /// <summary>The log that the durable frames form.</summary>
    public required LogMap Map { get; set; }

    /// <summary>Mark of the last reset of the journal; each segment header repeats it.</summary>
    public required long ResetMark { get; set; }

    /// <summary>
    /// Number of the last durable write. After a start it may be higher, so that no write number is used twice.
    /// </summary>
    public required long LastWrite { get; set; }

    /// <summary>The highest generation ever used for a segment.</summary>
    public required long LastGeneration { get; set; }

    /// <summary>Appends frames as one journal write and syncs it.</summary>
    public void Append(ReadOnlySpan<JournalFrame> frames)
    {
        long bytes = FrameLayout.BytesOf(frames);
        var newest = Newest!;
        bool begins = newest.End + bytes > newest.Length;
        bool isOversized = FrameLayout.FirstFrameOffset + bytes > options.SegmentBytes;
        var segment = begins ? BeginNext(isOversized, FrameLayout.FirstFrameOffset + bytes) : newest;
        long start = begins ? FrameLayout.FirstFrameOffset : segment.End;
        long write = LastWrite + 1;

        // The last argument is an upper bound: without a segment header the write is shorter.
        _stream.Begin(segment.File, begins ? 0 : start, FrameLayout.FirstFrameOffset + bytes);
        if (begins)
        {
            _stream.Add(segment.Header!);
        }

        // Landmarks are votes, configurations and truncations. Each frame header counts them.
        int landmarks = segment.Landmarks;
        for (int i = 0; i < frames.Length; i++)
        {
            _stream.Add(HeaderOf(frames, i, segment, write, ref landmarks), frames[i].Payload.Span);
        }

        _stream.PadToBlock();
        _stream.Sync(); // the write now survives a power cut
        if (begins && isOversized)
        {
            segment = pool.Publish(segment); // an oversized segment survives a power cut only once it has its name
        }

        lock (Gate)
        {
            Register(frames, segment, start, write); // the write becomes part of the log
        }
    }

    /// <summary>
    /// Starts a segment that contains only its header, durably. Bytes after the log's end in the previous segment are
    /// never read again.
    /// </summary>
    public void BeginSegment()
    {
        var segment = BeginNext(isOversized: false, options.SegmentBytes);
        _stream.Begin(segment.File, 0, SegmentHeader.Bytes);
        _stream.Add(segment.Header!);
        _stream.Sync();

        Segment? empty = null;
        lock (Gate)
        {
            if (Live.Count > 0 && !Live[^1].HasFrames)
            {
                empty = Live[^1];
                Live.RemoveAt(Live.Count - 1);
            }

            Live.Add(segment);
        }

        if (empty is not null)
        {
            pool.Release(empty);
        }
    }

    /// <summary>
    /// Discards the log and continues after an installed snapshot, in a segment without a predecessor. The write of its
    /// header is atomic: a power cut leaves either the old log or the new one. The vote is kept in both.
    /// </summary>
    public void Reset(in JournalReset reset)
    {
        var map = LogMap.AfterReset(reset, Map);
        var segment = pool.Take();
        segment.Header = HeaderOf(segment, map, reset.Mark, previousGeneration: 0, previousEnd: 0);
        LastGeneration = segment.Generation;
        _stream.Begin(segment.File, 0, SegmentHeader.Bytes);
        _stream.Add(segment.Header);
        _stream.Sync(); // the old log is now discarded

        lock (Gate)
        {
            Discarded.AddRange(Live);
            Live.Clear();
            Live.Add(segment);
            Map = map;
            ResetMark = reset.Mark;
        }
    }

    /// <summary>
    /// Records the newest segment, which is durable, and the last write in the note, unless the note names that segment
    /// already. Called outside the commit path, on one thread at a time, not the writing thread.
    /// </summary>
    public void NoteNewest()
    {
        NotedEnd end;
        lock (Gate)
        {
            end = new NotedEnd(Live[^1].Generation, LastWrite, Map.Position.Index);
        }

        if (!note.Has(end.Generation))
        {
            note.Write(end);
        }
    }

    /// <summary>
    /// Records a durable write and the newest segment in the note, while opening or at the clean stop.
    /// </summary>
    /// <param name="write">Number of the last write with anything that must not be lost.</param>
    public void NoteEnd(long write) => note.Write(new NotedEnd(Newest!.Generation, write, Map.Position.Index));

    /// <summary>See <see cref="NodeJournal.Progress"/>.</summary>
    public long Progress => _stream.Progress;

    /// <summary>
    /// Writes and syncs the bytes of the last write again, because they may be only in the system's page cache.
    /// </summary>
    /// <param name="lastWrite">Offset of the last write. If it is the first of its segment, the segment's header is
    /// rewritten too.</param>
    public void RewriteEnd(long lastWrite) =>
        _stream.Rewrite(Live[^1].File, lastWrite == FrameLayout.FirstFrameOffset ? 0 : lastWrite, Live[^1].End);

    public void Dispose()
    {
        foreach (var segment in Live.Concat(Discarded))
        {
            segment.Dispose();
        }
    }

    private FrameHeader HeaderOf(
        ReadOnlySpan<JournalFrame> frames,
        int i,
        Segment segment,
        long write,
        ref int landmarks
    )
    {
        var header = FrameHeader.Of(
            frames[i],
            i == frames.Length - 1 ? FrameFlags.EndOfWrite : FrameFlags.None,
            segment.Generation,
            write,
            landmarks
        );
        landmarks += header.IsLandmark ? 1 : 0;
        return header.RecordsLogEnd
            ? header with
            {
                Landmarks = landmarks,
                Index = Map.Position.Index,
                Term = Map.Position.Term,
            }
            : header with
            {
                Landmarks = landmarks,
            };
    }

    private Segment BeginNext(bool isOversized, long length)
    {
        var segment = isOversized ? pool.BeginOversized(length) : pool.Take();
        segment.Header = NextHeader(segment);
        LastGeneration = segment.Generation;
        return segment;
    }

    private SegmentHeader NextHeader(Segment segment)
    {
        var last = Newest;
        bool linksToLast = last is { HasFrames: true };
        return HeaderOf(
            segment,
            Map,
            ResetMark,
            linksToLast ? last!.Generation : last?.Header!.PreviousGeneration ?? 0,
            linksToLast ? last!.End : last?.Header!.PreviousEnd ?? 0
        );
    }

    private SegmentHeader HeaderOf(
        Segment segment,
        LogMap map,
        long resetMark,
        long previousGeneration,
        long previousEnd
    ) =>
        new()
        {
            Slot = segment.Slot,
            SegmentBytes = segment.Length,
            Generation = LastGeneration + 1,
            ClusterId = clusterId,
            StoreId = storeId,
            FirstWrite = LastWrite + 1,
            PreviousGeneration = previousGeneration,
            PreviousEnd = previousEnd,
            Position = map.Position,
            ResetMark = resetMark,
            Lost = map.Lost,
            Vote = map.Vote,
            ConfigurationIndex = map.ConfigurationIndex,
            Configuration = map.Configuration,
        };

    private void Register(ReadOnlySpan<JournalFrame> frames, Segment segment, long start, long write)
    {
        if (Live[^1] != segment)
        {
            Live.Add(segment);
        }

        long offset = start;
        // Landmarks are votes, configurations and truncations. Each frame header counts them.
        int landmarks = segment.Landmarks;
        for (int i = 0; i < frames.Length; i++)
        {
            var header = HeaderOf(frames, i, segment, write, ref landmarks);
            Map.Append(segment, header, frames[i].Payload, offset);
            offset = FrameLayout.OffsetAfter(offset, header.Type, header.PayloadLength, header.EndsWrite);
        }

        segment.End = offset;
        segment.Landmarks = landmarks;
        LastWrite = write;
    }
}
