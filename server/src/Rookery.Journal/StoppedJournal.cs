using Rookery.Platform;

namespace Rookery.Journal;

/// <summary>
/// The journal of a stopped node, opened for reading only. Recovers like a start, but changes nothing on disk.
/// </summary>
public sealed class StoppedJournal : IDisposable
{
    private readonly IDisposable _directoryLock;
    private readonly JournalDirectory _directory;
    private readonly SegmentPool _pool;
    private readonly JournalAppender _appender;
    private readonly bool _isDiscarded;

    private StoppedJournal(IDisk disk, JournalOptions options, JournalKnowledge knowledge, IIoRecorder io)
    {
        _directoryLock = disk.Lock(Path.Join(options.Directory, "lock"));
        _pool = new SegmentPool(disk, options, io);
        try
        {
            _directory = JournalDirectory.Find(disk, options, io);
            var walk = new RecoveryWalk(_directory, options, knowledge) { IsForReading = true };
            walk.Run();
            _isDiscarded = walk.PendingReset is not null;
            _appender = JournalOpening.CreateAppender(walk, _directory, options, _pool, io, newJournalStart: default);
            Recovery = walk.Report([]);
            Entries = _isDiscarded ? [] : walk.Entries;
        }
        catch
        {
            _directory?.Dispose();
            _pool.Dispose();
            _directoryLock.Dispose();
            throw;
        }
    }

    /// <summary>The findings of the recovery, and the actions that a start would take.</summary>
    public JournalRecovery Recovery { get; }

    /// <summary>
    /// The entries and truncations, in order; none if an installed snapshot in the manifest replaces them.
    /// </summary>
    public IReadOnlyList<RecoveredEntry> Entries { get; }

    /// <summary>Position of the last readable entry; zeros if an installed snapshot replaces the entries.</summary>
    public JournalPosition Position => _isDiscarded ? default : _appender.Map.Position;

    /// <summary>Payload of the configuration in force there; empty if there is none.</summary>
    public ReadOnlyMemory<byte> Configuration => _appender.Map.Configuration;

    /// <summary>Payload of the last vote; empty if there is none.</summary>
    public ReadOnlyMemory<byte> Vote => _appender.Map.Vote;

    /// <summary>Opens the journal of a stopped node.</summary>
    /// <exception cref="JournalDamagedException">A segment that the storage needs is missing, or there is damage and
    /// <see cref="JournalKnowledge.HasPeers"/> is false.</exception>
    /// <exception cref="JournalFormatException">A newer format version or frame type, or files of two
    /// stores.</exception>
    /// <exception cref="DiskException">A disk operation failed; <see cref="Errno.WouldBlock"/> if another process uses
    /// the directory.</exception>
    public static StoppedJournal Open(IDisk disk, JournalOptions options, JournalKnowledge knowledge, IIoRecorder io) =>
        new(disk, options, knowledge, io);

    /// <summary>
    /// Returns a reader that starts at <paramref name="fromIndex"/> or the lowest available index above it; the reader
    /// is empty if no such entry exists.
    /// </summary>
    public JournalReader Read(long fromIndex)
    {
        lock (_appender.Gate)
        {
            return new JournalReader(
                _appender,
                _isDiscarded ? long.MaxValue : Math.Max(fromIndex, _appender.Map.FirstIndex)
            );
        }
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _appender.Dispose();
        _directory.Dispose();
        _pool.Dispose();
        _directoryLock.Dispose();
    }
}
