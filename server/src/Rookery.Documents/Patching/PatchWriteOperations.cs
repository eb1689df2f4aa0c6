using System.Text;
using Rookery.Documents.Apply;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;
using Rookery.Documents.Stored;

namespace Rookery.Documents.Patching;

/// <summary>
/// Stores what scripts of patches put and delete, with the etags that the patch reserved. Results depend only on the
/// log and the tables.
/// </summary>
internal sealed class PatchWriteOperations(DocumentRows rows) : IPatchSource, IDisposable
{
    private readonly CounterOperations _counters = new();
    private ApplyContext? _context;

    /// <summary>The command that is being applied.</summary>
    public ApplyContext Context
    {
        private get => _context ?? throw new InvalidOperationException("no command is being applied");
        set => _context = value;
    }

    /// <inheritdoc/>
    public Document Find(ReadOnlySpan<byte> lowerId) => Context.FindDocument(lowerId);

    /// <inheritdoc/>
    public long LastIdentity(ReadOnlySpan<byte> lowerName) => IdentityOperations.Last(Context, lowerName);

    /// <inheritdoc/>
    public void SetIdentity(ReadOnlySpan<byte> lowerName, long value) =>
        IdentityOperations.Set(Context, lowerName, value);

    /// <inheritdoc/>
    public long? ReadCounter(ReadOnlySpan<byte> lowerId, ReadOnlySpan<byte> lowerName)
    {
        using var document = Context.FindDocument(lowerId);
        if (!document.Exists || document.Head.Counters.Since == 0)
        {
            return null;
        }

        Span<byte> key = stackalloc byte[Key.MaxCounterBytes];
        var row = Key.WriteCounter(key, Context.Database.Number, lowerId, lowerName);
        return Context.TryReadCounter(row, document.Head.Counters.Since, out long value) ? value : null;
    }

    /// <inheritdoc/>
    public void Dispose() => _counters.Dispose();

    /// <summary>Stores and deletes the documents of a patch.</summary>
    /// <param name="writes">The documents.</param>
    /// <param name="result">Receives the result for the patched document, if it is among them.</param>
    /// <returns>The reason to refuse the whole command, or null.</returns>
    public Rejection? Apply(PatchWrites writes, ref OperationResult result)
    {
        var context = Context;
        long etag = context.Etag;
        context.Forcing = RevisionForcing.None;
        for (int index = 0; index < writes.Count; index++)
        {
            context.Etag = etag + 1 + index;
            var write = writes[index];
            if (Apply(context, write, out var written) is { } refusal)
            {
                context.Etag = etag;
                return refusal with
                {
                    DocumentId = Encoding.UTF8.GetString(write.Id),
                    Database = context.Database.Database.Name,
                };
            }

            if (write.IsOwn && write.IsOfCounter)
            {
                // The names of its counters are part of the document, so a new name gives the document a new version.
                bool isNew = written.High == OperationResult.Rewritten;
                bool wasUnchanged = result.Status is OperationStatus.NotModified;
                result = result with
                {
                    Status = wasUnchanged ? OperationStatus.Patched : result.Status,
                    Etag = isNew ? written.Etag : result.Etag,
                    LastModifiedTicks = isNew ? written.LastModifiedTicks : result.LastModifiedTicks,
                };
            }
            else if (write.IsOwn)
            {
                result = written with
                {
                    Status = OperationStatus.Patched,
                    Etag = write.IsDelete ? 0 : written.Etag,
                    Id = Encoding.UTF8.GetString(write.Id),
                };
            }
        }

        context.Etag = etag;
        return null;
    }

    private Rejection? ApplyToCounter(ApplyContext context, in PatchWrite write, out OperationResult result)
    {
        result = default;
        var operation = new Operation
        {
            Kind = write.IsDelete ? OperationKind.CounterDelete : OperationKind.CounterIncrement,
            Id = new CommandId(CommandIdKind.Literal, write.Id, write.LowerId),
            Counter = new CommandId(CommandIdKind.Literal, write.Counter, write.LowerCounter),
            Delta = write.Delta,
            StartsGroup = true,
            EndsGroup = true,
        };
        var refusal =
            _counters.Begin(context, context.FindDocument(write.LowerId))
            ?? _counters.Apply(context, write.LowerId, operation, out result);
        if (refusal is not null || !_counters.HasNewNames)
        {
            return refusal;
        }

        ref readonly var previous = ref _counters.Document;
        var view = previous.View;
        var stored = rows.Store(
            context,
            previous.Head.Id,
            write.LowerId,
            previous,
            view.Content,
            view.Collection,
            view.ExpiresAtTicks,
            result.Status,
            new DocumentParts { Counters = _counters.Stored, Attachments = view.Attachments }
        );
        result = stored with { High = OperationResult.Rewritten };
        return null;
    }

    private Rejection? Apply(ApplyContext context, in PatchWrite write, out OperationResult result)
    {
        result = default;
        if (write.IsOfCounter)
        {
            try
            {
                return ApplyToCounter(context, write, out result);
            }
            finally
            {
                _counters.End();
            }
        }

        using var previous = context.FindDocument(write.LowerId);
        var expected = write.HasChangeVector
            ? ExpectedChangeVector.MustEqual(write.ChangeVector)
            : ExpectedChangeVector.None;
        if (ExpectedVersion.Check(context, write.Id, expected, previous) is { } conflict)
        {
            return conflict;
        }

        if (DocumentRows.Charge(context, write.LowerId, previous, write.IsDelete, write.Content.Length) is { } tooMany)
        {
            return tooMany;
        }

        if (write.IsDelete)
        {
            result = rows.Delete(context, write.LowerId, previous);
            return null;
        }

        if (context.Patches.Charge(write.Content.Length, previous.Length + write.Content.Length) is { } tooLarge)
        {
            return tooLarge;
        }

        result = rows.Store(
            context,
            write.Id,
            write.LowerId,
            previous,
            write.Content,
            write.Collection,
            write.ExpiresAtTicks,
            OperationStatus.Stored,
            DocumentRows.KeptParts(context, previous)
        );
        return null;
    }
}
