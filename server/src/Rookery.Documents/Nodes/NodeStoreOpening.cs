using Rookery.Documents.Apply;
using Rookery.Documents.Backups;
using Rookery.Documents.Databases;
using Rookery.Documents.Records;
using Rookery.Documents.Transfer;
using Rookery.Journal;
using Rookery.Platform;
using Rookery.Storage;

namespace Rookery.Documents.Nodes;

/// <summary>
/// Opens the parts of a data directory in the right order, and refuses inconsistent directories. Used once. The
/// resulting <see cref="NodeStore"/> owns all opened parts. If opening fails, they are closed.
/// </summary>
internal sealed class NodeStoreOpening(
    NodeOptions options,
    IDisk disk,
    MemoryBudget memory,
    IIoRecorder io,
    TimeProvider time
)
{
    private readonly Stack<IDisposable> _opened = new();

    /// <summary>Opens the directory: see <see cref="NodeStore.Open"/>.</summary>
    public NodeStore Open()
    {
        try
        {
            return OpenParts();
        }
        catch
        {
            while (_opened.TryPop(out var part))
            {
                part.Dispose();
            }

            throw;
        }
    }

    private NodeStore OpenParts()
    {
        var directory = CloseOnFailure(DataDirectory.Lock(disk, options));
        directory.Check(options.IsRestoring);
        RefuseWithoutStorage(directory);
        RemoveCheckpoints(directory);
        var pacer = CloseOnFailure(new DutyCyclePacer(time) { Share = 1 });
        var storage = CloseOnFailure(OpenStorage(directory, pacer));
        ReportDamage(storage);
        var journal = CloseOnFailure(OpenJournal(directory, storage));
        RefuseForeignJournal(directory, journal);
        storage.DeleteUnnamedRuns();

        var records = new ClusterRecords();
        records.Open(storage);
        var level = new AgreedFormatLevel(disk, directory.Path, records, options.NewestFormatLevel);
        StateInstallation.Complete(storage);
        var databases = new DatabaseCatalog();
        var applier = CloseOnFailure(OpenApplier(storage, databases, records));
        bool isNew = directory.IsNew;
        directory.Complete(options.NewIds ?? NodeIds.Create());
        MarkUsed(storage, isNew);
        if (isNew && !options.HasPeers && level.Current.Level < options.NewestFormatLevel)
        {
            // A new single node may write the newest formats. A member of a cluster follows the cluster's level.
            level.Write(new FormatLevel(options.NewestFormatLevel, FormatLevel.ProgramVersion));
        }

        var space = new NodeSpace(disk, options, journal, time);
        return new NodeStore(
            directory,
            options,
            disk,
            io,
            time,
            storage,
            journal,
            databases,
            records,
            level,
            applier,
            new BackgroundWork(storage, journal, space, pacer, options.SegmentBytes),
            space,
            new DatabaseQuota(databases, memory),
            new Admission(InFlightBytes, time)
        );
    }

    private long InFlightBytes =>
        options.InFlightBytes > 0 ? options.InFlightBytes : Math.Max(memory.TotalBytes / 8, 8 << 20);

    // Registers a part, so that it is closed if opening fails later.
    private T CloseOnFailure<T>(T part)
        where T : IDisposable
    {
        _opened.Push(part);
        return part;
    }

    // The journal begins where the last manifest ended. With an empty storage directory, everything before would be
    // lost.
    private void RefuseWithoutStorage(DataDirectory directory)
    {
        if (
            !directory.IsNew
            && disk.List(directory.StoragePath)
                .All(static name => string.Equals(name, "lock", StringComparison.Ordinal))
        )
        {
            throw new DataFormatException(
                $"{options.DataDirectory} was in use before, but {directory.StoragePath} is empty. Nothing "
                    + $"was changed. Put back that directory's files, or restore a backup."
            )
            {
                IsConfigurationFault = true,
            };
        }
    }

    // Deletes the files of a backup, an offer or a repair that did not end.
    private void RemoveCheckpoints(DataDirectory directory)
    {
        foreach (
            string path in (IEnumerable<string>)
                [
                    directory.CheckpointPath,
                    directory.OfferPath,
                    SnapshotOffers.RowsPathOf(directory.OfferPath),
                    .. SnapshotOffers.ChangesPathsOf(directory.OfferPath),
                ]
        )
        {
            NodeBackup.RemoveCheckpoint(disk, path);
        }
    }

    private StorageEngine OpenStorage(DataDirectory directory, DutyCyclePacer pacer) =>
        StorageEngine.Open(
            disk,
            options.ToStorageOptions(directory.StoragePath) with
            {
                Pacer = pacer,
                ExistedBefore = !directory.IsNew,
            },
            memory,
            io,
            time
        );

    // Reports damage that opening found, and later damage when it is found.
    private void ReportDamage(StorageEngine storage)
    {
        storage.DamageFound = damage => options.TroubleFound?.Invoke(damage.Sentence);
        foreach (var damage in storage.Statistics().Damage)
        {
            options.TroubleFound?.Invoke(damage.Sentence);
        }
    }

    private NodeJournal OpenJournal(DataDirectory directory, StorageEngine storage)
    {
        var durable = storage.Durable;
        try
        {
            return NodeJournal.Open(
                disk,
                new JournalOptions
                {
                    Directory = directory.JournalPath,
                    SegmentBytes = options.SegmentBytes,
                    StoreId = storage.StoreId,
                },
                new JournalKnowledge(durable.Index, durable.Term, options.HasPeers)
                {
                    ManifestOperations = durable.Sequence,
                    ExistedBefore = !directory.IsNew,
                    PendingReset = StateInstallation.PendingResetOf(storage),
                },
                io
            );
        }
        catch (DiskException refused) when (refused.Error == Errno.WouldBlock)
        {
            throw new DataDirectoryInUseException(directory.JournalPath);
        }
    }

    private static void RefuseForeignJournal(DataDirectory directory, NodeJournal journal)
    {
        if (directory.IsNew && journal.LastIndex > 0)
        {
            throw new DataFormatException(
                $"{directory.JournalPath} holds a journal, but {directory.Path} has no file "
                    + $"{DataDirectory.FormatName}. Nothing was changed. Put that file and what else is missing "
                    + $"back, or name another journal directory."
            )
            {
                IsConfigurationFault = true,
            };
        }
    }

    private Applier OpenApplier(StorageEngine storage, DatabaseCatalog databases, ClusterRecords records)
    {
        if (!options.ReplaysAroundDamage || options.CommandLeftOut is not { } report)
        {
            return new Applier(storage, databases, records);
        }

        var reported = new HashSet<string>(StringComparer.Ordinal);
        return new Applier(storage, databases, records, ReportSkipped) { CommandSkipped = report };

        void ReportSkipped(DamageEvent damage)
        {
            if (reported.Add(damage.Sentence))
            {
                report($"Not readable, possibly replaced by an older version: {damage.Sentence}");
            }
        }
    }

    /// <summary>
    /// Records in both manifests that a node ran here. If the directory already has data, a full disk is no error,
    /// because the next flush records it, too.
    /// </summary>
    private static void MarkUsed(StorageEngine storage, bool isNew)
    {
        try
        {
            storage.MarkUsed();
        }
        catch (DiskException) when (!isNew)
        {
            // Both manifests stay unchanged.
        }
    }
}
