using System.Text;
using Rookery.Documents.Apply;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;
using Rookery.Platform;

namespace Rookery.Documents.Subscriptions;

/// <summary>
/// Applies <see cref="CommandKind.ChangeSubscription"/>: defines, deletes, enables and disables subscriptions, and
/// records their progress. Deterministic, like all code that applies entries.
/// </summary>
internal sealed class SubscriptionOperations
{
    private readonly List<(Database Database, SubscriptionChange Change)> _changes = [];

    /// <summary>Executes a command, which uses one etag.</summary>
    /// <param name="context">State of the command.</param>
    /// <param name="command">The body of the command.</param>
    /// <param name="result">The result; the default value if there is no such subscription.</param>
    /// <returns>Why the command is refused, or null.</returns>
    public Rejection? Apply(ApplyContext context, in SubscriptionCommand command, out OperationResult result)
    {
        result = default;
        Span<byte> name = stackalloc byte[SubscriptionRecord.MaxNameBytes];
        if (!TryFindName(context, command, name, out int length))
        {
            return null; // no subscription has the number
        }

        ReadOnlySpan<byte> lowerName = name[..length];
        using var stored = length == 0 ? default : Find(context, lowerName);
        if (!stored.Exists)
        {
            return command is { Kind: SubscriptionCommandKind.Put, Creates: true, Number: 0 }
                ? Create(context, command, out result)
                : null;
        }

        var existing = SubscriptionValue.Read(stored.Bytes);
        switch (command.Kind)
        {
            case SubscriptionCommandKind.Put:
                return command.MustBeNew
                    ? NameTaken(existing.Name)
                    : Update(context, command, lowerName, stored, existing, out result);
            case SubscriptionCommandKind.Delete:
                Delete(context, lowerName, stored, existing);
                result = Result(context, OperationStatus.Deleted, existing);
                return null;
            case SubscriptionCommandKind.Acknowledge:
                result = Acknowledge(context, command, existing, stored.Etag);
                return null;
            default:
                AddChange(context, SubscriptionChangeKind.Dropped, existing, command.Query);
                result = Result(context, OperationStatus.Configured, existing);
                return null;
        }
    }

    /// <summary>Publishes the changes of the entry, once readers can see it.</summary>
    public void Publish()
    {
        if (_changes.Count == 0)
        {
            return;
        }

        foreach (var (database, change) in _changes)
        {
            database.SubscriptionChanges.Publish(change);
        }

        _changes.Clear();
    }

    /// <summary>Discards the changes of an entry whose apply threw.</summary>
    public void DiscardChanges() => _changes.Clear();

    /// <summary>
    /// Copies the lower-cased name of the subscription that a command names by its number or name. The name is empty
    /// for a new subscription without a name.
    /// </summary>
    /// <returns>False if no subscription has the number.</returns>
    private static bool TryFindName(
        ApplyContext context,
        in SubscriptionCommand command,
        Span<byte> name,
        out int length
    )
    {
        if (command.Number == 0)
        {
            command.LowerName.CopyTo(name);
            length = command.LowerName.Length;
            return true;
        }

        Span<byte> key = stackalloc byte[Key.MaxBytes];
        length = 0;
        if (
            !context.Batch.TryGet(
                SubscriptionKey.WriteProgress(key, context.Database.Number, command.Number),
                out var row
            )
        )
        {
            return false;
        }

        using (row)
        {
            var lowerName = SubscriptionProgress.Read(row.Value).LowerName;
            lowerName.CopyTo(name);
            length = lowerName.Length;
            return true;
        }
    }

    private static Document Find(ApplyContext context, ReadOnlySpan<byte> lowerName)
    {
        Span<byte> key = stackalloc byte[Key.MaxBytes];
        return context.Batch.TryGet(
            Key.WriteText(key, context.Database.Number, Table.Subscriptions, lowerName),
            out var row
        )
            ? new Document(row)
            : default;
    }

