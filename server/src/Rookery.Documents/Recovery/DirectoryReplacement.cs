using Rookery.Documents.Backups;
using Rookery.Documents.Nodes;
using Rookery.Journal;
using Rookery.Platform;

namespace Rookery.Documents.Recovery;

/// <summary>
/// Replaces the data in a data directory by data that a recovery built in a subdirectory. The file
/// <c>format.recovered</c> decides. While it does not exist, the old data is valid, and the next opening deletes the
/// new data. When it exists, the new data is valid, and the next opening completes the renames. The old data is kept
/// under other names.
/// </summary>
internal static class DirectoryReplacement
{
    private const string WorkName = "recovered";
    private const string WaitingSuffix = ".recovered";
    private const string Decision = DataDirectory.FormatName + WaitingSuffix;

    // All renames are in one directory. After a power cut a prefix of them has happened, never a later one without the
    // earlier ones.
    private static readonly string[] Parts = [DataDirectory.StorageName, DataDirectory.IdentityName];

    /// <summary>Returns the directory in which the new data are built.</summary>
    public static string WorkPathOf(string directory) => Path.Combine(directory, WorkName);

    /// <summary>Returns the suffix for the names of the replaced data.</summary>
    public static string KeptSuffixOf(NodeIds replaced) => ".before-" + replaced.ClusterId;

    /// <summary>Returns whether the new data is valid but not yet renamed completely.</summary>
    public static bool IsDecided(IDisk disk, string directory) => disk.Exists(Path.Combine(directory, Decision));

    /// <summary>
    /// Makes the new data valid, durably: the data in <see cref="WorkPathOf"/> and the prepared journal.
    /// <see cref="Settle"/> completes the renames.
    /// </summary>
    public static void Decide(IDisk disk, string directory, NodeIds ids)
    {
        string work = WorkPathOf(directory);
        foreach (string part in Parts.Where(part => disk.Exists(Path.Combine(work, part))))
        {
            disk.Rename(Path.Combine(work, part), Path.Combine(directory, part + WaitingSuffix));
        }

        disk.SyncDirectory(work);
        disk.SyncDirectory(directory);
        DataDirectory.WriteFormat(disk, directory, ids, Decision);
    }

    /// <summary>
    /// Completes a decided replacement. Deletes the new data of an undecided one. The caller holds the directory's
    /// lock.
    /// </summary>
    /// <exception cref="DataFormatException">The prepared journal is not in
    /// <paramref name="journalDirectory"/>.</exception>
    public static void Settle(IDisk disk, string directory, string journalDirectory)
    {
        if (IsDecided(disk, directory))
        {
            Complete(disk, directory, journalDirectory);
        }

        Discard(disk, directory, journalDirectory);
    }

    private static void Complete(IDisk disk, string directory, string journalDirectory)
    {
        string suffix = KeptSuffixOf(DataDirectory.ReadFormat(disk, directory));
        if (!JournalReplacement.IsPrepared(disk, journalDirectory))
        {
            throw new DataFormatException(
                $"{directory} was recovered, but its journal is not in {journalDirectory}. Pass the journal "
                    + $"directory of the recovery, with --journal."
            )
            {
                IsConfigurationFault = true,
            };
        }

        JournalReplacement.Complete(disk, journalDirectory, suffix);
        foreach (string part in Parts.Where(part => disk.Exists(Path.Combine(directory, part + WaitingSuffix))))
        {
            string path = Path.Combine(directory, part);
            if (disk.Exists(path))
            {
                disk.Rename(path, path + suffix);
            }

            disk.Rename(path + WaitingSuffix, path);
        }

        string format = Path.Combine(directory, DataDirectory.FormatName);
        if (!disk.Exists(format + suffix))
        {
            disk.Link(format, format + suffix);
        }

        disk.Rename(Path.Combine(directory, Decision), format);
        disk.SyncDirectory(directory);
    }

    private static void Discard(IDisk disk, string directory, string journalDirectory)
    {
        string work = WorkPathOf(directory);
        string undecided = Path.Combine(directory, Decision + ".new");
        if (disk.Exists(undecided))
        {
            disk.Delete(undecided);
        }

        string[] waiting = [.. Parts.Select(part => Path.Combine(directory, part + WaitingSuffix)).Where(disk.Exists)];
        if (waiting.Length == 0 && !disk.Exists(work))
        {
            return;
        }

        // The journal's files are deleted first, because without the other files no start would look for them.
        JournalReplacement.Discard(disk, journalDirectory);
        foreach (string path in waiting)
        {
            DurableFiles.DeleteTree(disk, path);
        }

        if (disk.Exists(work))
        {
            DurableFiles.DeleteTree(disk, work);
        }
    }
}
