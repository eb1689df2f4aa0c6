using Rookery.Platform;

namespace Rookery.Journal;

/// <summary>
/// The journal of a node: one log for all its databases, and the only thing that is synced before a write is
/// acknowledged.
/// </summary>
/// <remarks>
/// Writes come from one thread at a time. <see cref="PrepareSpare"/>, <see cref="ReleaseThrough"/> and readers may be
/// on other threads.
/// </remarks>
public sealed class NodeJournal : IDisposable
{
    private readonly JournalAppender _appender;
    private readonly SegmentPool _pool;
    private readonly IDisposable _directoryLock;
    private readonly string _directory;
    private readonly int _segmentBytes;
    private string? _latch;
    private Exception? _latchCause;
    private bool _isStopped;
    private readonly List<long> _kept = [];
    private long _releasedThrough;
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

    /// <summary>What opening found and did.</summary>
    public JournalRecovery Recovery { get; }

    /// <summary>The lowest index that can be read.</summary>
    public long FirstIndex => _appender.Map.FirstIndex;

    /// <summary>The log before <see cref="FirstIndex"/>.</summary>
    public JournalPosition Base => _appender.Map.Base;

    /// <summary>
    /// Bytes of segments that stay although they are released, so that a member that was away for a while can be given
    /// their entries. Those that recovery had no use for do not count.
    /// </summary>
    public long KeptBytes { get; set; }

    /// <summary>
    /// Rises with each piece that a write hands to the disk, and with each sync: a sign of life of a slow card.
    /// </summary>
    public long Progress => _appender.Progress;

    /// <summary>The highest index, durable; the index before <see cref="FirstIndex"/> when there is no frame.</summary>
    public long LastIndex => _appender.Map.Position.Index;

    /// <summary>The term at <see cref="LastIndex"/>.</summary>
    public long LastTerm => _appender.Map.Position.Term;

    /// <summary>Operations before the next frame: the next operation gets the etag after this number.</summary>
    public long OperationsBeforeNext => _appender.Map.Position.Operations;

    /// <summary>The number of the last durable write; rises by at least one with each.</summary>
    public long LastWrite => _appender.LastWrite;

    /// <summary>
    /// Through which index the log is known to be committed by the notes among its frames, at most
    /// <see cref="LastIndex"/>; 0 when there are none that can be read. A note tells of an earlier write than its own:
    /// the last entries may be committed too.
    /// </summary>
    public long CommittedIndex => Math.Min(_appender.Map.CommittedIndex, LastIndex);

    /// <summary>The payload of the last vote frame, empty when there is none.</summary>
    public ReadOnlyMemory<byte> Vote => _appender.Map.Vote;

    /// <summary>
    /// The payload of the last configuration frame that no truncation took back, empty when there is none.
    /// </summary>
    public ReadOnlyMemory<byte> Configuration => _appender.Map.Configuration;

    /// <summary>
    /// The configuration in force behind <paramref name="index"/>, which is not below what the manifest held when the
    /// journal was opened: its index (0 when there is none) and payload. From any thread.
    /// </summary>
    public (long Index, ReadOnlyMemory<byte> Payload) ConfigurationAt(long index)
    {
        lock (_appender.Gate)
        {
            return _appender.Map.ConfigurationAt(index);
        }
    }

    /// <summary>Bytes of all segments that are in use or kept by a reader. From any thread.</summary>
    public long LiveBytes
    {
        get
        {
            lock (_appender.Gate)
            {
                return _appender.Live.Concat(_appender.GivenUp).Sum(static segment => segment.Length);
            }
        }
    }

    /// <summary>
    /// Bytes of segments that are ready to be written: room that the journal has although its file system does not call
    /// it free. From any thread.
    /// </summary>
    public long ReadyBytes => (long)_pool.Ready * _segmentBytes;

    /// <summary>
    /// Bytes of the segments that a start would read if the manifest were at <paramref name="index"/>. A host flushes
    /// when they grow, so that recovery stays short: those that only a reader keeps do not count, for no flush would
    /// let them go. From any thread.
    /// </summary>
    public long BytesAbove(long index)
    {
        lock (_appender.Gate)
        {
            var live = _appender.Live;
            long bytes = 0;
            for (
                int i = live.Count - 1;
                i >= 0 && (i == live.Count - 1 || live[i + 1].Header!.Position.Index > index);
                i--
            )
            {
                bytes += live[i].Length;
            }

            return bytes;
        }
    }

    /// <summary>Bytes that a write of one frame takes on disk: whole blocks.</summary>
    public static long BytesOf(in JournalFrame frame) => FrameLayout.BytesOf([frame]);

