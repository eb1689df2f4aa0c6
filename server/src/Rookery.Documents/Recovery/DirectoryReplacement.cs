using Rookery.Documents.Backups;
using Rookery.Documents.Nodes;
using Rookery.Journal;
using Rookery.Platform;

namespace Rookery.Documents.Recovery;

/// <summary>
/// Replaces the data in a data directory by that which a recovery made beside it. One file decides: while
/// <c>format.recovered</c> is not there, the old data counts and what was begun is deleted at the next opening; from
/// then on the new data counts, and the next opening completes what is left to be renamed. The old data stays, under
/// other names.
/// </summary>
internal static class DirectoryReplacement
{
    private const string WorkName = "recovered";
    private const string WaitingSuffix = ".recovered";
    private const string Decision = DataDirectory.FormatName + WaitingSuffix;

    // All names are changed in one directory, and a power cut leaves the first of its changes: never a later one
    // without those before.
    private static readonly string[] Parts = [DataDirectory.StorageName, DataDirectory.IdentityName];

    /// <summary>Where the new data is made.</summary>
    public static string WorkPathOf(string directory) => Path.Combine(directory, WorkName);

    /// <summary>What is added to the names of data that was replaced.</summary>
    public static string KeptSuffixOf(NodeIds replaced) => ".before-" + replaced.ClusterId;

    /// <summary>Whether new data counts already, and is not all in its place.</summary>
    public static bool IsDecided(IDisk disk, string directory) => disk.Exists(Path.Combine(directory, Decision));

    /// <summary>
    /// Lets the new data count, durably: from <see cref="WorkPathOf"/>, and a journal that waits. <see cref="Settle"/>
    /// completes it.
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
    /// Completes a replacement that was decided, and deletes what is left of one that was not. The caller holds the
    /// directory's lock.
    /// </summary>
    /// <exception cref="DataFormatException">The journal that was to be replaced is not in
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
        if (
            !JournalReplacement.IsPrepared(disk, journalDirectory)
            && !JournalReplacement.IsKept(disk, journalDirectory, suffix)
        )
        {
            throw new DataFormatException(
                $"{directory} was recovered, and its journal is not in {journalDirectory}. Name the "
                    + $"directory with which it was recovered, with --journal."
            )
            {
                IsOfDirectory = true,
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

        // The journal's first: without the others nobody would look for it again.
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
