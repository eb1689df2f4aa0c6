using System.Text;
using Rookery.Documents.Backups;
using Rookery.Documents.Recovery;
using Rookery.Journal;
using Rookery.Platform;
using Rookery.Storage;

namespace Rookery.Documents.Nodes;

/// <summary>
/// A node's data directory, locked while it is open and created if it is missing. It contains <c>lock</c>,
/// <c>format</c> (one line each: format version, node id, cluster id, CRC-32C of the lines before), <c>storage/</c>
/// and, unless it has a directory of its own, <c>journal/</c>.
/// </summary>
internal sealed class DataDirectory : IDisposable
{
    /// <summary>
    /// Version of the layout, and of every file format in the directory that has no version of its own.
    /// </summary>
    public const int FormatVersion = 1;

    /// <summary>The name of the lock file.</summary>
    public const string LockName = "lock";

    /// <summary>The name of the format file.</summary>
    public const string FormatName = "format";

    /// <summary>The name of the storage engine's directory.</summary>
    public const string StorageName = "storage";

    /// <summary>Directory of the indexes. Rookery.Indexing creates it when the node serves.</summary>
    public const string IndexesName = "indexes";

    /// <summary>
    /// Directory with the node's identity in a cluster. Rookery.Cluster writes it before the first start of a node that
    /// joins a cluster.
    /// </summary>
    public const string IdentityName = "cluster";

    private const int LineCount = 4;
    private const string Heading = "rookery data format ";
    private const string UnfinishedMark = "restore-unfinished";
    private const string FormatRemedy =
        "Put the file back from a copy of the directory; where there is none, restore a backup, "
        + "or on a member of a cluster replace the member, with `rookery cluster node replace NAME` on another one.";
    private const string PutFormatBack = "Nothing was changed. " + FormatRemedy;

    private readonly IDisk _disk;
    private readonly IDisposable _lock;

    private DataDirectory(IDisk disk, string path, string? journalPath, IDisposable held)
    {
        _disk = disk;
        _lock = held;
        Path = path;
        JournalPath = journalPath ?? JournalPathOf(path);
    }

    /// <summary>The directory.</summary>
    public string Path { get; }

    /// <summary>The journal's directory.</summary>
    public string JournalPath { get; }

    /// <summary>The storage engine's directory.</summary>
    public string StoragePath => StoragePathOf(Path);

    /// <summary>
    /// The directory of a backup's checkpoint: on the file system of the runs, because it holds hard links to them.
    /// </summary>
    public string CheckpointPath => System.IO.Path.Combine(Path, "checkpoint");

    /// <summary>The directory of the snapshot that is offered to members that lag.</summary>
    public string OfferPath => System.IO.Path.Combine(Path, "offer");

    /// <summary>The directory into which another member's snapshot is fetched.</summary>
    public string InboxPath => System.IO.Path.Combine(StoragePath, "incoming");

    /// <summary>
    /// Whether no first start was completed here: the format file, which is written once journal and storage exist, is
    /// missing.
    /// </summary>
    public bool IsNew => IsNewAt(_disk, Path);

    /// <summary>The node's random id; empty while the directory is new.</summary>
    public string NodeId { get; private set; } = string.Empty;

    /// <summary>The cluster's random id; empty while the directory is new.</summary>
    public string ClusterId { get; private set; } = string.Empty;

    /// <summary>Returns whether no first start was completed in the directory.</summary>
    public static bool IsNewAt(IDisk disk, string directory) => !disk.Exists(FormatPath(directory));

    /// <summary>
    /// Returns a message if the format file is missing from a directory that a node used; null if the file exists or
    /// nothing shows a use.
    /// </summary>
    public static string? WhyNoFormat(IDisk disk, string directory)
    {
        if (!IsNewAt(disk, directory))
        {
            return null;
        }

        if (BackupManifest.IsBackup(disk, directory))
        {
            return $"{directory} holds a backup, and no data of a node. Nothing was changed. Restore it into another "
                + $"directory: `rookery restore --from {directory} --data DIR`.";
        }

        return FindTraceOfUse(disk, directory) is { } trace
            ? $"{directory} was in use before, as {trace} shows, but {FormatPath(directory)}, "
                + $"which contains the ids of node and cluster, is missing. {PutFormatBack}"
            : null;
    }

