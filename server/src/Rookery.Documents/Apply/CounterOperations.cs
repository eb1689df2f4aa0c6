using System.Text;
using Rookery.Documents.Changes;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;
using Rookery.Documents.Ids;
using Rookery.Documents.Revisions;
using Rookery.Documents.Stored;
using Rookery.Platform;

namespace Rookery.Documents.Apply;

/// <summary>
/// Applies operations on counters. The value of an increment is decided here, so increments of several clients add up
/// in any order. A counter is a row of its own: an increment does not rewrite its document. Only the names are in the
/// document, which is therefore rewritten when a counter is created or deleted, once for all operations that a request
/// has for the document.
/// </summary>
internal sealed class CounterOperations : IDisposable
{
    private readonly byte[] _lowerName = new byte[CounterName.MaxBytes];
    private readonly byte[] _row = new byte[CounterValue.Bytes];
    private readonly PooledBytes _names = new();

    // Names that the operations of the current group added or removed, by lower-cased name.
    private readonly SortedDictionary<byte[], byte[]?> _changes = new(
        Comparer<byte[]>.Create(static (left, right) => left.AsSpan().SequenceCompareTo(right))
    );

    // The beginning of the ids of documents that the server itself rewrites often.
    private static ReadOnlySpan<byte> HiloPrefix => "raven/hilo/"u8;

    // The document of the current group, which is looked up and read once for all operations.
    private Document _document;
    private OperationResult _ofDocument; // the parts of each result that describe the document
    private long _since; // rows with a lower etag are of a deleted document with this id
    private int _count; // number of the document's counters

    /// <summary>Whether the last operation ended its group, and the document must be stored with changed
    /// names.</summary>
    public bool HasNewNames { get; private set; }

    /// <summary>The document of the group.</summary>
    public ref readonly Document Document => ref _document;

    /// <summary>If <see cref="HasNewNames"/>: the names of the counters as the document is to store them.</summary>
    public ReadOnlySpan<byte> Stored => _names.Written;

    /// <summary>Begins the operations that a request has for one document.</summary>
    /// <param name="context">The command.</param>
    /// <param name="document">The document, which belongs to this object until <see cref="End"/>.</param>
    /// <returns>The reason to refuse the whole command, or null.</returns>
    public Rejection? Begin(ApplyContext context, Document document)
    {
        End();
        _document = document;
        _changes.Clear();
        _since = context.Etag;
        _count = 0;
        _ofDocument = default;
        if (!document.Exists)
        {
            return null;
        }

        var head = document.Head;
        _since = head.Counters.Since == 0 ? context.Etag : head.Counters.Since;
        _count = head.Counters.Count;
        _ofDocument = new OperationResult
        {
            Etag = document.Etag,
            LastModifiedTicks = head.LastModifiedTicks,
            Collection = context.Collection(head.Collection).TextOf(head.Collection),
        };

        // Reading the head costs time in proportion to the length of the names, whether they change or not.
        return context.Patches.ChargeParts(storedBytes: 0, head.Counters.Stored.Length);
    }

    /// <summary>Ends a group. The next one must begin with <see cref="Begin"/>.</summary>
    public void End()
    {
        _document.Dispose();
        _document = default;
    }

    /// <summary>Applies an operation of the group.</summary>
    /// <param name="context">The command.</param>
    /// <param name="lowerId">The document's id.</param>
    /// <param name="operation">The operation.</param>
    /// <param name="result">Its result: Numbered with the value, Deleted, or NotFound.</param>
    /// <returns>The reason to refuse the whole command, or null.</returns>
    public Rejection? Apply(
        ApplyContext context,
        ReadOnlySpan<byte> lowerId,
        in Operation operation,
        out OperationResult result
    )
    {
        result = default;
        HasNewNames = false;
        if (operation.Kind != OperationKind.CounterGet && Check(lowerId, operation) is { } refusal)
        {
            return refusal;
        }

        var lowerName = _lowerName.AsSpan(0, operation.Counter.WriteLowerName(_lowerName));
        Span<byte> key = stackalloc byte[Key.MaxCounterBytes];
        var row = Key.WriteCounter(key, context.Database.Number, lowerId, lowerName);
        bool exists = context.TryReadCounter(row, _since, out long value);
        result = _ofDocument;
        switch (operation.Kind)
        {
            case OperationKind.CounterIncrement:
                if (Increment(context, operation, row, lowerName, isNew: !exists, ref value) is { } overflow)
                {
                    return overflow;
                }

                result = result with { Status = OperationStatus.Numbered, Low = value };
                break;
            case OperationKind.CounterDelete when exists:
                Remove(context, row, lowerName);
                result = result with { Status = OperationStatus.Deleted };
                AddChange(context, DocumentChangeKind.CounterDelete, operation, value: 0);
                break;
            case OperationKind.CounterGet when exists:
                result = result with { Status = OperationStatus.Numbered, Low = value };
                break;
            default:
                break;
        }

        return operation.EndsGroup && _changes.Count > 0 ? EndGroup(context) : null;
    }

    /// <summary>
    /// Removes the counters of a document that is deleted. Their rows remain, and belong to no document from then on:
    /// see <see cref="DocumentCounters"/>.
    /// </summary>
    public static void RemoveAll(ApplyContext context, in DocumentView document) =>
        context.Database.Counters.DocumentCounters -= document.Counters.Count;