    private static Rejection? Create(ApplyContext context, in SubscriptionCommand command, out OperationResult result)
    {
        result = default;
        var counters = ReadCounters(context);
        if (counters.Count >= SubscriptionRecord.MaxCount)
        {
            return new Rejection(
                RejectionKind.Invalid,
                $"The database has {SubscriptionRecord.MaxCount} subscriptions, which is the maximum; nothing was "
                    + "stored. Delete some."
            );
        }

        Span<byte> digits = stackalloc byte[20];
        long number = counters.LastNumber + 1;
        scoped ReadOnlySpan<byte> name = command.Name;
        scoped ReadOnlySpan<byte> lowerName = command.LowerName;
        while (command.Name.IsEmpty)
        {
            // A subscription without a name gets its number as name, as in RavenDB.
            System.Buffers.Text.Utf8Formatter.TryFormat(number, digits, out int length);
            name = lowerName = digits[..length];
            using var taken = Find(context, lowerName);
            if (!taken.Exists)
            {
                break;
            }

            number++;
        }

        var value = new SubscriptionValue
        {
            Number = number,
            Name = name,
            Mentor = command.Mentor,
            IsPinned = command.IsPinned ?? false,
            IsDisabled = command.IsDisabled ?? false,
            Query = command.Query,
        };
        Write(context, lowerName, value);
        WriteProgress(
            context,
            number,
            new SubscriptionProgress { Etag = StartOf(context, command, progress: 0), LowerName = lowerName }
        );
        WriteCounters(context, new AssignedNumbers(number, counters.Count + 1));
        result = Result(context, OperationStatus.Created, value);
        return null;
    }

    private Rejection? Update(
        ApplyContext context,
        in SubscriptionCommand command,
        ReadOnlySpan<byte> oldName,
        in Document stored,
        in SubscriptionValue existing,
        out OperationResult result
    )
    {
        Span<byte> progressKey = stackalloc byte[Key.MaxBytes];
        bool hasProgress = context.Batch.TryGet(
            SubscriptionKey.WriteProgress(progressKey, context.Database.Number, existing.Number),
            out var row
        );
        Invariant.Holds(hasProgress, "every subscription has a progress");
        using var progressRow = row;
        var progress = SubscriptionProgress.Read(row.Value);
        bool isRenamed = command.Number != 0 && !command.Name.IsEmpty;
        var value = new SubscriptionValue
        {
            Number = existing.Number,
            Name = isRenamed ? command.Name : existing.Name,
            Mentor = command.ChangesMentor ? command.Mentor : existing.Mentor,
            IsPinned = command.IsPinned ?? existing.IsPinned,
            IsDisabled = command.IsDisabled ?? existing.IsDisabled,
            Query = command.Query.IsEmpty ? existing.Query : command.Query,
        };
        long start = StartOf(context, command, progress.Etag);
        bool isSame =
            value.Name.SequenceEqual(existing.Name)
            && value.Mentor.SequenceEqual(existing.Mentor)
            && value.Query.SequenceEqual(existing.Query)
            && value.IsPinned == existing.IsPinned
            && value.IsDisabled == existing.IsDisabled
            && start == progress.Etag;
        result = Result(context, isSame ? OperationStatus.NotModified : OperationStatus.Configured, value);
        if (isSame)
        {
            return null;
        }

        var newName = isRenamed ? command.LowerName : oldName;
        if (!newName.SequenceEqual(oldName))
        {
            using var taken = Find(context, newName);
            if (taken.Exists)
            {
                return NameTaken(SubscriptionValue.Read(taken.Bytes).Name);
            }
        }

        stored.ReleaseLarge(context.Batch, context.Etag);
        if (!newName.SequenceEqual(oldName))
        {
            DeleteRow(context, oldName);
        }

        Write(context, newName, value);
        WriteProgress(
            context,
            existing.Number,
            new SubscriptionProgress
            {
                Etag = start,
                AcknowledgedTicks = progress.AcknowledgedTicks,
                ConnectedTicks = progress.ConnectedTicks,
                LowerName = newName,
            }
        );
        AddChange(
            context,
            value.IsDisabled ? SubscriptionChangeKind.Disabled : SubscriptionChangeKind.Modified,
            value,
            workerId: []
        );
        return null;
    }

    /// <summary>
    /// Raises the progress if the progress and the definition are still those that the sender of the documents read. If
    /// not, another member served the subscription meanwhile, or the query or the progress was set. The worker then
    /// connects again.
    /// </summary>
    private static OperationResult Acknowledge(
        ApplyContext context,
        in SubscriptionCommand command,
        in SubscriptionValue existing,
        long version
    )
    {
        Span<byte> key = stackalloc byte[Key.MaxBytes];
        bool hasProgress = context.Batch.TryGet(
            SubscriptionKey.WriteProgress(key, context.Database.Number, existing.Number),
            out var row
        );
        Invariant.Holds(hasProgress, "every subscription has a progress");
        using var progressRow = row;
        var progress = SubscriptionProgress.Read(row.Value);
        if (
            version != command.Version
            || progress.Etag != command.Expected
            || command.Start < progress.Etag
            || command.Start > context.Etag
        )
        {
            return Result(context, OperationStatus.Mismatched, existing) with { Etag = progress.Etag };
        }

        WriteProgress(
            context,
            existing.Number,
            new SubscriptionProgress
            {
                Etag = command.Start,
                AcknowledgedTicks = context.LogTicks,
                ConnectedTicks = command.ConnectedTicks,
                LowerName = progress.LowerName,
            }
        );
        return Result(context, OperationStatus.Configured, existing) with { Etag = command.Start };
    }

