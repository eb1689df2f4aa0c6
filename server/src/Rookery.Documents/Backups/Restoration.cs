using Rookery.Disk;
using Rookery.Documents.Commands;
using Rookery.Journal;
using Rookery.Storage;

namespace Rookery.Documents;

/// <summary>
/// Makes a data directory from a backup: files copied and checked, a journal that goes on behind them, and a new history id for every database, so that a change
/// vector from before can never match other content. Until the last step the directory carries a mark with which no node opens it.
/// </summary>
/// <param name="disk">The disk of both directories.</param>
/// <param name="options">The data directory, and its sizes.</param>
/// <param name="memory">What bounds memory.</param>
/// <param name="io">Is told of disk work.</param>
/// <param name="time">The clock.</param>
public sealed class Restoration(IDisk disk, NodeOptions options, MemoryBudget memory, IIoRecorder io, TimeProvider time)
{
    // Entries of the journal written by one sync.
    private const int BytesPerWrite = 1 << 20;

    /// <summary>Told of the bytes that were copied, after each file.</summary>
    public Action<long, long>? Progress { get; init; }

    private string Target => options.DataDirectory;

    private string JournalTarget => options.JournalDirectory ?? DataDirectory.JournalPathOf(Target);

    /// <summary>Restores.</summary>
    /// <param name="from">The directory of the backup.</param>
    /// <param name="onlyDatabase">The name of the one database to keep; null for all.</param>
    /// <returns>The databases that there are now, with the number of their documents.</returns>
    /// <exception cref="DirectoryNotEmptyException">The data directory or the journal's is not empty. Nothing was written.</exception>
    /// <exception cref="BackupException">There is no complete backup, it is damaged, or the database is not in it.</exception>
    /// <exception cref="IOException">The disk refused. The data directory, if begun, cannot be opened by a node.</exception>
    public IReadOnlyList<(string Name, long Documents)> Run(string from, string? onlyDatabase)
    {
        var backup = BackupManifest.Read(disk, from);
        CheckRequest(backup, from, onlyDatabase);
        DataDirectory.CreateDurably(disk, Target);
        using (DataDirectory.Lock(disk, Target))
        {
            RefuseUnlessEmpty();
            DataDirectory.MarkUnfinished(disk, Target);
            CopyRuns(backup, from);
            WriteJournal(backup, from);
            DataDirectory.WriteFormat(disk, Target, NodeIds.Create());
        }

        var databases = BeginNewHistory(onlyDatabase);
        DataDirectory.MarkFinished(disk, Target);
        return databases;
    }

    private void CheckRequest(BackupManifest backup, string from, string? onlyDatabase)
    {
        if (onlyDatabase is not null && !backup.Databases.Any(name => DatabaseName.AreEqual(name, onlyDatabase)))
        {
            throw new BackupException($"There is no database \"{onlyDatabase}\" in {from}; there are: {string.Join(", ", backup.Databases)}.");
        }

        RefuseUnlessEmpty();
        RefuseUnlessJournalIsEmpty();
        string existing = Target;
        while (!disk.Exists(existing))
        {
            existing = Path.GetDirectoryName(existing)!;
        }

        long free = disk.SpaceOf(existing).FreeBytes;
        if (free < backup.TotalBytes)
        {
            throw new BackupException($"The backup has {backup.TotalBytes} bytes, and there are {free} free for {Target}. Free some space, or restore elsewhere.");
        }
    }

    private void RefuseUnlessEmpty()
    {
        if (!DurableFiles.IsEmpty(disk, Target, DataDirectory.LockName))
        {
            throw new DirectoryNotEmptyException(
                DataDirectory.IsUnfinished(disk, Target)
                    ? $"{Target} holds a restore that did not finish. Delete it and restore again."
                    : $"{Target} is not empty. A backup is restored into an empty or new directory only; nothing was changed.");
        }
    }

    private void RefuseUnlessJournalIsEmpty()
    {
        if (!DurableFiles.IsEmpty(disk, JournalTarget))
        {
            throw new DirectoryNotEmptyException($"{JournalTarget} is not empty. The journal of a restored node begins in an empty or new directory only; nothing was changed.");
        }
    }

    private void CopyRuns(BackupManifest backup, string from)
    {
        string storage = DataDirectory.StoragePathOf(Target);
        DataDirectory.CreateDurably(disk, storage);
        long copied = 0;
        foreach (var expected in backup.Files.Where(file => file.Name.StartsWith(NodeBackup.StorageFolder + "/", StringComparison.Ordinal)))
        {
            using var source = Open(from, expected);
            using var copy = disk.Open(Path.Join(storage, Path.GetFileName(expected.Name)), DiskOpen.CreateNew);
            long offset = 0;
            uint checksum = DurableFiles.Read(source, bytes => DurableFiles.Append(copy, bytes.Span, ref offset));
            RefuseUnless(offset == expected.Bytes && checksum == expected.Checksum, source.Path);
            copy.Sync();
            copied += offset;
            Progress?.Invoke(copied, backup.TotalBytes);
        }

        disk.SyncDirectory(storage);
    }