    /// <inheritdoc/>
    public void Dispose()
    {
        End();
        _names.Release();
    }

    private Rejection? Check(ReadOnlySpan<byte> lowerId, in Operation operation)
    {
        if (_document.Exists && !lowerId.StartsWith(HiloPrefix))
        {
            return null;
        }

        string id = Encoding.UTF8.GetString(operation.Id.Written);
        if (!_document.Exists)
        {
            return new Rejection(
                RejectionKind.DocumentMissing,
                $"There is no document {id}, so its counters cannot be changed. Nothing was stored; store the document "
                    + "first."
            )
            {
                DocumentId = id,
            };
        }

        return new Rejection(
            RejectionKind.Invalid,
            $"The document {id} belongs to the server, and has no counters. Nothing was stored; count in a document of "
                + "your own."
        )
        {
            DocumentId = id,
        };
    }

    private Rejection? Increment(
        ApplyContext context,
        in Operation operation,
        ReadOnlySpan<byte> row,
        ReadOnlySpan<byte> lowerName,
        bool isNew,
        ref long value
    )
    {
        long sum = unchecked(value + operation.Delta);
        if (((value ^ sum) & (operation.Delta ^ sum)) < 0)
        {
            string id = Encoding.UTF8.GetString(operation.Id.Written);
            return new Rejection(
                RejectionKind.CounterOverflow,
                $"The counter '{Encoding.UTF8.GetString(operation.Counter.Written)}' of document {id} cannot be "
                    + $"incremented by {operation.Delta}: the result does not fit into 64 bits. Nothing was stored."
            )
            {
                DocumentId = id,
            };
        }

        value = sum;
        if (isNew)
        {
            _changes[lowerName.ToArray()] = operation.Counter.Written.ToArray();
            context.Database.Counters.DocumentCounters++;
            _count++;
        }

        CounterValue.Write(_row, value);
        context.Batch.Put(row, context.Etag, _row);
        Span<byte> byEtag = stackalloc byte[Key.MaxBytes];
        context.Batch.Put(
            Key.WriteNumber(byEtag, context.Database.Number, Table.CountersByEtag, context.Etag),
            context.Etag,
            Key.TextOf(row)
        );
        AddChange(
            context,
            isNew ? DocumentChangeKind.CounterPut : DocumentChangeKind.CounterIncrement,
            operation,
            value
        );
        return null;
    }

    private void Remove(ApplyContext context, ReadOnlySpan<byte> row, ReadOnlySpan<byte> lowerName)
    {
        context.Batch.Delete(row, context.Etag);
        context.Database.Counters.DocumentCounters--;
        _count--;
        _changes[lowerName.ToArray()] = null;
    }

    /// <summary>Merges the names that the group changed into those of the document.</summary>
    private Rejection? EndGroup(ApplyContext context)
    {
        var head = _document.Head;
        Merge(head.CounterNames);
        int bytes = _names.Length - DocumentCounters.HeadBytes;
        if (bytes > CounterName.MaxBytesPerDocument)
        {
            string id = Encoding.UTF8.GetString(head.Id);
            return new Rejection(
                RejectionKind.TooLarge,
                $"The names of the counters of document {id} take more than "
                    + $"{Amount.Bytes(CounterName.MaxBytesPerDocument)} together. Nothing was stored; spread the "
                    + "counters over several documents, or choose shorter names."
            )
            {
                DocumentId = id,
            };
        }

        // A counter that the group created and deleted again changes nothing.
        HasNewNames = !_names.Written[DocumentCounters.HeadBytes..].SequenceEqual(head.CounterNames);
        if (!HasNewNames)
        {
            return null;
        }

        DocumentCounters.WriteHead(_names.WrittenMemory.Span, _since, _count);
        if (bytes == 0)
        {
            _names.Clear();
        }

        long stored = _document.Length + _names.Length;
        long copied = _document.Length + stored + RevisionCosts.OfCounters(context, head);
        return context.Patches.ChargeParts(stored, copied);
    }

    private void Merge(ReadOnlySpan<byte> oldNames)
    {
        _names.Clear();
        _names.Reserve(DocumentCounters.HeadBytes);
        _names.Advance(DocumentCounters.HeadBytes);
        var names = new CounterNames(oldNames);
        bool hasOld = names.MoveNext();
        Span<byte> lower = stackalloc byte[CounterName.MaxBytes];
        foreach (var (lowerName, name) in _changes)
        {
            while (hasOld)
            {
                int order = lower[..names.WriteLower(lower)].SequenceCompareTo(lowerName);
                if (order > 0)
                {
                    break;
                }

                if (order < 0)
                {
                    _names.Append(names.Entry);
                }

                hasOld = names.MoveNext();
            }

            if (name is not null)
            {
                CounterNames.Append(_names, name, lowerName);
            }
        }

        while (hasOld)
        {
            _names.Append(names.Entry);
            hasOld = names.MoveNext();
        }
    }

    private void AddChange(ApplyContext context, DocumentChangeKind kind, in Operation operation, long value)
    {
        if (!context.IsWatched)
        {
            return;
        }

        var head = _document.Head;
        context.AddChange(
            new DocumentChange(
                kind,
                Encoding.UTF8.GetString(head.Id),
                context.Collection(head.Collection).TextOf(head.Collection),
                context.Etag
            )
            {
                Counter = Encoding.UTF8.GetString(operation.Counter.Written),
                CounterValue = value,
            }
        );
    }
}
