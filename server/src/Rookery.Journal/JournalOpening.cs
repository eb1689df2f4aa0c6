using System.Security.Cryptography;
using Rookery.Platform;

namespace Rookery.Journal;

/// <summary>
/// Opens a journal: lists and reads the files, judges the log's end, and ensures that bytes after that end are never
/// read again.
/// </summary>
internal static class JournalOpening
{
    /// <summary>Opens a journal, or creates one at <paramref name="newJournalStart"/>.</summary>
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
        JournalDirectory? directory = null;
        JournalAppender? appender = null;
        var pool = new SegmentPool(disk, options, io);
        try
        {
            // Names that a killed process created may not be durable.
            disk.SyncDirectory(options.Directory);
            directory = JournalDirectory.Find(disk, options, io);
            var walk = new RecoveryWalk(directory, options, knowledge);
            walk.Run();
            if (walk.Map is null)
            {
                disk.SyncDirectory(Path.GetDirectoryName(options.Directory)!);
            }

            appender = CreateAppender(walk, directory, options, pool, io, newJournalStart);
            var recovery = walk.Report(directory.CleanUp(appender.Segments, walk.Dropped, pool));

            // The note (NewestNote) does not cover the Start frame, so recovery does not report lost writes if only
            // that frame is damaged.
            long lastWrite = appender.LastWrite;
            ContinueLog(appender, walk);
            NoteEnd(appender, lastWrite);
            directory.ReleaseDropped(pool);
            return new NodeJournal(
                appender,
                pool,
                options,
                directoryLock,
                recovery,
                walk.PendingReset is null ? walk.Entries : []
            );
        }
        catch
        {
            appender?.Dispose();
            directory?.Dispose();
            pool.Dispose();
            directoryLock.Dispose();
            throw;
        }
    }

    /// <summary>
    /// Records the newest segment and a write in the note, if the disk permits. A full disk must prevent neither
    /// opening nor a stop: the note is written again when the next segment is prepared.
    /// </summary>
    public static void NoteEnd(JournalAppender appender, long write)
    {
        try
        {
            appender.NoteEnd(write);
        }
        catch (DiskException)
        {
            // The earlier note remains, and protects the segment and the write that it names.
        }
    }

    /// <summary>Creates a local frame without payload.</summary>
    public static JournalFrame LocalFrame(FrameType type, LogMap map) =>
        new(type, Index: 0, Term: 0, map.Position.Operations, OperationCount: 0, Payload: default);

    /// <summary>Creates the appender that continues after the recovered log.</summary>
    public static JournalAppender CreateAppender(
        RecoveryWalk walk,
        JournalDirectory directory,
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
        directory.Note.Bind(storeId);
        var appender = new JournalAppender(
            options,
            pool,
            io,
            directory.Note,
            newest?.ClusterId ?? options.ClusterId,
            storeId
        )
        {
            Map = walk.Map ?? LogMap.Empty(newJournalStart),
            ResetMark = newest?.ResetMark ?? 0,
            LastWrite = walk.LastWrite,

            // A torn first write may have used the next generation without leaving a valid header, so skip that number.
            LastGeneration = directory.HighestGeneration + 1,
        };
        appender.Segments.AddRange(walk.Live);
        return appender;
    }

    /// <summary>
    /// Writes the last write again, because its sync may have failed or was never called. Then continues the log: with
    /// a Start frame after a clean stop, otherwise in a new segment. So bytes that an interrupted write left never
    /// follow the next write, and a segment contains frames of one version only.
    /// </summary>
    private static void ContinueLog(JournalAppender appender, RecoveryWalk walk)
    {
        if (walk.PendingReset is { } reset)
        {
            // The new header contains the vote, so the old log need not be made durable first.
            appender.Reset(reset);
            return;
        }

        var last = appender.Segments.Count == 0 ? null : appender.Segments[^1];
        if (last is { HasFrames: true })
        {
            appender.RewriteEnd(walk.LastWriteOffset);
        }

        if (
            walk.TailVerdict == TailVerdict.ContinueAfterCleanStop
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
