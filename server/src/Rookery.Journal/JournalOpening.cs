using System.Security.Cryptography;
using Rookery.Platform;

namespace Rookery.Journal;

/// <summary>
/// From a directory to a journal that can be written: find, read, judge, then close the door behind what was read.
/// </summary>
internal static class JournalOpening
{
    /// <summary>Opens a journal, or begins one at <paramref name="newJournalStart"/>.</summary>
    public static NodeJournal Open(
        IDisk disk,
        JournalOptions options,
        JournalKnowledge knowledge,
        IIoRecorder io,
        JournalPosition newJournalStart
    )
    {
        Invariant.Holds(
            options.SegmentBytes >= 2 * FrameLayout.BlockBytes && options.SegmentBytes % FrameLayout.BlockBytes == 0,
            "a segment is a whole number of blocks, two at least"
        );
        disk.CreateDirectory(options.Directory);
        var directoryLock = disk.Lock(Path.Join(options.Directory, "lock"));
        JournalDirectory? found = null;
        JournalAppender? appender = null;
        var pool = new SegmentPool(disk, options, io);
        try
        {
            // Names that a killed process made may be known to the system and not yet to the device.
            disk.SyncDirectory(options.Directory);
            found = JournalDirectory.Find(disk, options, io);
            var walk = new RecoveryWalk(found, options, knowledge);
            walk.Run();
            if (walk.Map is null)
            {
                disk.SyncDirectory(Path.GetDirectoryName(options.Directory)!);
            }

            appender = AppenderAfter(walk, found, options, pool, io, newJournalStart);
            var recovery = walk.Report(found.PutInOrder(appender.Live, walk.Dropped, pool));
            GoOn(appender, walk);
            NoteNewest(appender);
            found.ReleaseDropped(pool);
            return new NodeJournal(
                appender,
                pool,
                options,
                directoryLock,
                recovery,
                walk.Rebase is null ? walk.Entries : []
            );
        }
        catch
        {
            appender?.Dispose();
            found?.Dispose();
            pool.Dispose();
            directoryLock.Dispose();
            throw;
        }
    }

    /// <summary>
    /// Notes the newest segment where the disk lets it. A full disk must not keep a whole journal from opening: the
    /// note is tried again beside the work on the next segment.
    /// </summary>
    private static void NoteNewest(JournalAppender appender)
    {
        try
        {
            appender.NoteNewest();
        }
        catch (DiskException)
        {
            // The earlier note stays, and protects what it names.
        }
    }

    /// <summary>A note of this node, without payload.</summary>
    public static JournalFrame LocalFrame(FrameType type, LogMap map) =>
        new(type, Index: 0, Term: 0, map.Position.Operations, OperationCount: 0, Payload: default);

    /// <summary>What reads, and could write, behind what a walk has read.</summary>
    public static JournalAppender AppenderAfter(
        RecoveryWalk walk,
        JournalDirectory found,
        JournalOptions options,
        SegmentPool pool,
        IIoRecorder io,
        JournalPosition newJournalStart
    )
    {
        var newest = walk.Live.Count == 0 ? null : walk.Live[^1].Header;
        var storeId =
            newest?.StoreId
            ?? (options.StoreId == Guid.Empty ? new Guid(RandomNumberGenerator.GetBytes(16)) : options.StoreId);
        found.Note.Bind(storeId);
        var appender = new JournalAppender(
            options,
            pool,
            io,
            found.Note,
            newest?.ClusterId ?? options.ClusterId,
            storeId
        )
        {
            Map = walk.Map ?? LogMap.Empty(newJournalStart),
            RebaseMark = newest?.RebaseMark ?? 0,
            LastWrite = walk.LastWrite,

            // A torn first write may have used the next incarnation without leaving its header: that number is left
            // out.
            LastIncarnation = found.HighestIncarnation + 1,
        };
        appender.Live.AddRange(walk.Live);
        return appender;
    }

    /// <summary>
    /// Makes what was read durable: its sync may have failed, or may not have been called. Then either notes that a
    /// clean stop is no longer the end, or begins a segment, so that nothing an interrupted write left behind can
    /// follow what is written next, and no frame of this version lies in a segment that says an older one.
    /// </summary>
    private static void GoOn(JournalAppender appender, RecoveryWalk walk)
    {
        if (walk.Rebase is { } rebase)
        {
            // the header brings the vote along: nothing of the old log has to be made durable first
            appender.BeginAnew(rebase);
            return;
        }

        var last = appender.Live.Count == 0 ? null : appender.Live[^1];
        if (last is { HasFrames: true })
        {
            appender.RewriteEnd(walk.LastWriteOffset);
        }

        if (
            walk.TailVerdict == TailVerdict.GoOnAfterCleanStop
            && last!.Header!.Version == SegmentHeader.FormatVersion
            && last.End + FrameLayout.BlockBytes <= last.Length
        )
        {
            appender.Append([LocalFrame(FrameType.Start, appender.Map)]);
        }
        else
        {
            appender.BeginSegment();
        }
    }
}
