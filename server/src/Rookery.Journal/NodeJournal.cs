using Rookery.Platform;

namespace Rookery.Journal;

/// <summary>
/// The journal of a node: the log of all its databases on disk. Only the journal is synced before a write is
/// acknowledged.
/// </summary>
/// <remarks>
/// <para>One thread at a time writes. <see cref="PrepareSpare"/>, <see cref="ReleaseThrough"/> and readers may run on
/// other threads.</para>
/// <para>After a failed write or sync the journal is latched: it refuses every further write until it is opened again,
/// because the system may have dropped the unsynced bytes.</para>
/// <para>The note is a file beside the segments that names the newest of them (<see cref="NewestNote"/>).</para>
/// </remarks>
public sealed class NodeJournal : IDisposable
{
    private readonly JournalAppender _appender;
    private readonly SegmentPool _pool;
    private readonly IDisposable _directoryLock;
    private readonly string _directory;
    private readonly int _segmentBytes;

    // Why the journal is latched; null while it accepts writes.
    private string? _latch;
    private Exception? _latchCause;
    private bool _isStopped;

    // Indexes given to PinAbove whose pins are not yet disposed.
    private readonly List<long> _pinnedAbove = [];
    private long _requestedThrough; // the highest index given to ReleaseThrough
    private long _releasedThrough; // at most _requestedThrough; pins keep it lower
    private IReadOnlyList<RecoveredEntry> _recovered;

    internal NodeJournal(
        JournalAppender appender,
        SegmentPool pool,
        JournalOptions options,
        IDisposable directoryLock,
        JournalRecovery recovery,
        List<RecoveredEntry> recovered
    )
    {
        _appender = appender;
        _pool = pool;
        _directoryLock = directoryLock;
        _directory = options.Directory;
        _segmentBytes = options.SegmentBytes;
        Recovery = recovery;
        _recovered = recovered;
    }

    /// <summary>The findings and actions of the recovery.</summary>
    public JournalRecovery Recovery { get; }

    /// <summary>The lowest index that can be read.</summary>
    public long FirstIndex => _appender.Map.FirstIndex;

    /// <summary>Position before <see cref="FirstIndex"/>.</summary>
    public JournalPosition Base => _appender.Map.Base;

    /// <summary>
    /// A segment that this node no longer needs (<see cref="ReleaseThrough"/>) is retained while the segments after it
    /// total less than this many bytes, so that lagging members can catch up. Opening the journal retains no segment
    /// that recovery does not need.
    /// </summary>
    public long RetainedBytes { get; set; }

    /// <summary>
    /// A number that rises with each piece written to disk and each sync. It distinguishes a slow disk from a hanging
    /// one.
    /// </summary>
    public long Progress => _appender.Progress;

    /// <summary>The highest durable index; the index before <see cref="FirstIndex"/> if there is no entry.</summary>
    public long LastIndex => _appender.Map.Position.Index;

    /// <summary>The term at <see cref="LastIndex"/>.</summary>
    public long LastTerm => _appender.Map.Position.Term;

    /// <summary>Number of operations in all entries. The next operation gets the following etag.</summary>
    public long OperationsBeforeNext => _appender.Map.Position.Operations;

    /// <summary>Number of the last durable write; each write raises it by at least one.</summary>
    public long LastWrite => _appender.LastWrite;

    /// <summary>
    /// Index through which the log is known to be committed, according to its <see cref="FrameType.Committed"/> frames;
    /// 0 without readable ones. At most <see cref="LastIndex"/>. Later entries may be committed too.
    /// </summary>
    public long CommittedIndex => Math.Min(_appender.Map.CommittedIndex, LastIndex);

    /// <summary>Payload of the last vote; empty if there is none.</summary>
    public ReadOnlyMemory<byte> Vote => _appender.Map.Vote;

    /// <summary>Payload of the last configuration that no truncation removed; empty if there is none.</summary>
    public ReadOnlyMemory<byte> Configuration => _appender.Map.Configuration;

    /// <summary>
    /// Returns the configuration in force after <paramref name="index"/>: its own index (0 if there is none) and its
    /// payload. The index must be at least the index that the manifest had when the journal was opened, because the
    /// journal may have no earlier configurations. Thread-safe.
    /// </summary>
    public (long Index, ReadOnlyMemory<byte> Payload) ConfigurationAt(long index)
    {
        lock (_appender.Gate)
        {
            return _appender.Map.ConfigurationAt(index);
        }
    }

