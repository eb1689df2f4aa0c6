using Rookery.Platform;

namespace Rookery.Journal;

/// <summary>
/// Puts another journal in the place of a stopped node's, in its directory, by names alone: the new one waits there as
/// one segment under a name that no opening reads, and the old one stays under names that none reads either.
/// <see cref="Complete"/> may be cut off and called again.
/// </summary>
public static class JournalReplacement
{
    private const string WaitingSuffix = ".recovered";
    private const string WorkName = "recovered";

    /// <summary>
    /// Makes the new journal: without entries, and going on behind a place. When it returns, a power cut leaves it
    /// waiting.
    /// </summary>
    /// <param name="disk">The disk.</param>
    /// <param name="options">The directory, the store's id and the segments' length.</param>
    /// <param name="start">Where it goes on.</param>
    /// <param name="io">Is told of disk work.</param>
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

    /// <summary>Whether a new journal waits.</summary>
    public static bool IsPrepared(IDisk disk, string directory) =>
        disk.Exists(directory) && WaitingIn(disk, directory) is not null;

    /// <summary>Whether an old journal was put away under a suffix.</summary>
    public static bool IsKept(IDisk disk, string directory, string suffix) =>
        disk.Exists(directory)
        && disk.List(directory)
            .Any(name =>
                name.EndsWith(suffix, StringComparison.Ordinal) && SegmentName.TryParse(name[..^suffix.Length], out _)
            );

    /// <summary>Puts the old journal away and the new one in its place, durably.</summary>
    /// <param name="disk">The disk.</param>
    /// <param name="directory">The journal's directory; nothing happens when no journal waits in it.</param>
    /// <param name="keptSuffix">What is added to the names of the old journal's segments.</param>
    public static void Complete(IDisk disk, string directory, string keptSuffix)
    {
        // The new segment takes its name last: as long as it waits, every other one is of the old journal.
        if (WaitingIn(disk, directory) is { } waiting)
        {
            // The note is of the old journal's segments too.
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

    /// <summary>
    /// Deletes what <see cref="Prepare"/> left, whole or not: what waits there must not count any more.
    /// </summary>
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