    /// <summary>
    /// Returns why a directory cannot be the journal's; null if it can. The data directory itself is refused, and so is
    /// every directory in it except <c>journal</c>, because the node deletes unknown files in some of them and locks
    /// others.
    /// </summary>
    public static string? WhyJournalIsMisplaced(IDisk disk, string directory, string? journalDirectory)
    {
        if (
            journalDirectory is null
            || System.IO.Path.TrimEndingDirectorySeparator(System.IO.Path.GetRelativePath(directory, journalDirectory))
                is not { } below
            || below is "journal" or ".."
            || below.StartsWith("../", StringComparison.Ordinal)
        )
        {
            return null;
        }

        // Without its journal, a node that was started with this directory would lack its latest writes.
        string remedy = IsNewAt(disk, directory)
            ? "Name a directory outside of it for the journal, or leave the option out: the journal is then in "
                + $"{JournalPathOf(directory)}."
            : $"If the journal is there already, move its files to {JournalPathOf(directory)} and leave the option "
                + "out, or move them to a directory outside of it and name that one. Without these files the data "
                + "are incomplete.";
        return $"The journal cannot be in {journalDirectory}: {directory} holds other data of the node. Nothing was "
            + $"changed. {remedy}";
    }

    /// <summary>
    /// Returns why a first start is not allowed in the directory: it contains an unfinished restore, a backup or
    /// foreign files, or the journal's directory is misplaced or not empty. Null if it is allowed, or if a node was
    /// started here before.
    /// </summary>
    public static string? WhyNotNew(IDisk disk, string directory, string? journalDirectory)
    {
        if (WhyJournalIsMisplaced(disk, directory, journalDirectory) is { } misplaced)
        {
            return misplaced;
        }

        if (IsUnfinished(disk, directory))
        {
            return UnfinishedMessage(directory);
        }

        if (!IsNewAt(disk, directory))
        {
            return null;
        }

        if (WhyNoFormat(disk, directory) is { } used)
        {
            return used;
        }

        // An interrupted first start leaves some of these files; it creates the lock first.
        string[] names = disk.Exists(directory) ? [.. disk.List(directory)] : [];
        if (
            Array.Find(
                names,
                name =>
                    name
                        is not (
                            LockName
                            or StorageName
                            or "journal"
                            or FormatName + ".new"
                            or IdentityName
                            or IdentityName + ".new"
                            or NodeIds.JoiningName
                            or NodeIds.JoiningName + ".new"
                            or NodeIds.FormingName
                            or NodeIds.FormingName + ".new"
                            or DurableFiles.LostAndFound
                        )
            ) is
            { } foreign
        )
        {
            return $"{directory} holds files that are not Rookery's, such as "
                + $"{System.IO.Path.Combine(directory, foreign)}, and no data of a node. Nothing was changed; name "
                + $"an empty directory, or a new one.";
        }

        bool isBegun = names.Contains(LockName, StringComparer.Ordinal);
        return isBegun || journalDirectory is null || DurableFiles.IsEmpty(disk, journalDirectory)
            ? null
            : $"{directory} holds no data, but {journalDirectory} is not empty: it holds "
                + $"{System.IO.Path.Combine(journalDirectory, FirstNameIn(disk, journalDirectory))}. Nothing was "
                + $"changed; name the data directory that this journal belongs to, or an empty directory for a new "
                + $"journal.";
    }

    /// <summary>Returns the storage engine's directory within a data directory.</summary>
    public static string StoragePathOf(string directory) => System.IO.Path.Combine(directory, StorageName);

    /// <summary>Returns the journal's directory within a data directory, if it has no directory of its own.</summary>
    public static string JournalPathOf(string directory) => System.IO.Path.Combine(directory, "journal");

    /// <summary>
    /// Locks the directory, and creates it if it is missing. Completes or undoes an interrupted recovery
    /// (<see cref="DirectoryReplacement"/>).
    /// </summary>
    /// <exception cref="DataDirectoryInUseException">Another process has locked it.</exception>
    /// <exception cref="DataFormatException">The interrupted recovery had another journal directory, or a newer program
    /// wrote the data.</exception>
    public static DataDirectory Lock(IDisk disk, NodeOptions options)
    {
        var (path, journalPath) = (options.DataDirectory, options.JournalDirectory);
        FormatLevel.Check(disk, path, options.NewestFormatLevel);
        if (WhyJournalIsMisplaced(disk, path, journalPath) is { } misplaced)
        {
            throw new DataFormatException(misplaced) { IsConfigurationFault = true };
        }

        if (!disk.Exists(FormatPath(path)))
        {
            CreateDurably(disk, path);
            CreateDurably(disk, journalPath ?? JournalPathOf(path));
        }

        var held = Lock(disk, path);
        try
        {
            DirectoryReplacement.Settle(disk, path, journalPath ?? JournalPathOf(path));
            return new DataDirectory(disk, path, journalPath, held);
        }
        catch
        {
            held.Dispose();
            throw;
        }
    }

