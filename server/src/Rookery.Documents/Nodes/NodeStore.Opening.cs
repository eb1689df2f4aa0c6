using Rookery.Documents.Apply;
using Rookery.Documents.Backups;
using Rookery.Documents.Consensus;
using Rookery.Documents.Records;
using Rookery.Documents.Transfer;
using Rookery.Journal;
using Rookery.Platform;
using Rookery.Storage;

namespace Rookery.Documents.Nodes;

/// <summary>How a directory is opened: in which order its parts are, and what is refused.</summary>
public sealed partial class NodeStore
{
    /// <summary>
    /// Opens the directory. What the journal holds beyond the manifest is not applied: how much of it is committed,
    /// consensus knows.
    /// </summary>
    /// <param name="options">Where the data is.</param>
    /// <param name="disk">The disk.</param>
    /// <param name="memory">What bounds memory.</param>
    /// <param name="io">Is told of all disk work.</param>
    /// <param name="time">The clock.</param>
    /// <exception cref="DataDirectoryInUseException">Another process holds a directory.</exception>
    /// <exception cref="IOException">The data cannot be opened; the message says why. Nothing is open then.</exception>
    public static NodeStore Open(
        NodeOptions options,
        IDisk disk,
        MemoryBudget memory,
        IIoRecorder io,
        TimeProvider time
    )
    {
        var core = new NodeStore(DataDirectory.Lock(disk, options), options, disk, io, time);
        try
        {
            core.OpenData(memory);
            return core;
        }
        catch
        {
            core.Dispose();
            throw;
        }
    }

    private void OpenData(MemoryBudget memory)
    {
        _directory.Check(_options.IsRestoring);
        RefuseWithoutStorage();
        NodeBackup.RemoveCheckpoint(_disk, CheckpointPath);
        NodeBackup.RemoveCheckpoint(_disk, OfferPath);
        foreach (
            string path in (IEnumerable<string>)
                [StateOffers.RowsPathOf(OfferPath), .. StateOffers.ChangesPathsOf(OfferPath)]
        )
        {
            NodeBackup.RemoveCheckpoint(_disk, path);
        }

        Storage = StorageEngine.Open(
            _disk,
            StorageOptionsOf(_options, _directory.StoragePath) with
            {
                Pacer = Pacer,
                WasBegun = !_directory.IsNew,
            },
            memory,
            _io,
            Time
        );
        TellDamage();
        Journal = OpenJournal();
        if (_directory.IsNew && Journal.LastIndex > 0)
        {
            throw new DataFormatException(
                $"{_directory.JournalPath} holds a journal, but {_directory.Path} has no file "
                    + $"{DataDirectory.FormatName}. Nothing was changed. Put that file and what else is missing "
                    + $"back, or name another journal directory."
            )
            {
                IsOfDirectory = true,
            };
        }

        Storage.DeleteLeftOvers();

        ClusterRecords.Open(Storage);
        FormatLevel = FormatLevel.Read(_disk, _directory.Path);
        KeepFormatLevel();
        ClusterRecords.FormatLevelChanged = KeepFormatLevel;
        StateInstallation.Complete(Storage);
        Offers = new StateOffers(Storage, Journal, _disk, OfferPath, Transfers, Time) { Reserve = _options.Reserve };
        Inbox = new StateInbox(
            Storage,
            _disk,
            Path.Combine(_directory.StoragePath, "incoming"),
            _options.Reserve,
            Transfers
        );
        Storage.ManifestDurable = position => ReleaseJournal(position.Index);
        _applier = OpenApplier();
        _previous = new PreviousVersions(Storage);
        bool isNew = _directory.IsNew;
        _directory.Complete(_options.NewIds ?? NodeIds.Create());
        MarkUsed(isNew);
        if (isNew && !_options.HasPeers && FormatLevel.Level < _options.NewestFormatLevel)
        {
            // Nobody wrote here before. Who joins others goes by what they write.
            Note(new FormatLevel(_options.NewestFormatLevel, FormatLevel.ProgramVersion));
        }

        long inFlight = _options.InFlightBytes > 0 ? _options.InFlightBytes : Math.Max(memory.TotalBytes / 8, 8 << 20);
        Space = new NodeSpace(_disk, _options, Journal, Time);
        Admission = new Admission(inFlight, Time);
    }

