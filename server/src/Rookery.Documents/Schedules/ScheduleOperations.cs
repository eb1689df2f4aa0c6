using Rookery.Documents.Apply;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;
using Rookery.Storage;

namespace Rookery.Documents.Schedules;

/// <summary>
/// Maintains the rows that say when documents are refreshed and archived, and executes what is due. A database has such
/// rows from its first configuration of refresh or archival on (<see cref="DatabaseConfigurations.KeepsSchedules"/>).
/// The leader then adds the rows of its earlier documents.
/// </summary>
internal static class ScheduleOperations
{
    /// <summary>Adds the rows of a stored version.</summary>
    /// <param name="context">The command being applied.</param>
    /// <param name="metadata">The version's metadata.</param>
    /// <param name="etag">Its etag.</param>
    /// <param name="lowerId">Its lower-cased id.</param>
    public static void Add(ApplyContext context, ReadOnlySpan<byte> metadata, long etag, ReadOnlySpan<byte> lowerId)
    {
        Span<byte> key = stackalloc byte[Key.MaxBytes];
        foreach (var kind in (ReadOnlySpan<ScheduleKind>)[ScheduleKind.Refresh, ScheduleKind.Archive])
        {
            if (ScheduledTimes.Read(metadata, kind) is var ticks and > 0)
            {
                context.Batch.Put(
                    Key.WriteNumbers(key, context.Database.Number, TableOf(kind), ticks, etag),
                    context.Etag,
                    lowerId
                );
            }
        }
    }

    /// <summary>Removes the rows of a version that is replaced or deleted, if it has rows.</summary>
    /// <param name="context">The command being applied.</param>
    /// <param name="metadata">The version's metadata.</param>
    /// <param name="etag">Its etag.</param>
    public static void Remove(ApplyContext context, ReadOnlySpan<byte> metadata, long etag)
    {
        foreach (var kind in (ReadOnlySpan<ScheduleKind>)[ScheduleKind.Refresh, ScheduleKind.Archive])
        {
            if (ScheduledTimes.Read(metadata, kind) is var ticks and > 0)
            {
                RemoveRow(context, kind, ticks, etag);
            }
        }
    }

    /// <summary>Executes a command. Each document uses one etag.</summary>
    /// <param name="documents">Stores the changed documents.</param>
    /// <param name="context">State of the command.</param>
    /// <param name="logIndex">Index of the log entry that contains the command.</param>
    /// <param name="command">The command.</param>
    public static CommandOutcome Run(
        DocumentOperations documents,
        ApplyContext context,
        long logIndex,
        ref CommandReader command
    )
    {
        long changed = 0;
        var action = command.ReadScheduleAction();
        while (command.TryReadScheduled(out var scheduled))
        {
            bool isChanged =
                context.Database.Configurations.KeepsSchedules
                && (
                    action == ScheduleAction.Register
                        ? TryRegister(context, scheduled)
                        : TryChange(documents, context, (ScheduleKind)action, scheduled)
                );
            changed += isChanged ? 1 : 0;
            if (!isChanged || action == ScheduleAction.Register)
            {
                context.OperationsWithoutDocumentChange++;
            }

            context.Etag++;
        }

        return new CommandOutcome(
            logIndex,
            context.LogTicks,
            new OperationResult { Status = OperationStatus.Stored, Low = changed }
        );
    }

    /// <summary>Returns the rows that are due, the earliest first.</summary>
    /// <param name="reader">The database.</param>
    /// <param name="kind">The kind of the rows.</param>
    /// <param name="from">The key at which to start; empty for the first row.</param>
    /// <param name="nowTicks">The time at which they are due, in UTC ticks.</param>
    public static RowCursor SeekDue(in DatabaseReader reader, ScheduleKind kind, ReadOnlySpan<byte> from, long nowTicks)
    {
        Span<byte> start = stackalloc byte[Key.MaxBytes];
        Span<byte> to = stackalloc byte[Key.MaxBytes];
        uint number = reader.Database.Number;
        return reader.Snapshot.Seek(
            from.Length > 0 ? from : Key.WritePrefix(start, number, TableOf(kind)),
            Key.WriteNumber(to, number, TableOf(kind), nowTicks + 1)
        );
    }

    /// <summary>Returns whether a version has a time, but no row for it yet.</summary>
    public static bool LacksRow(in DatabaseReader reader, ReadOnlySpan<byte> metadata, long etag)
    {
        Span<byte> key = stackalloc byte[Key.MaxBytes];
        foreach (var kind in (ReadOnlySpan<ScheduleKind>)[ScheduleKind.Refresh, ScheduleKind.Archive])
        {
            if (ScheduledTimes.Read(metadata, kind) is var ticks and > 0)
            {
                var row = Key.WriteNumbers(key, reader.Database.Number, TableOf(kind), ticks, etag);
                try
                {
                    if (!reader.Snapshot.TryGet(row, out var found))
                    {
                        return true;
                    }

                    found.Dispose();
                }
                catch (DamagedException)
                {
                    return true; // written without reading it
                }
            }
        }

        return false;
    }

    /// <summary>Reads the time and the etag in the key of a row.</summary>
    public static (long DueTicks, long Etag) ReadKey(ReadOnlySpan<byte> key) =>
        (Key.NumberOf(key), Key.LastNumberOf(key));

    private static byte TableOf(ScheduleKind kind) => kind == ScheduleKind.Refresh ? Table.Refreshes : Table.Archivals;

    private static bool TryRegister(ApplyContext context, in ScheduledDocument scheduled)
    {
        using var document = context.FindDocument(scheduled.LowerId);
        if (!document.Exists || document.Etag != scheduled.Etag)
        {
            return false;
        }

        Add(context, document.Head.Metadata, scheduled.Etag, scheduled.LowerId);
        return true;
    }

    private static bool TryChange(
        DocumentOperations documents,
        ApplyContext context,
        ScheduleKind kind,
        in ScheduledDocument scheduled
    )
    {
        // Removed here, too, because a row may name a version that no longer exists.
        RemoveRow(context, kind, scheduled.DueTicks, scheduled.Etag);
        return documents.TryChangeMetadata(context, kind, scheduled);
    }

    private static void RemoveRow(ApplyContext context, ScheduleKind kind, long ticks, long etag)
    {
        Span<byte> key = stackalloc byte[Key.MaxBytes];
        context.Batch.Delete(Key.WriteNumbers(key, context.Database.Number, TableOf(kind), ticks, etag), context.Etag);
    }
}
