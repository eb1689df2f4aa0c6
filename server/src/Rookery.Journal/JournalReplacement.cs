using Rookery.Platform;

namespace Rookery.Journal;

/// <summary>
/// Replaces the journal of a stopped node by renaming files in its directory. The new journal is first one segment
/// under a name that opening a journal ignores. The old segments are kept under such names. An interrupted
/// <see cref="Complete"/> may be called again.
/// </summary>
public static class JournalReplacement
{
    private const string WaitingSuffix = ".recovered";
    private const string WorkName = "recovered";

    /// <summary>Creates the new journal durably, without entries, continuing after a position.</summary>
    /// <param name="disk">The disk.</param>
    /// <param name="options">Directory, store id and segment length.</param>
    /// <param name="start">Position after which the journal continues.</param>
    /// <param name="io">Records all disk work.</param>
    public static void Prepare(IDisk disk, JournalOptions options, JournalPosition start, IIoRecorder io)
    {
        Discard(disk, options.Directory);
        string work = Path.Join(options.Directory, WorkName);
        NodeJournal.Create(
            disk,
            new JournalOptions
            {
                Directory = work,
                SegmentBytes = options.SegmentBytes,
                StoreId = options.StoreId,
            },
            start,
            io
        );
        string[] segments = SegmentsIn(disk, work);
        Invariant.Holds(segments.Length == 1, "a journal without entries is one segment");
        disk.Link(Path.Join(work, segments[0]), Path.Join(options.Directory, segments[0] + WaitingSuffix));
        disk.SyncDirectory(options.Directory);
    }

    /// <summary>
    /// Returns whether <see cref="Prepare"/> was done in the directory and <see cref="Discard"/> was not. Stays true
    /// after <see cref="Complete"/>.
    /// </summary>
    public static bool IsPrepared(IDisk disk, string directory) => disk.Exists(Path.Join(directory, WorkName));

    /// <summary>Renames the old journal's files and then the new one to its final name, durably.</summary>
    /// <param name="disk">The disk.</param>
    /// <param name="directory">The journal's directory. If it contains no prepared journal, nothing happens.</param>
    /// <param name="keptSuffix">Suffix for the names of the old journal's segments.</param>
    public static void Complete(IDisk disk, string directory, string keptSuffix)
    {
        // The new segment is renamed last. Until then all other segments belong to the old journal.
        if (WaitingIn(disk, directory) is { } waiting)
        {
            // The note belongs to the old journal too.
            if (disk.Exists(NewestNote.PathIn(directory)))
            {
                disk.Rename(NewestNote.PathIn(directory), NewestNote.PathIn(directory) + keptSuffix);
            }

            foreach (string name in SegmentsIn(disk, directory))
            {
                disk.Rename(Path.Join(directory, name), Path.Join(directory, name + keptSuffix));
            }

            disk.Rename(Path.Join(directory, waiting), Path.Join(directory, waiting[..^WaitingSuffix.Length]));
        }

        disk.SyncDirectory(directory);
    }

    /// <summary>Deletes the files of <see cref="Prepare"/>, complete or not.</summary>
    public static void Discard(IDisk disk, string directory)
    {
        if (!disk.Exists(directory))
        {
            return;
        }

        if (WaitingIn(disk, directory) is { } waiting)
        {
            disk.Delete(Path.Join(directory, waiting));
        }

        string work = Path.Join(directory, WorkName);
        if (disk.Exists(work))
        {
            foreach (string name in disk.List(work))
            {
                disk.Delete(Path.Join(work, name));
            }

            disk.DeleteDirectory(work);
        }
    }

    private static string? WaitingIn(IDisk disk, string directory) =>
        disk.List(directory)
            .FirstOrDefault(static name =>
                name.EndsWith(WaitingSuffix, StringComparison.Ordinal)
                && SegmentName.TryParse(name[..^WaitingSuffix.Length], out _)
            );

    private static string[] SegmentsIn(IDisk disk, string directory) =>
        [.. disk.List(directory).Where(static name => SegmentName.TryParse(name, out _))];
}