    /// <summary>
    /// Goes by what the members agreed on. On the thread that applies, so that nothing that was agreed on later is
    /// written before it is noted.
    /// </summary>
    /// <exception cref="DataFormatException">They agreed on more than this program knows: it takes no further
    /// part.</exception>
    /// <summary>
    /// Writes into both manifests that a node ran here. Where documents are already, a full disk must not keep them
    /// from being read: the next flush writes the same.
    /// </summary>
    private void MarkUsed(bool isNew)
    {
        try
        {
            Storage.MarkUsed();
        }
        catch (DiskException) when (!isNew)
        {
            // Both slots stay as they were.
        }
    }

    private void KeepFormatLevel()
    {
        var agreed = ReadFormatLevel();
        if (agreed.Level > FormatLevel.Level)
        {
            Note(agreed);
            agreed.Require(_options.NewestFormatLevel, _directory.Path);
        }
    }

    private FormatLevel ReadFormatLevel()
    {
        try
        {
            return FormatLevel.Of(ClusterRecords.TryGet(FormatLevel.RecordKey, out var record) ? record : null);
        }
        catch (DamagedException)
        {
            // What was noted before holds; the level never falls.
            return FormatLevel;
        }
    }

    private void Note(FormatLevel level)
    {
        level.Write(_disk, _directory.Path);
        FormatLevel = level;
    }

    private Applier OpenApplier()
    {
        if (!_options.ReplaysAroundDamage || _options.CommandLeftOut is not { } tell)
        {
            return new Applier(Storage, Databases, ClusterRecords);
        }

        var told = new HashSet<string>(StringComparer.Ordinal);
        return new Applier(Storage, Databases, ClusterRecords, PassOver) { CommandSkipped = tell };

        void PassOver(DamageEvent damage)
        {
            if (told.Add(damage.Sentence))
            {
                tell($"Not readable, possibly replaced by an older version: {damage.Sentence}");
            }
        }
    }

    // The journal begins where the last manifest ended: an empty storage directory beside it would forget everything
    // before.
    private void RefuseWithoutStorage()
    {
        if (
            !_directory.IsNew
            && _disk
                .List(_directory.StoragePath)
                .All(static name => string.Equals(name, "lock", StringComparison.Ordinal))
        )
        {
            throw new DataFormatException(
                $"{_options.DataDirectory} was in use before, but {_directory.StoragePath} is empty. Nothing "
                    + $"was changed. Put back that directory's files, or restore a backup."
            )
            {
                IsOfDirectory = true,
            };
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

    private NodeJournal OpenJournal()
    {
        var durable = Storage.Durable;
        try
        {
            return NodeJournal.Open(
                _disk,
                new JournalOptions
                {
                    Directory = _directory.JournalPath,
                    SegmentBytes = _options.SegmentBytes,
                    StoreId = Storage.StoreId,
                },
                new JournalKnowledge(durable.Index, durable.Term, _options.HasPeers)
                {
                    ManifestOperations = durable.Sequence,
                    WasBegun = !_directory.IsNew,
                    PendingReset = StateInstallation.PendingResetOf(Storage),
                },
                _io
            );
        }
        catch (DiskException refused) when (refused.Error == Errno.WouldBlock)
        {
            throw new DataDirectoryInUseException(_directory.JournalPath);
        }
    }

    internal static StorageOptions StorageOptionsOf(NodeOptions options, string directory) =>
        new()
        {
            Directory = directory,
            Tables = Table.Definitions,
            MemtableBytes = options.ReplaysAroundDamage ? NeverFull : options.MemtableBytes,
            RunBytes = options.RunBytes,
            Filter = new StaleOrderFilter(),
        };
}