    /// <summary>A journal that begins where the checkpoint ends, with the entries of the backup.</summary>
    private void WriteJournal(BackupManifest backup, string from)
    {
        var expected = backup.Files.FirstOrDefault(file => string.Equals(file.Name, BackupFrames.FileName, StringComparison.Ordinal))
            ?? throw new BackupException($"{from} names no file {BackupFrames.FileName} in its manifest. Use another backup.");
        using var file = Open(from, expected);
        RefuseUnless(file.Length == expected.Bytes && DurableFiles.Read(file, take: null) == expected.Checksum, file.Path);

        ManifestPosition position;
        Guid storeId;
        using (var storage = StorageEngine.Open(disk, NodeStore.StorageOptionsOf(options, DataDirectory.StoragePathOf(Target)), memory, io, time))
        {
            (position, storeId) = (storage.Durable, storage.StoreId);
        }

        DataDirectory.CreateDurably(disk, JournalTarget);
        var journalOptions = new JournalOptions { Directory = JournalTarget, SegmentBytes = options.SegmentBytes, StoreId = storeId };
        NodeJournal.Create(disk, journalOptions, new JournalPosition(position.Index, position.Term, position.Sequence), io);
        using var journal = NodeJournal.Open(disk, journalOptions, new JournalKnowledge(position.Index, position.Term, HasPeers: false), io);
        Write(journal, BackupFrames.Read(file));
    }

    private static void Write(NodeJournal journal, IEnumerable<JournalFrame> frames)
    {
        var gathered = new List<JournalFrame>();
        int bytes = 0;
        foreach (var frame in frames)
        {
            // A restored node is a cluster of its own: who belonged to the old one is left behind.
            gathered.Add(frame.Type == FrameType.Configuration ? frame with { Type = FrameType.NoOp, Payload = default } : frame);
            bytes += frame.Payload.Length;
            if (bytes >= BytesPerWrite)
            {
                journal.Write(gathered.ToArray());
                gathered.Clear();
                bytes = 0;
            }
        }

        if (gathered.Count > 0)
        {
            journal.Write(gathered.ToArray());
        }
    }

    /// <summary>Opens the directory as a node does, drops what was not asked for, renews the histories, and checks every byte of what was written.</summary>
    private List<(string Name, long Documents)> BeginNewHistory(string? onlyDatabase)
    {
        using var core = NodeStore.Open(options with { IsRestoring = true }, disk, memory, io, time);
        core.ApplyAll();
        string[] others = onlyDatabase is null ? [] : [.. core.Databases.All.Select(database => database.Name).Where(name => !DatabaseName.AreEqual(name, onlyDatabase))];
        if (others.Length > 0)
        {
            Commit(core, CommandEncoder.DeleteDatabases(others));
        }

        DropRecordsOfMembers(core);
        foreach (var database in core.Databases.All)
        {
            Commit(core, CommandEncoder.RenewHistory(database.Number, HistoryId.Create()));
        }

        core.Storage.RequestFlush();
        while (core.WorkOnce())
        {
        }

        while (!core.Storage.ScrubOnce(BackupPiece.MaxBytes))
        {
        }

        if (core.Storage.Health is { } wrong)
        {
            throw new BackupException($"{Target} was not restored: {wrong}");
        }

        core.StopCleanly();
        return [.. core.Databases.All.Select(CountDocuments)];
    }

    // The restored cluster starts as one new voter, and the others join it empty.
    private static void DropRecordsOfMembers(NodeStore core)
    {
        using var writer = new ClusterRecordWriter();
        foreach (var record in ClusterRecordPrefix.BoundToMembers.SelectMany(core.ClusterRecords.List))
        {
            writer.Delete(record.Key);
        }

        if (writer.Count > 0)
        {
            Commit(core, writer.Complete());
        }
    }

    private static (string Name, long Documents) CountDocuments(Database database)
    {
        using var reader = database.OpenReader();
        return (database.Name, reader.ReadStatistics().Documents);
    }

    private static void Commit(NodeStore core, CommandBuffer command)
    {
        using (command)
        {
            if (core.CommitAlone(command).Rejection is { } refusal)
            {
                throw new BackupException($"The restored cluster could not begin a new history: {refusal.Message}");
            }
        }
    }

    private IDiskFile Open(string from, BackupFile file)
    {
        string path = Path.Join(from, file.Name);
        return disk.Exists(path)
            ? disk.Open(path, DiskOpen.Read)
            : throw new BackupException($"{path} is missing from the backup. Use another backup.");
    }

    private void RefuseUnless(bool isWhole, string path)
    {
        if (!isWhole)
        {
            throw new BackupException($"{path} is damaged: its bytes are not those that were backed up. Use another backup. {Target} holds a restore that did not finish: delete it.");
        }
    }
}