    /// <summary>
    /// Creates a directory and its missing parents, and syncs the parents. Otherwise a power cut could remove the
    /// directory with everything synced in it. Also syncs the parent of an existing directory, because a killed process
    /// may just have created it.
    /// </summary>
    public static void CreateDurably(IDisk disk, string path)
    {
        if (System.IO.Path.GetDirectoryName(path) is not { } parent)
        {
            return;
        }

        if (!disk.Exists(parent))
        {
            CreateDurably(disk, parent);
        }

        disk.CreateDirectory(path);
        disk.SyncDirectory(parent);
    }

    /// <summary>
    /// Reads the format file. Refuses a directory whose journal is missing: an empty journal would lose acknowledged
    /// writes.
    /// </summary>
    /// <param name="mayBeUnfinished">Whether the caller is the restore that writes this directory.</param>
    /// <exception cref="DataFormatException">A newer version wrote the directory, or it is not a data directory, lacks
    /// its journal, or contains an unfinished restore.</exception>
    public void Check(bool mayBeUnfinished)
    {
        if (!mayBeUnfinished && IsUnfinished(_disk, Path))
        {
            throw new DataFormatException(UnfinishedMessage(Path)) { IsConfigurationFault = true };
        }

        if (WhyNoFormat(_disk, Path) is { } used)
        {
            throw new DataFormatException(used) { IsConfigurationFault = true };
        }

        _disk.CreateDirectory(StoragePath);
        _disk.SyncDirectory(Path);
        if (IsNew)
        {
            return;
        }

        SetIds(ReadFormat(_disk, Path));
        if (!_disk.Exists(JournalPath) || _disk.List(JournalPath).Count == 0)
        {
            throw new DataFormatException(
                $"{Path} was in use before, but there is no journal in {JournalPath}. Nothing was changed. "
                    + $"Mount or put back the journal's directory; where it is lost, restore a backup, or on a "
                    + $"member of a cluster replace the member, with `rookery cluster node replace NAME` on "
                    + $"another one."
            )
            {
                IsConfigurationFault = true,
            };
        }
    }

    /// <summary>Returns the exception for a format file that names another node than the log.</summary>
    public DataFormatException MakeForeignFormatException() =>
        new(
            $"{FormatPath(Path)} is that of another node: it names node {NodeId}, but the log in {JournalPath} belongs "
                + $"to a different node. {FormatRemedy}"
        );

    /// <summary>Writes the format file if the directory is new. Called when journal and storage exist.</summary>
    /// <param name="ids">The ids of a new directory; ignored for others.</param>
    public void Complete(NodeIds ids)
    {
        if (IsNew)
        {
            WriteFormat(_disk, Path, ids);
        }

        SetIds(ReadFormat(_disk, Path));
    }

    /// <summary>Writes a new format file, durably and atomically.</summary>
    public static void WriteFormat(IDisk disk, string path, NodeIds ids, string name = FormatName)
    {
        string text = $"{Heading}{FormatVersion}\nnode {ids.NodeId}\ncluster {ids.ClusterId}\n";
        Replace(disk, path, name, text + CheckLine(text));
    }

    /// <summary>Writes a small file, durably and atomically.</summary>
    public static void Replace(IDisk disk, string path, string name, string text)
    {
        string target = System.IO.Path.Combine(path, name);
        string temporary = target + ".new";
        if (disk.Exists(temporary))
        {
            disk.Delete(temporary);
        }

        using (var file = disk.Open(temporary, DiskOpen.CreateNew))
        {
            file.Write(Encoding.ASCII.GetBytes(text), 0);
            file.Sync();
        }

        disk.Rename(temporary, target);
        disk.SyncDirectory(path);
    }

    /// <summary>
    /// Marks the directory durably as an unfinished restore, before the restore writes its first file. No node opens a
    /// marked directory.
    /// </summary>
    public static void MarkUnfinished(IDisk disk, string path)
    {
        using (var mark = disk.Open(System.IO.Path.Combine(path, UnfinishedMark), DiskOpen.CreateNew))
        {
            mark.Sync();
        }

        disk.SyncDirectory(path);
    }

