using Rookery.Documents.Attachments;
using Rookery.Documents.Databases;
using Rookery.Documents.Nodes;
using Rookery.Platform;

namespace Rookery.Documents.Backups;

/// <summary>
/// Restores a backup into a data directory: copies and checks the files, creates a journal that continues after them,
/// and gives every database a new history id, so that no old change vector matches a new document. Until the last step,
/// the directory is marked as unfinished, and no node opens it.
/// </summary>
/// <param name="disk">The disk of both directories.</param>
/// <param name="options">The new data directory and its settings.</param>
/// <param name="memory">Bounds the memory that the restore uses.</param>
/// <param name="io">Records all disk work.</param>
/// <param name="time">The clock.</param>
public sealed class Restoration(IDisk disk, NodeOptions options, MemoryBudget memory, IIoRecorder io, TimeProvider time)
{
    private const long BlockBytes = 4096;

    // Bytes of a directory entry with a name of 64 digits, on ext4 with half-full blocks.
    private const long NameBytes = 144;

    // Approximate number of manifests, locks, marks, directories and runs of the new history, each of one block.
    private const long SmallFiles = 32;

    /// <summary>Receives the bytes copied so far and the total, after each file.</summary>
    public Action<long, long>? Progress { get; init; }

    private string Target => options.DataDirectory;

    private string JournalTarget => options.JournalDirectory ?? DataDirectory.JournalPathOf(Target);

    /// <summary>Whether the data directory contains an unfinished restore.</summary>
    public bool IsUnfinished => DataDirectory.IsUnfinished(disk, Target);

    /// <summary>The contents of attachments that the restored node lacks, or has with damage. Set by Run.</summary>
    public UnreadableContents Unreadable { get; private set; } = new([], 0);

    /// <summary>
    /// Why the restored node refuses writes that grow the data, for lack of space, in one sentence; null if it has
    /// room.
    /// </summary>
    public string? WhyNoGrowth
    {
        get
        {
            var space = disk.SpaceOf(Target);
            long reserve = options.Reserve.BytesOf(space.TotalBytes);
            return space.FreeBytes >= reserve
                ? null
                : $"Only {Amount.Bytes(space.FreeBytes)} are free in {Target}, less than the {Amount.Bytes(reserve)} "
                    + "that a node keeps in reserve: the node will accept deletes, and refuse writes that grow the "
                    + "data until some space is free.";
        }
    }

    /// <summary>Restores a backup.</summary>
    /// <param name="from">Directory of the backup.</param>
    /// <param name="onlyDatabase">Name of the only database to keep; null for all.</param>
    /// <returns>Names of the restored databases, with their number of documents.</returns>
    /// <exception cref="DirectoryNotEmptyException">The data directory or the journal's directory is not empty. Nothing
    /// was written.</exception>
    /// <exception cref="DataFormatException">The journal's directory is inside the data directory, but its name is not
    /// <c>journal</c>. Nothing was written.</exception>
    /// <exception cref="BackupException">The backup is incomplete or damaged, or does not contain the
    /// database.</exception>
    /// <exception cref="SystemLibraryException">The library that compresses is missing or does not work. Nothing was
    /// written.</exception>
    /// <exception cref="IOException">A disk operation failed. No node opens the unfinished data
    /// directory.</exception>
    public IReadOnlyList<(string Name, long Documents)> Run(string from, string? onlyDatabase)
    {
        var backup = BackupManifest.Read(disk, from);
        Unreadable = onlyDatabase is null ? backup.Unreadable : backup.Unreadable.Of(onlyDatabase);
        CheckRequest(backup, from, onlyDatabase);
        var history = new NewHistory(disk, options, memory, io, time);
        DataDirectory.CreateDurably(disk, Target);
        using (DataDirectory.Lock(disk, Target))
        {
            RefuseUnlessEmpty();
            DataDirectory.MarkUnfinished(disk, Target);
            CopyRuns(backup, from);
            CopyContents(backup, from);
            WriteJournal(history, backup, from);
            DataDirectory.WriteFormat(disk, Target, NodeIds.Create());

            // The newest level, as for a new single node: no member of an older version has to read its data.
            new FormatLevel(options.NewestFormatLevel, FormatLevel.ProgramVersion).Write(disk, Target);
        }

        var data = history.Begin(onlyDatabase);
        if (data.Trouble is { } problem)
        {
            throw new BackupException($"{Target} was not restored: {problem}");
        }

        DataDirectory.MarkFinished(disk, Target);
        return data.Databases;
    }