    /// <summary>Total length of the segments that are in use or pinned by a reader. Thread-safe.</summary>
    public long LiveBytes
    {
        get
        {
            lock (_appender.Gate)
            {
                return _appender.Segments.Concat(_appender.Discarded).Sum(static segment => segment.Length);
            }
        }
    }

    /// <summary>
    /// Total length of prepared segments, in bytes: the journal can still write to them, although the file system does
    /// not count them as free. Thread-safe.
    /// </summary>
    public long ReadyBytes => (long)_pool.Ready * _segmentBytes;

    /// <summary>
    /// Returns the total length of the segments that a start would read if the manifest were at
    /// <paramref name="index"/>. The host flushes when this grows, so that recovery stays short. Segments that only a
    /// reader pins do not count. Thread-safe.
    /// </summary>
    public long BytesAbove(long index)
    {
        lock (_appender.Gate)
        {
            var live = _appender.Segments;
            long bytes = 0;
            for (int i = live.Count - 1; i >= 0; i--)
            {
                // The header of the next segment contains the position at which this segment ends.
                bool isNewest = i == live.Count - 1;
                if (!isNewest && live[i + 1].Header!.Position.Index <= index)
                {
                    break;
                }

                bytes += live[i].Length;
            }

            return bytes;
        }
    }

    /// <summary>Returns the length of a write with one frame: whole blocks.</summary>
    public static long BytesOf(in JournalFrame frame) => FrameLayout.BytesOf([frame]);

    /// <summary>
    /// Makes a commit frame: a frame for the end of a write, which records that the log is committed through an
    /// index.
    /// </summary>
    public static JournalFrame MakeCommitFrame(long index) =>
        new(FrameType.Committed, index, Term: 0, OperationsBefore: 0, OperationCount: 0, Payload: default);

    /// <summary>
    /// Returns whether a commit frame fits into the padding that a write of <paramref name="frames"/> has anyway.
    /// </summary>
    public static bool HasRoomForCommitFrame(ReadOnlySpan<JournalFrame> frames)
    {
        long filled = FrameLayout.FilledBytesOf(frames);
        return FrameLayout.RoundUp(filled) - filled >= FrameHeader.Bytes;
    }

    /// <summary>
    /// Opens the journal in a directory, or creates one in an empty directory, and recovers it. On return all its
    /// frames are durable.
    /// </summary>
    /// <param name="disk">The disk.</param>
    /// <param name="options">Location and file sizes.</param>
    /// <param name="knowledge">Facts from outside the journal, which decide whether a broken end is a torn write or
    /// damage.</param>
    /// <param name="io">Records every write and sync.</param>
    /// <exception cref="JournalDamagedException">Durable frames are missing or damaged, and no peer can resend
    /// them.</exception>
    /// <exception cref="JournalFormatException">A newer format version or frame type, or files of two
    /// stores.</exception>
    /// <exception cref="DiskException">A disk operation failed; <see cref="Errno.WouldBlock"/> if another process uses
    /// the directory.</exception>
    public static NodeJournal Open(IDisk disk, JournalOptions options, JournalKnowledge knowledge, IIoRecorder io) =>
        JournalOpening.Open(disk, options, knowledge, io, newJournalStart: default);

    /// <summary>Returns whether a directory contains segments.</summary>
    public static bool ExistsAt(IDisk disk, string directory) =>
        disk.Exists(directory) && disk.List(directory).Any(static name => SegmentName.TryParse(name, out _));

    /// <summary>
    /// Creates a journal that continues after <paramref name="start"/>, in a directory that contains none.
    /// </summary>
    /// <exception cref="DiskException">With <see cref="Errno.NotEmpty"/> if the directory contains a
    /// journal.</exception>
    public static void Create(IDisk disk, JournalOptions options, JournalPosition start, IIoRecorder io)
    {
        disk.CreateDirectory(options.Directory);
        if (ExistsAt(disk, options.Directory))
        {
            throw new DiskException("create a journal in", options.Directory, Errno.NotEmpty);
        }

        JournalOpening.Open(disk, options, knowledge: default, io, start).Dispose();
    }