    /// <summary>Removes the mark, after syncing the directory.</summary>
    public static void MarkFinished(IDisk disk, string path)
    {
        disk.SyncDirectory(path);
        disk.Delete(System.IO.Path.Combine(path, UnfinishedMark));
        disk.SyncDirectory(path);
    }

    /// <summary>Returns whether the directory is marked as an unfinished restore.</summary>
    public static bool IsUnfinished(IDisk disk, string path) =>
        disk.Exists(System.IO.Path.Combine(path, UnfinishedMark));

    private static string UnfinishedMessage(string path) =>
        $"{path} holds a restore that did not finish. Delete the directory and run `rookery restore` again.";

    /// <summary>Locks the lock file of a directory.</summary>
    public static IDisposable Lock(IDisk disk, string path)
    {
        try
        {
            return disk.Lock(System.IO.Path.Combine(path, LockName));
        }
        catch (DiskException refused) when (refused.Error == Errno.WouldBlock)
        {
            throw new DataDirectoryInUseException(path);
        }
    }

    /// <inheritdoc/>
    public void Dispose() => _lock.Dispose();

    // Returns a path that proves that a node ran here, or null. A first start that was interrupted before it wrote the
    // format file never leaves such a path.
    private static string? FindTraceOfUse(IDisk disk, string directory)
    {
        string[] writtenAfterFormat =
        [
            .. new[] { FormatLevel.FileName, IndexesName }.Select(name => System.IO.Path.Combine(directory, name)),
        ];
        var storage = StorageEngine.UseOf(disk, StoragePathOf(directory));
        return Array.Find(writtenAfterFormat, disk.Exists)
            ?? (storage == StorageUse.InUse ? StoragePathOf(directory) : null)
            ?? (
                storage == StorageUse.None && NodeJournal.ExistsAt(disk, JournalPathOf(directory))
                    ? JournalPathOf(directory)
                    : null
            );
    }

    private static string FirstNameIn(IDisk disk, string directory) =>
        disk.List(directory).First(name => name is not DurableFiles.LostAndFound);

    private static string FormatPath(string path) => System.IO.Path.Combine(path, FormatName);

    private void SetIds(NodeIds ids) => (NodeId, ClusterId) = (ids.NodeId, ids.ClusterId);

    /// <summary>Reads the format file.</summary>
    public static NodeIds ReadFormat(IDisk disk, string path)
    {
        using var file = disk.Open(FormatPath(path), DiskOpen.Read);
        byte[] bytes = new byte[Math.Min(file.Length, 256)];
        string text = Encoding.ASCII.GetString(bytes, 0, file.Read(bytes, 0));
        string[] lines = text.Split('\n');
        if (
            lines.Length < LineCount
            || !lines[0].StartsWith(Heading, StringComparison.Ordinal)
            || !int.TryParse(lines[0].AsSpan(Heading.Length), out int version)
        )
        {
            string state = text.Length == 0 ? "empty" : "damaged";
            throw new DataFormatException(
                $"{FormatPath(path)}, which contains the ids of node and cluster, is {state}. {PutFormatBack}"
            );
        }

        if (version != FormatVersion)
        {
            throw new DataFormatException(
                $"{path} has data format {version}; this version of Rookery reads format {FormatVersion}. "
                    + $"Start the version that wrote it."
            );
        }

        string content = string.Concat(lines.Take(LineCount - 1).Select(line => line + "\n"));
        return string.Equals(text, content + CheckLine(content), StringComparison.Ordinal)
            ? new NodeIds(lines[1][("node ".Length)..], lines[2][("cluster ".Length)..])
            : throw new DataFormatException(
                $"{FormatPath(path)} is damaged: its checksum does not match. {PutFormatBack}"
            );
    }

    /// <summary>Returns the last line of a small file: the checksum of the lines before.</summary>
    public static string CheckLine(string content) => $"check {Checksum.Of(Encoding.ASCII.GetBytes(content)):x8}\n";
}

/// <summary>Thrown if this program cannot read a data directory. The message states why and what to do.</summary>
/// <param name="message">One sentence.</param>
public sealed class DataFormatException(string message) : IOException(message)
{
    /// <summary>
    /// Whether the program ends with the exit code for a wrong configuration, because another path, the directory's
    /// missing files or another version of the program may help.
    /// </summary>
    public bool IsConfigurationFault { get; init; }
}