    /// <summary>A note that the log is committed through an index, for the end of a write.</summary>
    public static JournalFrame Committed(long index) =>
        new(FrameType.Committed, index, Term: 0, OperationsBefore: 0, OperationCount: 0, Payload: default);

    /// <summary>Whether a note at the end of a write would lie in the block that the write fills up anyhow.</summary>
    public static bool HasRoomForNote(ReadOnlySpan<JournalFrame> frames)
    {
        long filled = FrameLayout.FilledBytesOf(frames);
        return FrameLayout.RoundUp(filled) - filled >= FrameHeader.Bytes;
    }

    /// <summary>
    /// Opens the journal in a directory, or begins one in an empty directory, and recovers: afterwards every frame in
    /// it is durable.
    /// </summary>
    /// <param name="disk">The disk.</param>
    /// <param name="options">Where and how large.</param>
    /// <param name="knowledge">What the manifest says; decides whether a broken end is a torn write or damage.</param>
    /// <param name="io">Is told of every write and sync.</param>
    /// <exception cref="JournalDamagedException">What was durable is missing or damaged, and no peer can give it
    /// back.</exception>
    /// <exception cref="JournalFormatException">A newer format version or frame type, or files of two
    /// stores.</exception>
    /// <exception cref="DiskException">The disk refused; <see cref="Errno.WouldBlock"/> when another process uses the
    /// directory.</exception>
    public static NodeJournal Open(IDisk disk, JournalOptions options, JournalKnowledge knowledge, IIoRecorder io) =>
        JournalOpening.Open(disk, options, knowledge, io, newJournalStart: default);

    /// <summary>Whether a directory holds a file of a journal.</summary>
    public static bool ExistsAt(IDisk disk, string directory) =>
        disk.Exists(directory) && disk.List(directory).Any(static name => SegmentName.TryParse(name, out _));

    /// <summary>
    /// Begins a journal that goes on behind <paramref name="start"/> (a restored backup), in a directory that holds
    /// none.
    /// </summary>
    /// <exception cref="DiskException">With <see cref="Errno.NotEmpty"/> when there is a journal already.</exception>
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
    /// Makes frames durable: one write (in 1 MiB pieces when it is larger), one sync. When it returns they survive a
    /// power cut; when it throws nobody knows, and the journal is latched.
    /// </summary>
    /// <param name="frames">At most one vote, first; then perhaps a truncation; then frames whose indexes follow
    /// without a gap; then perhaps a note of what is committed.</param>
    /// <exception cref="JournalLatchedException">This or an earlier write or sync failed.</exception>
    public void Write(ReadOnlySpan<JournalFrame> frames)
    {
        ThrowIfLatched();
        Invariant.Holds(!_isStopped, "nothing is written after the clean stop");
        FrameRules.Check(frames, _appender.Map);
        int truncation = FrameRules.TruncationIn(frames);
        if (truncation >= 0 && frames[truncation].Index < _appender.Map.ConfigurationIndex)
        {
            // Starts a segment: its header carries the configuration that this truncation restores. The one before may
            // lie in segments that are given back. A log that is truncated and has no replacement yet lost nothing:
            // what the truncation took back contradicts a leader.
            WriteOrLatch(frames[..(truncation + 1)], beginsSegment: true);
            frames = frames[(truncation + 1)..];
        }

        if (!frames.IsEmpty)
        {
            WriteOrLatch(frames);
        }
    }

    /// <summary>
    /// Gives up everything the journal holds, the vote apart, and goes on behind an installed state that the manifest
    /// already holds durably, with this mark. When it returns, a power cut leaves the journal as it is now; when it
    /// throws, the journal is latched, and the next opening does it again by the manifest's mark.
    /// </summary>
    /// <remarks>On the thread that writes. Readers read on what they began.</remarks>
    /// <exception cref="JournalLatchedException">This or an earlier write or sync failed.</exception>
    public void Rebase(in JournalRebase rebase)
    {
        ThrowIfLatched();
        Invariant.Holds(!_isStopped, "nothing is written after the clean stop");
        Invariant.Holds(rebase.Mark > _appender.RebaseMark, "a journal begins anew once for each installed state");
        Invariant.Holds(
            rebase.Configuration.Length <= SegmentHeader.MaxConfigurationBytes,
            "a configuration fits into a segment header"
        );
        BeginOrLatch(rebase);
    }

    /// <summary>
    /// The entries and truncations that opening read, in their order, so that nobody needs to read them again to know
    /// the terms and sizes of the log. Given once.
    /// </summary>
    public IReadOnlyList<RecoveredEntry> TakeRecovered()
    {
        var taken = _recovered;
        _recovered = [];
        return taken;
    }

