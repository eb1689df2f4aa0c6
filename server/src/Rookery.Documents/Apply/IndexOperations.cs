using System.Globalization;
using System.Text;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;
using Rookery.Documents.Indexes;
using Rookery.Platform;

namespace Rookery.Documents.Apply;

/// <summary>
/// Defines, deletes and configures the indexes of a database: all indexes of a command, or none. Index numbers are
/// never reused, so the files of one definition are never taken for those of another.
/// </summary>
internal sealed class IndexOperations
{
    private readonly List<(Database Database, IndexChange Change)> _changes = [];

    /// <summary>Executes a command. Each index uses one etag.</summary>
    /// <param name="context">State of the command.</param>
    /// <param name="logIndex">Index of the log entry that contains the command.</param>
    /// <param name="command">The command, before its first index.</param>
    public CommandOutcome Apply(ApplyContext context, long logIndex, ref CommandReader command)
    {
        var results = new OperationResult[command.OperationCount];
        int firstChange = _changes.Count;
        var before = ReadCounters(context);
        var counters = before;
        for (int i = 0; command.TryReadIndex(out var change); i++)
        {
            if (Apply(context, change, ref counters, out results[i]) is { } refusal)
            {
                _changes.RemoveRange(firstChange, _changes.Count - firstChange);
                return new CommandOutcome(refusal with { Operation = i });
            }

            context.Etag++;
        }

        if (counters != before)
        {
            Span<byte> key = stackalloc byte[Key.MaxBytes];
            Span<byte> value = stackalloc byte[AssignedNumbers.Bytes];
            counters.Write(value);
            context.Batch.Put(Key.WritePrefix(key, context.Database.Number, Table.Indexes), context.Etag - 1, value);
        }

        return new CommandOutcome(logIndex, context.LogTicks, results);
    }

    /// <summary>Publishes the changes of the entry, once readers can see it.</summary>
    public void Publish()
    {
        foreach (var (database, change) in _changes)
        {
            database.IndexChanges.Publish(change);
            if (change.Kind == IndexChangeKind.Deleted)
            {
                // Set after the change is published: a reader of this etag finds the change in its subscription.
                database.LastIndexDeletion = change.Etag;
            }
        }

        _changes.Clear();
    }

    /// <summary>Discards the changes of an entry whose apply threw.</summary>
    public void DiscardChanges() => _changes.Clear();

    private Rejection? Apply(
        ApplyContext context,
        in IndexCommand command,
        ref AssignedNumbers counters,
        out OperationResult result
    )
    {
        Span<byte> key = stackalloc byte[Key.MaxBytes];
        bool exists = context.Batch.TryGet(
            Key.WriteText(key, context.Database.Number, Table.Indexes, command.LowerName),
            out var row
        );
        using var stored = exists ? new Document(row) : default;
        var existing = exists ? IndexValue.Read(stored.Bytes) : default;
        switch (command.Kind)
        {
            case IndexCommandKind.Put when !exists || !existing.Definition.SequenceEqual(command.Definition):
                return Define(context, command, stored, existing, ref counters, out result);
            case IndexCommandKind.Put or IndexCommandKind.Configure when exists:
                result = Configure(context, command, stored, existing);
                return null;
            case IndexCommandKind.Delete when exists:
                result = Delete(context, command, stored, existing);
                counters = counters with { Count = counters.Count - 1 };
                return null;
            default:
                result = default;
                return null;
        }
    }

