using Rookery.Platform;

namespace Rookery.Journal;

/// <summary>The way in: places each write in a segment, makes it durable, and only then lets it count.</summary>
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
    /// The segment that is being written, null before the first. Under the gate: a release on another thread moves the
    /// list up while it takes segments from its front, and a write that looked meanwhile could go to the segment
    /// before.
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

    /// <summary>
    /// Guards the list of segments and the map against readers and releases; never held across disk work.
    /// </summary>
    public Lock Gate { get; } = new();

    /// <summary>Segments in use, oldest first; the last one is being written.</summary>
    public List<Segment> Live { get; } = [];

    /// <summary>Segments of a log that was given up, which readers may still hold. Under the gate.</summary>
    public List<Segment> GivenUp { get; } = [];

    /// <summary>What the durable frames add up to.</summary>
    public required LogMap Map { get; set; }

    /// <summary>The mark of the last time that the journal began anew; each header repeats it.</summary>
    public required long RebaseMark { get; set; }

    /// <summary>The number of the last durable write, or a higher one that no earlier process has used.</summary>
    public required long LastWrite { get; set; }

    /// <summary>No segment was ever used under a higher incarnation.</summary>
    public required long LastIncarnation { get; set; }

    /// <summary>Writes frames as one journal write and syncs it.</summary>
    public void Append(ReadOnlySpan<JournalFrame> frames)
    {
        long bytes = FrameLayout.BytesOf(frames);
        var newest = Newest!;
        bool begins = newest.End + bytes > newest.Length;
        bool isOversized = FrameLayout.FirstFrameOffset + bytes > options.SegmentBytes;
        var segment = begins ? BeginNext(isOversized, FrameLayout.FirstFrameOffset + bytes) : newest;
        long start = begins ? FrameLayout.FirstFrameOffset : segment.End;
        long write = LastWrite + 1;

        _stream.Begin(segment.File, begins ? 0 : start, FrameLayout.FirstFrameOffset + bytes);
        if (begins)
        {
            _stream.Add(segment.Header!);
        }

        int landmarks = segment.Landmarks;
        for (int i = 0; i < frames.Length; i++)
        {
            _stream.Add(HeaderOf(frames, i, segment, write, ref landmarks), frames[i].Payload.Span);
        }

        _stream.PadToBlock();
        _stream.Sync(); // from here the write survives a power cut
        if (begins && isOversized)
        {
            segment = pool.Publish(segment); // or from here, when it is a file of its own
        }

        lock (Gate)
        {
            Count(frames, segment, start, write); // only now does this node answer for it
        }
    }

    /// <summary>
    /// Begins a segment with nothing but its header, durably. What the segment before it holds beyond its end can never
    /// be read again.
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
    /// Gives up all there is and goes on behind an installed state, in a segment that has none before it. One header
    /// makes it so: a truncation leaves the old log or the new one, with the vote in either.
    /// </summary>
    public void BeginAnew(in JournalRebase rebase)
    {
        var map = LogMap.Behind(rebase, Map);
        var segment = pool.Take();
        segment.Header = HeaderOf(segment, map, rebase.Mark, previousIncarnation: 0, previousEnd: 0);
        LastIncarnation = segment.Incarnation;
        _stream.Begin(segment.File, 0, SegmentHeader.Bytes);
        _stream.Add(segment.Header);
        _stream.Sync(); // from here the log before it does not count

        lock (Gate)
        {
            GivenUp.AddRange(Live);
            Live.Clear();
            Live.Add(segment);
            Map = map;
            RebaseMark = rebase.Mark;
        }
    }

    /// <summary>
    /// Notes the newest segment, which is durable, unless it is noted. Off the commit path: one thread at a time, and
    /// not the one that writes.
    /// </summary>
    public void NoteNewest() => note.Write(Newest!.Incarnation);

    /// <summary>See <see cref="NodeJournal.Progress"/>.</summary>
    public long Progress => _stream.Progress;

    /// <summary>
    /// Makes sure that the bytes of the last write are on the device and not only in the memory of the system.
    /// </summary>
    /// <param name="lastWrite">Where the last write begins; the first write of a segment brought its header.</param>
    public void RewriteEnd(long lastWrite) =>
        _stream.Rewrite(Live[^1].File, lastWrite == FrameLayout.FirstFrameOffset ? 0 : lastWrite, Live[^1].End);

    public void Dispose()
    {
        foreach (var segment in Live.Concat(GivenUp))
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
            segment.Incarnation,
            write,
            landmarks
        );
        landmarks += header.IsLandmark ? 1 : 0;
        return header.TellsEnd
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
        LastIncarnation = segment.Incarnation;
        return segment;
    }

    private SegmentHeader NextHeader(Segment segment)
    {
        var last = Newest;
        bool linksToLast = last is { HasFrames: true };
        return HeaderOf(
            segment,
            Map,
            RebaseMark,
            linksToLast ? last!.Incarnation : last?.Header!.PreviousIncarnation ?? 0,
            linksToLast ? last!.End : last?.Header!.PreviousEnd ?? 0
        );
    }

    private SegmentHeader HeaderOf(
        Segment segment,
        LogMap map,
        long rebaseMark,
        long previousIncarnation,
        long previousEnd
    ) =>
        new()
        {
            Slot = segment.Slot,
            SegmentBytes = segment.Length,
            Incarnation = LastIncarnation + 1,
            ClusterId = clusterId,
            StoreId = storeId,
            FirstWrite = LastWrite + 1,
            PreviousIncarnation = previousIncarnation,
            PreviousEnd = previousEnd,
            Position = map.Position,
            RebaseMark = rebaseMark,
            Lost = map.Lost,
            Vote = map.Vote,
            ConfigurationIndex = map.ConfigurationIndex,
            Configuration = map.Configuration,
        };

    private void Count(ReadOnlySpan<JournalFrame> frames, Segment segment, long start, long write)
    {
        if (Live[^1] != segment)
        {
            Live.Add(segment);
        }

        long offset = start;
        int landmarks = segment.Landmarks;
        for (int i = 0; i < frames.Length; i++)
        {
            var header = HeaderOf(frames, i, segment, write, ref landmarks);
            Map.Append(segment, header, frames[i].Payload, offset);
            offset = FrameLayout.After(offset, header.Type, header.PayloadLength, header.EndsWrite);
        }

        segment.End = offset;
        segment.Landmarks = landmarks;
        LastWrite = write;
    }
}