    private void CheckRequest(BackupManifest backup, string from, string? onlyDatabase)
    {
        if (onlyDatabase is not null && !backup.Databases.Any(name => DatabaseName.AreEqual(name, onlyDatabase)))
        {
            throw new MissingDatabaseException(
                $"There is no database \"{onlyDatabase}\" in {from}; there are: {string.Join(", ", backup.Databases)}."
            );
        }

        RefuseIfNewer(backup);
        Lz4.Require();
        if (DataDirectory.WhyJournalIsMisplaced(disk, Target, options.JournalDirectory) is { } misplaced)
        {
            throw new DataFormatException(misplaced) { IsConfigurationFault = true };
        }

        RefuseUnlessEmpty();
        RefuseUnlessJournalIsEmpty();
        RefuseUnlessRoom(backup, from);
    }

    private void RefuseIfNewer(BackupManifest backup)
    {
        if (backup.Level is { } level && level.Level > options.NewestFormatLevel)
        {
            throw new BackupException(
                $"The backup is written at format level {level.Level}, and this program, version "
                    + $"{FormatLevel.ProgramVersion}, knows levels up to {options.NewestFormatLevel}: restore with "
                    + $"version {level.Program} or a newer one. Nothing was changed."
            );
        }
    }

    private void RefuseUnlessRoom(BackupManifest backup, string from)
    {
        string data = ExistingAbove(Target),
            journal = ExistingAbove(JournalTarget);
        long dataBytes = Add(DataBytesOf(backup), ContentBytesOf(backup, from)),
            journalBytes = Add(JournalBytesOf(backup), JournalReserve);
        if (string.Equals(disk.DeviceOf(data), disk.DeviceOf(journal), StringComparison.Ordinal))
        {
            RefuseUnlessFree(data, Target, Add(dataBytes, journalBytes));
            return;
        }

        RefuseUnlessFree(data, Target, dataBytes);
        RefuseUnlessFree(journal, JournalTarget, journalBytes);
    }

    // A journal with its own directory has its own reserve, in which the prepared segment counts as free.
    private long JournalReserve =>
        options.JournalDirectory is null ? 0 : NodeSpace.JournalReserveOf(options).Bytes - options.SegmentBytes;

    private void RefuseUnlessFree(string existing, string target, long needed)
    {
        long free = disk.SpaceOf(existing).FreeBytes;
        if (free < needed)
        {
            throw new BackupException(
                $"Restoring the backup needs {Amount.Bytes(needed)} for {target}, and {Amount.Bytes(free)} are free "
                    + $"there. Free some space, or restore elsewhere."
            );
        }
    }

    /// <summary>
    /// Returns the bytes of the copied runs, of the runs that the backup's entries become, and of small files, all in
    /// blocks of the file system: a backup may have many small runs.
    /// </summary>
    private static long DataBytesOf(BackupManifest backup) =>
        backup
            .Files.Where(static file => !IsOfContents(file))
            .Aggregate(SmallFiles * BlockBytes, static (sum, file) => Add(sum, InBlocks(file.Bytes)));

    // A file of contents in a backup holds many small contents. A restore writes each of them to its own file, in up to
    // 257 directories for each database: 10,000 contents of 10 bytes are 1 MB in the backup and take 41 MB.
    private long ContentBytesOf(BackupManifest backup, string from)
    {
        long sum = 0;
        var names = new Dictionary<(uint Database, byte Group), long>();
        foreach (var expected in backup.Files.Where(IsOfContents))
        {
            using var source = Open(from, expected);
            foreach (var (place, _, length) in ContentBackup.Read(source))
            {
                var group = (place.Database, (byte)(place.Hash.High >> 120)); // the first byte
                names[group] = names.GetValueOrDefault(group) + 1;
                sum = Add(sum, InBlocks(length));
            }
        }

        long databases = names.Keys.Select(static group => group.Database).Distinct().Count();
        return Add(sum, (databases * BlockBytes) + names.Values.Sum(static count => InBlocks(count * NameBytes)));
    }