    /// <summary>
    /// A reader whose first frame has <paramref name="fromIndex"/>, which lies between <see cref="FirstIndex"/> and the
    /// index after <see cref="LastIndex"/>.
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
    /// A reader of every frame there is, from <see cref="FirstIndex"/> on. From any thread, segments may be released
    /// meanwhile.
    /// </summary>
    public JournalReader Read()
    {
        lock (_appender.Gate)
        {
            return new JournalReader(_appender, FirstIndex);
        }
    }

    /// <summary>
    /// The manifest holds everything through <paramref name="index"/>, durably: whole segments up to it are recycled.
    /// From any thread.
    /// </summary>
    /// <exception cref="DiskException">A file that is not needed any more could not be deleted; the journal goes
    /// on.</exception>
    public void ReleaseThrough(long index)
    {
        lock (_appender.Gate)
        {
            _releasedThrough = Math.Max(_releasedThrough, _kept.Count == 0 ? index : Math.Min(index, _kept.Min()));
        }

        while (NextReleased() is { } segment)
        {
            _pool.Release(segment);
        }
    }

    /// <summary>
    /// Keeps every entry above <paramref name="index"/>, which is not released yet, until the result is disposed: for
    /// who is given what lies below and will ask for the rest. From any thread.
    /// </summary>
    public IDisposable KeepAbove(long index)
    {
        lock (_appender.Gate)
        {
            _kept.Add(index);
        }

        return new KeptEntries(this, index);
    }

    /// <summary>
    /// Notes the newest segment, and makes one segment ahead when too few are ready: writes zeros for as long as that
    /// takes, so it is called off the commit path. From any thread, one at a time.
    /// </summary>
    /// <returns>Whether one was made; call again until it was not.</returns>
    /// <exception cref="DiskException">No room, or the disk failed; the journal goes on without it, try again
    /// later.</exception>
    public bool PrepareSpare()
    {
        ReleaseThrough(0); // A segment that was still being written when its index was released.
        bool isPrepared = _pool.Prepare();
        _appender.NoteNewest();
        return isPrepared;
    }

    /// <summary>Notes durably that the node stopped in order; nothing can be written afterwards.</summary>
    /// <exception cref="JournalLatchedException">This or an earlier write or sync failed.</exception>
    public void StopCleanly()
    {
        ThrowIfLatched();
        if (_isStopped)
        {
            return;
        }

        WriteOrLatch([JournalOpening.LocalFrame(FrameType.CleanStop, _appender.Map)]);
        _isStopped = true;
    }

    /// <summary>Closes the files. Without <see cref="StopCleanly"/> the next opening treats the end as torn.</summary>
    public void Dispose()
    {
        _appender.Dispose();
        _pool.Dispose();
        _directoryLock.Dispose();
    }

    private void WriteOrLatch(ReadOnlySpan<JournalFrame> frames, bool beginsSegment = false)
    {
        // Latched until proven durable: whatever goes wrong in between leaves it so.
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
            Latch(error);
        }

        _latch = null;
    }

    private void BeginOrLatch(in JournalRebase rebase)
    {
        _latch = "it did not begin anew";
        try
        {
            _appender.BeginAnew(rebase);
        }
        catch (DiskException error)
        {
            Latch(error);
        }

        _latch = null;
    }

    private void Latch(DiskException error)
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
                $"The journal in {_directory} takes no more writes ({_latch}). What was acknowledged is "
                    + $"safe; put the cause right and start the node again.",
                _latchCause
            );
        }
    }

    /// <summary>
    /// Takes the oldest segment out of use when the released index covers it and nobody reads it. The one being written
    /// stays: its header proves what came before.
    /// </summary>
    private Segment? NextReleased()
    {
        lock (_appender.Gate)
        {
            if (_appender.GivenUp.Find(static segment => segment.Pins == 0) is { } givenUp)
            {
                _appender.GivenUp.Remove(givenUp);
                return givenUp;
            }

            var live = _appender.Live;
            if (
                live.Count < 2
                || live[0].Pins > 0
                || live[1].Header!.Position.Index > _releasedThrough
                || live.Skip(1).Sum(static segment => segment.Length) < KeptBytes
            )
            {
                return null;
            }

            var segment = live[0];
            live.RemoveAt(0);
            _appender.Map.Release(live[0]);
            return segment;
        }
    }

    private sealed class KeptEntries(NodeJournal journal, long index) : IDisposable
    {
        private bool _isDisposed;

        public void Dispose()
        {
            lock (journal._appender.Gate)
            {
                _ = !_isDisposed && journal._kept.Remove(index);
                _isDisposed = true;
            }
        }
    }
}
