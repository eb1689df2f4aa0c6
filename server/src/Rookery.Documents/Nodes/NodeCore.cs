using Rookery.Disk;
using Rookery.Documents.Apply;
using Rookery.Journal;
using Rookery.Storage;

namespace Rookery.Documents;

/// <summary>
/// An opened data directory without threads: storage, journal, what apply knows, and the way of writes. <see cref="Node"/> puts threads around it; simulation
/// drives it step by step.
/// </summary>
internal sealed class NodeCore : IDisposable
{
    // Beyond so many segments the memtable is flushed although it is not full, so that a restart replays no more than that.
    private const int SegmentsToReplay = 8;

    // What is replayed around damage must not reach a run: it stays in memory, which it fits into because a journal is flushed long before (see above).
    private const long NeverFull = 1L << 40;

    private readonly DataDirectory _directory;
    private readonly NodeOptions _options;
    private readonly IDisk _disk;
    private readonly IIoRecorder _io;
    private readonly TimeProvider _time;
    private Applier _applier = null!;

    private NodeCore(DataDirectory directory, NodeOptions options, IDisk disk, IIoRecorder io, TimeProvider time)
    {
        Pacer = new DutyCyclePacer(time) { Share = 1 };
        _directory = directory;
        _options = options;
        _disk = disk;
        _io = io;
        _time = time;
    }

    public string NodeId => _directory.NodeId;

    public string ClusterId => _directory.ClusterId;

    /// <summary>Where a backup keeps the runs it copies: on their own file system, because they are hard links.</summary>
    public string CheckpointPath => Path.Combine(_directory.Path, "checkpoint");

    public DatabaseCatalog Databases { get; } = new();

    public ClusterRecords ClusterRecords { get; } = new();

    public StorageEngine Storage { get; private set; } = null!;

    public NodeJournal Journal { get; private set; } = null!;

    public SingleNodeConsensus Consensus { get; private set; } = null!;

    /// <summary>What stays free on the node's file systems.</summary>
    public NodeSpace Space { get; private set; } = null!;

    /// <summary>How much of a core background work takes: all of it, until a thread of its own does that work beside others.</summary>
    public DutyCyclePacer Pacer { get; }

    /// <summary>Opens the directory and replays the journal from where the manifest ends.</summary>
    /// <exception cref="DataDirectoryInUseException">Another process holds a directory.</exception>
    /// <exception cref="IOException">The data cannot be opened; the message says why. Nothing is open then.</exception>
    public static NodeCore Open(NodeOptions options, IDisk disk, MemoryBudget memory, IIoRecorder io, TimeProvider time, bool answersInline)
    {
        var core = new NodeCore(DataDirectory.Lock(disk, options.DataDirectory, options.JournalDirectory), options, disk, io, time);
        try
        {
            core.OpenData(memory, answersInline);
            return core;
        }
        catch
        {
            core.Dispose();
            throw;
        }
    }

    /// <summary>Does the background work that is due, one small step. To be called by one thread.</summary>
    /// <returns>Whether there was something to do.</returns>
    public bool WorkOnce()
    {
        // Where the journal lacks room a flush helps as soon as it lets go of a whole segment: before that, each would write runs and give nothing back.
        int segments = Space.IsJournalLow ? 1 : SegmentsToReplay;
        bool isJournalLong = Journal.BytesAbove(Storage.Durable.Index) > (long)segments * _options.SegmentBytes;
        if (isJournalLong && Storage.AppliedIndex > Storage.Durable.Index)
        {
            Storage.RequestFlush();
        }

        return (Storage.FlushDue && Storage.Flush()) || PrepareSpareOrCompact();
    }

    // The room that a spare lacks may be what compaction gives back.
    private bool PrepareSpareOrCompact()
    {
        try
        {
            return Journal.PrepareSpare() || Storage.CompactOnce();
        }
        catch (DiskException)
        {
            if (Storage.CompactOnce())
            {
                return true;
            }

            throw;
        }
    }

    /// <summary>Begins a backup. On the thread that calls <see cref="WorkOnce"/>, or while there is none.</summary>
    /// <exception cref="BackupException">One is being taken already, or the data is damaged.</exception>
    public NodeBackup BeginBackup() => NodeBackup.Begin(this, _disk, _io, _time);