    private Rejection? Define(
        ApplyContext context,
        in IndexCommand command,
        in Document stored,
        in IndexValue existing,
        ref AssignedNumbers counters,
        out OperationResult result
    )
    {
        result = default;
        if (stored.Exists && existing.Settings.LockMode == IndexLockMode.LockedIgnore)
        {
            result = Result(context, OperationStatus.NotModified, existing, stored.Etag);
            return null;
        }

        if (stored.Exists && existing.Settings.LockMode == IndexLockMode.LockedError)
        {
            return new Rejection(
                RejectionKind.Invalid,
                $"The index {Encoding.UTF8.GetString(existing.Name)} is locked (LockedError), and another "
                    + $"definition of it was sent; nothing was stored. Unlock it first, on its page of the "
                    + $"dashboard."
            );
        }

        if (!stored.Exists && counters.Count >= IndexRecord.MaxCount)
        {
            return new Rejection(
                RejectionKind.Invalid,
                string.Create(
                    CultureInfo.InvariantCulture,
                    $"The database has {IndexRecord.MaxCount} indexes, which is the maximum; nothing was "
                        + $"stored. Delete some."
                )
            );
        }

        counters = new AssignedNumbers(counters.LastNumber + 1, counters.Count + (stored.Exists ? 0 : 1));
        var value = new IndexValue
        {
            Settings = command.Settings.ApplyTo(existing.Settings),
            Number = counters.LastNumber,
            Name = command.Name,
            Definition = command.Definition,
            ReplacedNumber = existing.Number,
            ReplacedDefinition = existing.Definition,
        };
        Write(context, command, stored, value);
        AddChange(context, IndexChangeKind.Defined, value);
        result = Result(context, OperationStatus.Configured, value, context.Etag);
        return null;
    }

    private OperationResult Configure(
        ApplyContext context,
        in IndexCommand command,
        in Document stored,
        in IndexValue existing
    )
    {
        var settings = command.Settings.ApplyTo(existing.Settings);
        if (settings == existing.Settings)
        {
            return Result(context, OperationStatus.NotModified, existing, stored.Etag);
        }

        var value = new IndexValue
        {
            Settings = settings,
            Number = existing.Number,
            Name = existing.Name,
            Definition = existing.Definition,
            ReplacedNumber = existing.ReplacedNumber,
            ReplacedDefinition = existing.ReplacedDefinition,
        };
        Write(context, command, stored, value);
        if (settings.LockMode != existing.Settings.LockMode)
        {
            AddChange(context, IndexChangeKind.Locked, value);
        }

        if (settings != existing.Settings with { LockMode = settings.LockMode })
        {
            AddChange(context, IndexChangeKind.Configured, value);
        }

        return Result(context, OperationStatus.Configured, value, context.Etag);
    }

    private OperationResult Delete(
        ApplyContext context,
        in IndexCommand command,
        in Document stored,
        in IndexValue existing
    )
    {
        Span<byte> key = stackalloc byte[Key.MaxBytes];
        stored.ReleaseLarge(context.Batch, context.Etag);
        context.Batch.Delete(
            Key.WriteText(key, context.Database.Number, Table.Indexes, command.LowerName),
            context.Etag
        );
        AddChange(context, IndexChangeKind.Deleted, existing);
        return Result(context, OperationStatus.Deleted, existing, etag: 0);
    }

    private static void Write(ApplyContext context, in IndexCommand command, in Document stored, in IndexValue value)
    {
        Span<byte> key = stackalloc byte[Key.MaxBytes];
        using var bytes = CommandBuffer.Rent();
        value.Write(bytes);
        if (stored.Exists)
        {
            stored.ReleaseLarge(context.Batch, context.Etag);
        }

        context.Batch.Put(
            Key.WriteText(key, context.Database.Number, Table.Indexes, command.LowerName),
            context.Etag,
            bytes.Written.Span
        );
    }

    private void AddChange(ApplyContext context, IndexChangeKind kind, in IndexValue value) =>
        _changes.Add(
            (context.Database.Database, new IndexChange(kind, Encoding.UTF8.GetString(value.Name), context.Etag))
        );

    private static OperationResult Result(
        ApplyContext context,
        OperationStatus status,
        in IndexValue value,
        long etag
    ) =>
        new()
        {
            Status = status,
            Etag = etag,
            LastModifiedTicks = context.LogTicks,
            Id = Encoding.UTF8.GetString(value.Name),
            Low = value.Number,
        };

    private static AssignedNumbers ReadCounters(ApplyContext context)
    {
        Span<byte> key = stackalloc byte[Key.MaxBytes];
        if (!context.Batch.TryGet(Key.WritePrefix(key, context.Database.Number, Table.Indexes), out var row))
        {
            return default;
        }

        using (row)
        {
            Invariant.Holds(!row.IsLarge, "the row of index counters is not stored in chunks");
            return AssignedNumbers.Read(row.Value, "index counters");
        }
    }
}