    /// <summary>
    /// Makes frames durable, with one write (in pieces of 1 MiB if it is larger) and one sync. After a truncation that
    /// removes a configuration, the remaining frames take a second write, in a new segment. On return all frames
    /// survive a power cut. If it throws, their durability is unknown and the journal is latched.
    /// </summary>
    /// <param name="frames">In this order: at most one vote, at most one truncation, entries with consecutive indexes,
    /// at most one commit frame.</param>
    /// <exception cref="JournalLatchedException">This or an earlier write or sync failed.</exception>
    public void Write(ReadOnlySpan<JournalFrame> frames)
    {
        ThrowIfLatched();
        Invariant.Holds(!_isStopped, "no write follows the clean stop");
        FrameRules.Check(frames, _appender.Map);
        int truncation = FrameRules.TruncationIn(frames);
        if (truncation >= 0 && frames[truncation].Index < _appender.Map.ConfigurationIndex)
        {
            // Start a segment whose header contains the configuration that the truncation restores, because the segment
            // with that configuration may be released. The truncation is a write of its own: a crash before the second
            // write loses only uncommitted entries.
            WriteOrLatch(frames[..(truncation + 1)], beginsSegment: true);
            frames = frames[(truncation + 1)..];
        }

        if (!frames.IsEmpty)
        {
            WriteOrLatch(frames);
        }
    }

    /// <summary>
    /// Discards the whole log except for the vote, and continues after an installed snapshot. The manifest already
    /// contains this snapshot and the number of this reset (<see cref="JournalReset.Mark"/>) durably. On return the
    /// reset survives a power cut. If it throws, the journal is latched, and the next opening resets the journal,
    /// because the manifest's number differs from the one in the newest segment's header.
    /// </summary>
    /// <remarks>Call it on the writing thread. Open readers continue with the old log.</remarks>
    /// <exception cref="JournalLatchedException">This or an earlier write or sync failed.</exception>
    public void ResetTo(in JournalReset reset)
    {
        ThrowIfLatched();
        Invariant.Holds(!_isStopped, "no write follows the clean stop");
        Invariant.Holds(reset.Mark > _appender.ResetMark, "a journal is reset once for each installed snapshot");
        Invariant.Holds(
            reset.Configuration.Length <= SegmentHeader.MaxConfigurationBytes,
            "a configuration fits into a segment header"
        );
        ResetOrLatch(reset);
    }

    /// <summary>
    /// Returns the entries and truncations that recovery read, in order, and releases them: later calls return none.
    /// </summary>
    public IReadOnlyList<RecoveredEntry> TakeRecovered()
    {
        var recovered = _recovered;
        _recovered = [];
        return recovered;
    }

    /// <summary>
    /// Returns a reader that starts at <paramref name="fromIndex"/>, which must be between <see cref="FirstIndex"/> and
    /// the index after <see cref="LastIndex"/>.
    /// </summary>
    public JournalReader Read(long fromIndex)
    {
        lock (_appender.Gate)
        {
            ArgumentOutOfRangeException.ThrowIfLessThan(fromIndex, FirstIndex);
            ArgumentOutOfRangeException.ThrowIfGreaterThan(fromIndex, LastIndex + 1);
            return new JournalReader(_appender, fromIndex);
        }
    }

    /// <summary>
    /// Returns a reader of all entries from <see cref="FirstIndex"/> on. Thread-safe, even while segments are released.
    /// </summary>
    public JournalReader Read()
    {
        lock (_appender.Gate)
        {
            return new JournalReader(_appender, FirstIndex);
        }
    }

    /// <summary>
    /// Releases for reuse the segments that contain only entries at or below <paramref name="index"/>. The manifest
    /// must be durable at that index or a later one. Thread-safe.
    /// </summary>
    /// <exception cref="DiskException">A file that is no longer needed could not be deleted; the journal
    /// continues.</exception>
    public void ReleaseThrough(long index)
    {
        lock (_appender.Gate)
        {
            _requestedThrough = Math.Max(_requestedThrough, index);
            long unpinned =
                _pinnedAbove.Count == 0 ? _requestedThrough : Math.Min(_requestedThrough, _pinnedAbove.Min());
            _releasedThrough = Math.Max(_releasedThrough, unpinned);
        }

        while (NextReleased() is { } segment)
        {
            _pool.Release(segment);
        }
    }

    /// <summary>
    /// Pins all entries above <paramref name="index"/> until the result is disposed. None of these entries may have
    /// been released before the call. Used while a member receives a snapshot at that index, because it then needs the
    /// later entries. Thread-safe.
    /// </summary>
    public IDisposable PinAbove(long index)
    {
        lock (_appender.Gate)
        {
            _pinnedAbove.Add(index);
        }

        return new PinnedEntries(this, index);
    }