    /// <summary>Notes in the journal that the node stopped in order. Nothing is flushed: the journal has everything.</summary>
    public void StopCleanly() => Journal.StopCleanly();

    /// <inheritdoc/>
    public void Dispose()
    {
        Databases.Complete();
        ClusterRecords.Complete();
        Pacer.Dispose();
        _applier?.Dispose();
        Journal?.Dispose();
        Storage?.Dispose();
        _directory.Dispose();
    }

    private void OpenData(MemoryBudget memory, bool answersInline)
    {
        _directory.Check(_options.IsRestoring);
        RefuseWithoutStorage();
        NodeBackup.RemoveCheckpoint(_disk, CheckpointPath);
        Storage = StorageEngine.Open(_disk, StorageOptionsOf(_options, _directory.StoragePath) with { Pacer = Pacer }, memory, _io, _time);
        TellDamage();
        Journal = OpenJournal();
        if (_directory.IsNew && Journal.LastIndex > 0)
        {
            throw new DataFormatException(
                $"{_directory.JournalPath} holds a journal, but {_directory.Path} is not a data directory. Nothing was changed. Put its files back, or name another journal directory.");
        }

        ClusterRecords.Open(Storage);
        Storage.ManifestDurable = position => ReleaseJournal(position.Index);
        _applier = new Applier(Storage, Databases, ClusterRecords) { LeftOut = _options.ReplaysAroundDamage ? _options.CommandLeftOut : null };
        try
        {
            Replay.Run(Journal, Storage, _applier);
        }
        catch (DamagedException damaged)
        {
            throw new UnappliedDamageException(damaged);
        }

        _directory.Complete(_options.NewIds ?? NodeIds.Create());
        long inFlight = _options.InFlightBytes > 0 ? _options.InFlightBytes : Math.Max(memory.TotalBytes / 8, 8 << 20);
        Space = new NodeSpace(_disk, _options, Journal, _time);
        Consensus = new SingleNodeConsensus(
            Journal,
            _applier,
            new PreviousVersions(Storage),
            new Admission(inFlight, _time),
            Space,
            _options.NodeTag,
            _time)
        {
            AnswersInline = answersInline,
        };
    }

    // The journal begins where the last manifest ended: an empty storage directory beside it would forget everything before.
    private void RefuseWithoutStorage()
    {
        if (!_directory.IsNew && _disk.List(_directory.StoragePath).All(static name => string.Equals(name, "lock", StringComparison.Ordinal)))
        {
            throw new DataFormatException(
                $"{_options.DataDirectory} was in use before, but {_directory.StoragePath} is empty. Nothing was changed. Put back that directory's files, or restore a backup.");
        }
    }

    // What opening met, and what is met from now on.
    private void TellDamage()
    {
        Storage.DamageFound = damage => _options.TroubleFound?.Invoke(damage.Sentence);
        foreach (var damage in Storage.Statistics().Damage)
        {
            _options.TroubleFound?.Invoke(damage.Sentence);
        }
    }

    private void ReleaseJournal(long index)
    {
        try
        {
            Journal.ReleaseThrough(index);
        }
        catch (DiskException)
        {
            // A segment that could not be deleted is out of use all the same; the next start deletes it. The flush that let it go has not failed.
        }
    }

    private NodeJournal OpenJournal()
    {
        var durable = Storage.Durable;
        try
        {
            return NodeJournal.Open(
                _disk,
                new JournalOptions { Directory = _directory.JournalPath, SegmentBytes = _options.SegmentBytes, StoreId = Storage.StoreId },
                new JournalKnowledge(durable.Index, durable.Term, HasPeers: false),
                _io);
        }
        catch (DiskException refused) when (refused.Error == Errno.WouldBlock)
        {
            throw new DataDirectoryInUseException(_directory.JournalPath);
        }
    }

    internal static StorageOptions StorageOptionsOf(NodeOptions options, string directory) => new()
    {
        Directory = directory,
        Tables = Table.Definitions,
        MemtableBytes = options.ReplaysAroundDamage ? NeverFull : options.MemtableBytes,
        RunBytes = options.RunBytes,
        Filter = new StaleOrderFilter(),
    };
}