    private static long InBlocks(long bytes) => Add(bytes, BlockBytes - 1) / BlockBytes * BlockBytes;

    private static bool IsOfContents(BackupFile file) =>
        file.Name.StartsWith(ContentBackup.Folder + "/", StringComparison.Ordinal);

    /// <summary>
    /// Returns the bytes of the new journal: the segments that the backup's entries fill, the one that is open, and the
    /// one that is prepared.
    /// </summary>
    private long JournalBytesOf(BackupManifest backup)
    {
        long entryBytes = backup
            .Files.Where(static file => string.Equals(file.Name, BackupFrames.FileName, StringComparison.Ordinal))
            .Aggregate(0L, static (sum, file) => Add(sum, file.Bytes));
        return Add(entryBytes, (3L * options.SegmentBytes) - (entryBytes % options.SegmentBytes));
    }

    // Adds without overflow, because the lengths in a forged manifest may be of any size.
    private static long Add(long bytes, long more) => bytes > long.MaxValue - more ? long.MaxValue : bytes + more;

    /// <summary>Returns a path if it exists, otherwise the nearest directory above it that exists.</summary>
    private string ExistingAbove(string path)
    {
        while (!disk.Exists(path))
        {
            path = Path.GetDirectoryName(path)!;
        }

        return path;
    }

    private void RefuseUnlessEmpty()
    {
        if (!DurableFiles.IsEmpty(disk, Target, DataDirectory.LockName))
        {
            throw new DirectoryNotEmptyException(
                DataDirectory.IsUnfinished(disk, Target)
                    ? $"{Target} holds a restore that did not finish. Delete {DescribeBegun()}, and restore again."
                    : $"{Target} is not empty. A backup is restored into an empty or new directory only; "
                        + $"nothing was changed."
            );
        }
    }

    // An earlier restore may have begun a journal elsewhere, which would refuse the next one.
    private string DescribeBegun() =>
        options.JournalDirectory is { } journal && !DurableFiles.IsEmpty(disk, journal) ? $"it and {journal}" : "it";

    private void RefuseUnlessJournalIsEmpty()
    {
        if (!DurableFiles.IsEmpty(disk, JournalTarget))
        {
            throw new DirectoryNotEmptyException(
                $"{JournalTarget} is not empty. The journal of a restored node begins in an empty or new "
                    + $"directory only; nothing was changed."
            );
        }
    }

    private void CopyRuns(BackupManifest backup, string from)
    {
        string storage = DataDirectory.StoragePathOf(Target);
        DataDirectory.CreateDurably(disk, storage);
        long copied = 0;
        foreach (
            var expected in backup.Files.Where(file =>
                file.Name.StartsWith(NodeBackup.StorageFolder + "/", StringComparison.Ordinal)
            )
        )
        {
            using var source = Open(from, expected);
            RefuseUnless(source.Length == expected.Bytes, source.Path);
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

    private void CopyContents(BackupManifest backup, string from)
    {
        var files = backup.Files.Where(IsOfContents).ToArray();
        if (files.Length == 0)
        {
            return;
        }

        var directory = new ContentDirectory(disk, Target);
        foreach (var expected in files)
        {
            using var source = Open(from, expected);
            RefuseUnless(source.Length == expected.Bytes, source.Path);
            uint checksum = ContentBackup.Restore(source, directory.CreateNamed);
            RefuseUnless(checksum == expected.Checksum, source.Path);
        }

        directory.SyncNamed();
    }

    private void WriteJournal(NewHistory history, BackupManifest backup, string from)
    {
        var expected =
            backup.Files.FirstOrDefault(file =>
                string.Equals(file.Name, BackupFrames.FileName, StringComparison.Ordinal)
            )
            ?? throw new BackupException(
                $"{from} names no file {BackupFrames.FileName} in its manifest. Use another backup."
            );
        using var file = Open(from, expected);
        RefuseUnless(
            file.Length == expected.Bytes && DurableFiles.Read(file, pieceRead: null) == expected.Checksum,
            file.Path
        );
        history.WriteJournal(BackupFrames.Read(file));
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
            throw new BackupException(
                $"{path} is damaged: its bytes are not those that were backed up. Use another backup. "
                    + $"{Target} holds a restore that did not finish: delete {DescribeBegun()}."
            );
        }
    }
}