    /// <summary>
    /// Records the newest segment in the note, and prepares one segment if too few are ready. Preparing writes zeros to
    /// the whole segment, so call this outside the commit path. Any thread, one at a time.
    /// </summary>
    /// <returns>Whether a segment was prepared. If so, call again.</returns>
    /// <exception cref="DiskException">The disk is full or failed. The journal continues; try again later.</exception>
    public bool PrepareSpare()
    {
        ReleaseThrough(0); // releases segments that a reader or PinAbove still pinned when their release was requested
        bool isPrepared = _pool.Prepare();
        _appender.NoteNewest();
        return isPrepared;
    }

    /// <summary>
    /// Writes a clean-stop frame durably, and records in the note where the log ended; no write is possible afterwards.
    /// No other thread may prepare a spare meanwhile.
    /// </summary>
    /// <exception cref="JournalLatchedException">This or an earlier write or sync failed.</exception>
    public void StopCleanly()
    {
        ThrowIfLatched();
        if (_isStopped)
        {
            return;
        }

        // The note does not cover the clean-stop frame, so recovery does not report lost writes if only that frame is
        // damaged.
        long lastWrite = _appender.LastWrite;
        WriteOrLatch([JournalOpening.LocalFrame(FrameType.CleanStop, _appender.Map)]);
        _isStopped = true;
        JournalOpening.NoteEnd(_appender, lastWrite);
    }

    /// <summary>
    /// Closes the files. Without <see cref="StopCleanly"/> the next opening treats the log's end as possibly torn.
    /// </summary>
    public void Dispose()
    {
        _appender.Dispose();
        _pool.Dispose();
        _directoryLock.Dispose();
    }

    private void WriteOrLatch(ReadOnlySpan<JournalFrame> frames, bool beginsSegment = false)
    {
        // Latched until the write is durable; every exception leaves it latched.
        _latch = "a write did not finish";
        try
        {
            _appender.Append(frames);
            if (beginsSegment)
            {
                _appender.BeginSegment();
            }
        }
        catch (DiskException error)
        {
            LatchAndThrow(error);
        }

        _latch = null;
    }

    private void ResetOrLatch(in JournalReset reset)
    {
        // Latched until the reset is durable; every exception leaves it latched.
        _latch = "its reset did not finish";
        try
        {
            _appender.Reset(reset);
        }
        catch (DiskException error)
        {
            LatchAndThrow(error);
        }

        _latch = null;
    }

    private void LatchAndThrow(DiskException error)
    {
        _latch = error.Message.TrimEnd('.');
        _latchCause = error;
        ThrowIfLatched();
    }

    private void ThrowIfLatched()
    {
        if (_latch is not null)
        {
            throw new JournalLatchedException(
                $"The journal in {_directory} accepts no more writes ({_latch}). Acknowledged writes are "
                    + $"safe; remove the cause and start the node again.",
                _latchCause
            );
        }
    }

    /// <summary>
    /// Removes the oldest segment from the list and returns it, if its entries are released and no reader pins it.
    /// Never removes the segment that is being written. Returns null if no segment can be released.
    /// </summary>
    private Segment? NextReleased()
    {
        lock (_appender.Gate)
        {
            if (_appender.Discarded.Find(static segment => segment.Pins == 0) is { } discarded)
            {
                _appender.Discarded.Remove(discarded);
                return discarded;
            }

            var live = _appender.Segments;
            if (live.Count < 2 || live[0].Pins > 0)
            {
                return null;
            }

            // The header of the next segment contains the position of the last entry of the oldest segment.
            bool isReleased = live[1].Header!.Position.Index <= _releasedThrough;

            // RetainedBytes keeps released segments for members that lag.
            long laterBytes = live.Skip(1).Sum(static segment => segment.Length);
            if (!isReleased || laterBytes < RetainedBytes)
            {
                return null;
            }

            var segment = live[0];
            live.RemoveAt(0);
            _appender.Map.ReleaseBefore(firstRemaining: live[0]);
            return segment;
        }
    }

    private sealed class PinnedEntries(NodeJournal journal, long index) : IDisposable
    {
        private bool _isDisposed;

        public void Dispose()
        {
            lock (journal._appender.Gate)
            {
                if (!_isDisposed)
                {
                    journal._pinnedAbove.Remove(index);
                    _isDisposed = true;
                }
            }
        }
    }
}