    private void Delete(
        ApplyContext context,
        ReadOnlySpan<byte> lowerName,
        in Document stored,
        in SubscriptionValue existing
    )
    {
        Span<byte> key = stackalloc byte[Key.MaxBytes];
        stored.ReleaseLarge(context.Batch, context.Etag);
        DeleteRow(context, lowerName);
        context.Batch.Delete(
            SubscriptionKey.WriteProgress(key, context.Database.Number, existing.Number),
            context.Etag
        );
        var counters = ReadCounters(context);
        WriteCounters(context, counters with { Count = counters.Count - 1 });
        AddChange(context, SubscriptionChangeKind.Deleted, existing, workerId: []);
    }

    /// <summary>Returns the progress that a command sets.</summary>
    private static long StartOf(ApplyContext context, in SubscriptionCommand command, long progress) =>
        command.StartKind switch
        {
            SubscriptionStart.Unchanged => progress,
            SubscriptionStart.LastDocument => context.Database.Counters.LastDocumentEtag,
            _ => Math.Min(command.Start, context.Etag),
        };

    private static Rejection NameTaken(ReadOnlySpan<byte> name) =>
        new(
            RejectionKind.Invalid,
            $"There is a subscription '{Encoding.UTF8.GetString(name)}' already; nothing was stored. Update it, or "
                + "choose another name."
        );

    private static void DeleteRow(ApplyContext context, ReadOnlySpan<byte> lowerName)
    {
        Span<byte> key = stackalloc byte[Key.MaxBytes];
        context.Batch.Delete(Key.WriteText(key, context.Database.Number, Table.Subscriptions, lowerName), context.Etag);
    }

    private static void Write(ApplyContext context, ReadOnlySpan<byte> lowerName, in SubscriptionValue value)
    {
        Span<byte> key = stackalloc byte[Key.MaxBytes];
        using var bytes = CommandBuffer.Rent();
        value.Write(bytes);
        context.Batch.Put(
            Key.WriteText(key, context.Database.Number, Table.Subscriptions, lowerName),
            context.Etag,
            bytes.Written.Span
        );
    }

    private static void WriteProgress(ApplyContext context, long number, in SubscriptionProgress progress)
    {
        Span<byte> key = stackalloc byte[Key.MaxBytes];
        Span<byte> value = stackalloc byte[SubscriptionProgress.MaxBytes];
        context.Batch.Put(
            SubscriptionKey.WriteProgress(key, context.Database.Number, number),
            context.Etag,
            progress.Write(value)
        );
    }

    private static AssignedNumbers ReadCounters(ApplyContext context)
    {
        Span<byte> key = stackalloc byte[Key.MaxBytes];
        if (!context.Batch.TryGet(Key.WritePrefix(key, context.Database.Number, Table.Subscriptions), out var row))
        {
            return default;
        }

        using (row)
        {
            return AssignedNumbers.Read(row.Value, "subscription counters");
        }
    }

    private static void WriteCounters(ApplyContext context, AssignedNumbers counters)
    {
        Span<byte> key = stackalloc byte[Key.MaxBytes];
        Span<byte> value = stackalloc byte[AssignedNumbers.Bytes];
        counters.Write(value);
        context.Batch.Put(Key.WritePrefix(key, context.Database.Number, Table.Subscriptions), context.Etag, value);
    }

    private void AddChange(
        ApplyContext context,
        SubscriptionChangeKind kind,
        in SubscriptionValue value,
        ReadOnlySpan<byte> workerId
    ) =>
        _changes.Add(
            (
                context.Database.Database,
                new SubscriptionChange(kind, value.Number, workerId.IsEmpty ? null : Encoding.UTF8.GetString(workerId))
            )
        );

    private static OperationResult Result(ApplyContext context, OperationStatus status, in SubscriptionValue value) =>
        new()
        {
            Status = status,
            Etag = context.Etag,
            LastModifiedTicks = context.LogTicks,
            Id = Encoding.UTF8.GetString(value.Name),
            Low = value.Number,
        };
}
