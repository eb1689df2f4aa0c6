using Rookery.Platform;

namespace Rookery.Journal;

/// <summary>
/// The journal of a node that does not run, opened to be read and judged as a start would. Nothing in it changes, so
/// that it can be looked at on a card that is dying, and again.
/// </summary>
public sealed class StoppedJournal : IDisposable
{
    private readonly IDisposable _directoryLock;
    private readonly JournalDirectory _found;
    private readonly SegmentPool _pool;
    private readonly JournalAppender _appender;
    private readonly bool _isGivenUp;

    private StoppedJournal(IDisk disk, JournalOptions options, JournalKnowledge knowledge, IIoRecorder io)
    {
        _directoryLock = disk.Lock(Path.Join(options.Directory, "lock"));
        _pool = new SegmentPool(disk, options, io);
        try
        {
            _found = JournalDirectory.Find(disk, options, io);
            var walk = new RecoveryWalk(_found, options, knowledge) { IsForReading = true };
            walk.Run();
            _isGivenUp = walk.Rebase is not null;
            _appender = JournalOpening.AppenderAfter(walk, _found, options, _pool, io, newJournalStart: default);
            Recovery = walk.Report([]);
            Entries = _isGivenUp ? [] : walk.Entries;
        }
        catch
        {
            _found?.Dispose();
            _pool.Dispose();
            _directoryLock.Dispose();
            throw;
        }
    }

    /// <summary>What a start would find and do.</summary>
    public JournalRecovery Recovery { get; }

    /// <summary>
    /// The entries and truncations in it, in their order; none when the manifest holds a state that takes their place.
    /// </summary>
    public IReadOnlyList<RecoveredEntry> Entries { get; }

    /// <summary>The end of what can be read.</summary>
    public JournalPosition Position => _isGivenUp ? default : _appender.Map.Position;

    /// <summary>The payload of the configuration in force there, empty when there is none.</summary>
    public ReadOnlyMemory<byte> Configuration => _appender.Map.Configuration;

    /// <summary>The payload of the last vote, empty when there is none.</summary>
    public ReadOnlyMemory<byte> Vote => _appender.Map.Vote;

    /// <summary>Opens it.</summary>
    /// <exception cref="JournalDamagedException">A segment that is not in the manifest is missing, or
    /// <see cref="JournalKnowledge.HasPeers"/> is not set and there is damage.</exception>
    /// <exception cref="JournalFormatException">A newer format version or frame type, or files of two
    /// stores.</exception>
    /// <exception cref="DiskException">The disk refused; <see cref="Errno.WouldBlock"/> when another process uses the
    /// directory.</exception>
    public static StoppedJournal Open(IDisk disk, JournalOptions options, JournalKnowledge knowledge, IIoRecorder io) =>
        new(disk, options, knowledge, io);

    /// <summary>
    /// A reader whose first frame has <paramref name="fromIndex"/> or the lowest index that there is above it; without
    /// frames when there are none.
    /// </summary>
    public JournalReader Read(long fromIndex)
    {
        lock (_appender.Gate)
        {
            return new JournalReader(
                _appender,
                _isGivenUp ? long.MaxValue : Math.Max(fromIndex, _appender.Map.FirstIndex)
            );
        }
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _appender.Dispose();
        _found.Dispose();
        _pool.Dispose();
        _directoryLock.Dispose();
    }
}
