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
                return Segments.Count == 0 ? null : Segments[^1];
            }
        }
    }

    /// <summary>Guards the list of segments and the map; never held across disk I/O.</summary>
    public Lock Gate { get; } = new();

    /// <summary>Segments in use, oldest first; the last one is being written.</summary>
    public List<Segment> Segments { get; } = [];

    /// <summary>Segments of a discarded log that readers may still use. Guarded by <see cref="Gate"/>.</summary>
    public List<Segment> Discarded { get; } = [];

    /// <summary>The log that the durable frames form.</summary>
    public required LogMap Map { get; set; }

    /// <summary>
    /// Number of the last reset, which replaced the log by an installed snapshot; each segment header repeats it. The
    /// manifest contains the number until the reset for its snapshot is complete.
    /// </summary>
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
        long bytesWithHeader = FrameLayout.FirstFrameOffset + bytes;
        var newest = Newest!;
        bool startsSegment = newest.End + bytes > newest.Length;
        bool isOversized = bytesWithHeader > options.SegmentBytes;
        var segment = startsSegment ? TakeNextSegment(isOversized, bytesWithHeader) : newest;
        long firstOffset = startsSegment ? FrameLayout.FirstFrameOffset : segment.End;
        long writeNumber = LastWrite + 1;

        // The last argument is an upper bound: without a segment header the write is shorter.
        _stream.Begin(segment.File, startsSegment ? 0 : firstOffset, bytesWithHeader);
        if (startsSegment)
        {
            _stream.Add(segment.Header!);
        }

        // Landmarks are votes, configurations and truncations. Each header contains their count so far.
        int landmarks = segment.Landmarks;
        for (int i = 0; i < frames.Length; i++)
        {
            _stream.Add(FrameHeaderOf(frames, i, segment, writeNumber, ref landmarks), frames[i].Payload.Span);
        }

        _stream.PadToBlock();
        _stream.Sync(); // the write now survives a power cut, unless it began an oversized segment
        if (startsSegment && isOversized)
        {
            segment = pool.Publish(segment); // an oversized segment survives a power cut only once it has its name
        }

        lock (Gate)
        {
            Register(frames, segment, firstOffset, writeNumber); // the write becomes part of the log
        }
    }

    /// <summary>
    /// Starts a segment that contains only its header, durably. Bytes after the log's end in the previous segment are
    /// never read again.
    /// </summary>
    public void BeginSegment()
    {
        var segment = TakeNextSegment(isOversized: false, options.SegmentBytes);
        _stream.Begin(segment.File, offset: 0, SegmentHeader.Bytes);
        _stream.Add(segment.Header!);
        _stream.Sync();

        Segment? empty = null;
        lock (Gate)
        {
            if (Segments.Count > 0 && !Segments[^1].HasFrames)
            {
                empty = Segments[^1];
                Segments.RemoveAt(Segments.Count - 1);
            }

            Segments.Add(segment);
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
        segment.Header = SegmentHeaderOf(segment, map, reset.Mark, previousGeneration: 0, previousEnd: 0);
        LastGeneration = segment.Generation;
        _stream.Begin(segment.File, offset: 0, SegmentHeader.Bytes);
        _stream.Add(segment.Header);
        _stream.Sync(); // the old log is now discarded

        lock (Gate)
        {
            Discarded.AddRange(Segments);
            Segments.Clear();
            Segments.Add(segment);
            Map = map;
            ResetMark = reset.Mark;
        }
    }

    /// <summary>
    /// Records the newest segment, which is durable, and the last write in the note, unless the note names that segment
    /// already. The note is a file beside the segments that names the newest one (<see cref="NewestNote"/>). Called
    /// outside the commit path, on one thread at a time, not the writing thread.
    /// </summary>
    public void NoteNewest()
    {
        NotedEnd end;
        lock (Gate)
        {
            end = new NotedEnd(Segments[^1].Generation, LastWrite, Map.Position.Index);
        }

        if (!note.Has(end.Generation))
        {
            note.Write(end);
        }
    }

    /// <summary>
    /// Records a durable write and the newest segment in the note (<see cref="NewestNote"/>), while the journal opens
    /// or stops cleanly.
    /// </summary>
    /// <param name="writeNumber">Number of the last write before the clean-stop frame, if there is one. Losing only
    /// that frame is harmless.</param>
    public void NoteEnd(long writeNumber) =>
        note.Write(new NotedEnd(Newest!.Generation, writeNumber, Map.Position.Index));

    /// <summary>See <see cref="NodeJournal.Progress"/>.</summary>
    public long Progress => _stream.Progress;

    /// <summary>
    /// Writes and syncs the bytes of the last write again, because they may be only in the system's page cache.
    /// </summary>
    /// <param name="lastWriteOffset">Offset of the last write. If it is the first of its segment, the segment's header
    /// is rewritten too.</param>
    public void RewriteEnd(long lastWriteOffset) =>
        _stream.Rewrite(
            Segments[^1].File,
            lastWriteOffset == FrameLayout.FirstFrameOffset ? 0 : lastWriteOffset,
            Segments[^1].End
        );

    public void Dispose()
    {
        foreach (var segment in Segments.Concat(Discarded))
        {
            segment.Dispose();
        }
    }

    /// <summary>Returns the header of <paramref name="frames"/>[<paramref name="i"/>].</summary>
    /// <param name="frames">The frames of the write.</param>
    /// <param name="i">The frame's position in the write.</param>
    /// <param name="segment">The segment that is written to.</param>
    /// <param name="writeNumber">The write's number.</param>
    /// <param name="landmarks">The number of votes, configurations and truncations in the segment, which each header
    /// repeats; increased if this frame is one.</param>
    private FrameHeader FrameHeaderOf(
        ReadOnlySpan<JournalFrame> frames,
        int i,
        Segment segment,
        long writeNumber,
        ref int landmarks
    )
    {
        var header = FrameHeader.Of(
            frames[i],
            i == frames.Length - 1 ? FrameFlags.EndOfWrite : FrameFlags.None,
            segment.Generation,
            writeNumber,
            landmarks
        );
        landmarks += header.IsLandmark ? 1 : 0;
        header = header with { Landmarks = landmarks };
        // Votes, starts and clean stops have no position of their own: they repeat the log's end, for the checks of
        // recovery.
        return header.RecordsLogEnd ? header with { Index = Map.Position.Index, Term = Map.Position.Term } : header;
    }

    private Segment TakeNextSegment(bool isOversized, long length)
    {
        var segment = isOversized ? pool.BeginOversized(length) : pool.Take();
        segment.Header = NextHeader(segment);
        LastGeneration = segment.Generation;
        return segment;
    }

    private SegmentHeader NextHeader(Segment segment)
    {
        var last = Newest;
        if (last is { HasFrames: true })
        {
            return SegmentHeaderOf(segment, Map, ResetMark, last.Generation, last.End);
        }

        // If the newest segment has no frames, the new segment replaces it, so its header links to the segment before.
        // Generation and end of the linked segment are 0 if there is none.
        return SegmentHeaderOf(
            segment,
            Map,
            ResetMark,
            previousGeneration: last?.Header!.PreviousGeneration ?? 0,
            previousEnd: last?.Header!.PreviousEnd ?? 0
        );
    }

    private SegmentHeader SegmentHeaderOf(
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

    private void Register(ReadOnlySpan<JournalFrame> frames, Segment segment, long firstOffset, long writeNumber)
    {
        if (Segments[^1] != segment)
        {
            Segments.Add(segment);
        }

        long offset = firstOffset;
        int landmarks = segment.Landmarks;
        for (int i = 0; i < frames.Length; i++)
        {
            var header = FrameHeaderOf(frames, i, segment, writeNumber, ref landmarks);
            Map.Append(segment, header, frames[i].Payload, offset);
            offset = FrameLayout.OffsetAfter(offset, header.Type, header.PayloadLength, header.EndsWrite);
        }

        segment.End = offset;
        segment.Landmarks = landmarks;
        LastWrite = writeNumber;
    }
}
