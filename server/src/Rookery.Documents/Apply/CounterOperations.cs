using System.Text;
using Rookery.Documents.Changes;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;
using Rookery.Documents.Ids;
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
    private readonly PooledBytes _head = new();

    // Names that the operations of the current group added or removed, by lower-cased name.
    private readonly SortedDictionary<byte[], byte[]?> _changes = new(
        Comparer<byte[]>.Create(static (left, right) => left.AsSpan().SequenceCompareTo(right))
    );

    // The beginning of the ids of documents that the server itself rewrites often.
    private static ReadOnlySpan<byte> HiloPrefix => "raven/hilo/"u8;

    /// <summary>Whether the last operation ended its group, and the document gets other names.</summary>
    public bool HasNewNames { get; private set; }

    /// <summary>The document's names, if <see cref="HasNewNames"/>.</summary>
    public ReadOnlySpan<byte> Names => _names.Written;

    /// <summary>Applies an operation.</summary>
    /// <param name="context">The command.</param>
    /// <param name="lowerId">The document's id.</param>
    /// <param name="document">The document.</param>
    /// <param name="operation">The operation.</param>
    /// <param name="result">Its result: Numbered with the value, Deleted, or NotFound.</param>
    /// <returns>The reason to refuse the whole command, or null.</returns>
    public Rejection? Apply(
        ApplyContext context,
        ReadOnlySpan<byte> lowerId,
        in Document document,
        in Operation operation,
        out OperationResult result
    )
    {
        result = default;
        HasNewNames = false;
        if (operation.StartsGroup)
        {
            _changes.Clear();
        }

        if (operation.Kind != OperationKind.CounterGet && Check(lowerId, document, operation) is { } refusal)
        {
            return refusal;
        }

        var lowerName = _lowerName.AsSpan(0, operation.Counter.WriteLowerName(_lowerName));
        Span<byte> key = stackalloc byte[Key.MaxCounterBytes];
        var row = Key.WriteCounter(key, context.Database.Number, lowerId, lowerName);
        bool exists = context.TryReadCounter(row, out long value);
        switch (operation.Kind)
        {
            case OperationKind.CounterIncrement:
                if (Increment(context, document, operation, row, isNew: !exists, ref value) is { } overflow)
                {
                    return overflow;
                }

                result = new OperationResult { Status = OperationStatus.Numbered, Low = value };
                break;
            case OperationKind.CounterDelete when exists:
                Remove(context, row, lowerName);
                result = new OperationResult { Status = OperationStatus.Deleted };
                AddChange(context, DocumentChangeKind.CounterDelete, document, operation, value: 0);
                break;
            case OperationKind.CounterGet when exists:
                result = new OperationResult { Status = OperationStatus.Numbered, Low = value };
                break;
            default:
                break;
        }

        result = Complete(context, document, result);
        return operation.EndsGroup && _changes.Count > 0 ? EndGroup(context, document) : null;
    }

    /// <summary>Removes all counters of a document that is deleted.</summary>
    public void RemoveAll(ApplyContext context, ReadOnlySpan<byte> lowerId, ReadOnlySpan<byte> counterNames)
    {
        Span<byte> key = stackalloc byte[Key.MaxCounterBytes];
        var names = new CounterNames(counterNames);
        while (names.MoveNext())
        {
            int length = names.WriteLower(_lowerName);
            context.Batch.Delete(
                Key.WriteCounter(key, context.Database.Number, lowerId, _lowerName.AsSpan(0, length)),
                context.Etag
            );
            context.Database.Counters.DocumentCounters--;
        }
    }

    /// <summary>
    /// Charges the names that a put, patch or delete copies or removes together with the document. The length of a
    /// command does not bound them.
    /// </summary>
    /// <returns>The reason to refuse the command, or null.</returns>
    public static Rejection? Charge(ApplyContext context, in Document document)
    {
        if (context.Database.Counters.DocumentCounters == 0 || !document.Exists)
        {
            return null; // a database without counters needs no look at the names
        }

        int bytes = document.Head.CounterNames.Length;
        return bytes == 0 ? null : context.Patches.Charge(bytes, bytes);
    }

    /// <summary>Writes the head of a document with counters, and their names.</summary>
    public ReadOnlySpan<byte> WriteHead(
        ReadOnlySpan<byte> id,
        long lastModifiedTicks,
        long expiresAtTicks,
        ReadOnlySpan<byte> counterNames
    )
    {
        _head.Clear();
        int headBytes = StoredDocument.WriteHead(
            _head.Reserve(StoredDocument.MaxHeadBytes),
            id,
            lastModifiedTicks,
            expiresAtTicks,
            counterNames.Length
        );
        _head.Advance(headBytes);
        _head.Append(counterNames);
        return _head.Written;
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _names.Release();
        _head.Release();
    }

    private static Rejection? Check(ReadOnlySpan<byte> lowerId, in Document document, in Operation operation)
    {
        if (document.Exists && !lowerId.StartsWith(HiloPrefix))
        {
            return null;
        }

        string id = Encoding.UTF8.GetString(operation.Id.Written);
        if (!document.Exists)
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
        in Document document,
        in Operation operation,
        ReadOnlySpan<byte> row,
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
            int lowerLength = operation.Counter.WriteLowerName(_lowerName);
            _changes[_lowerName.AsSpan(0, lowerLength).ToArray()] = operation.Counter.Written.ToArray();
            context.Database.Counters.DocumentCounters++;
        }

        CounterValue.Write(_row, value);
        context.Batch.Put(row, context.Etag, _row);
        AddChange(
            context,
            isNew ? DocumentChangeKind.CounterPut : DocumentChangeKind.CounterIncrement,
            document,
            operation,
            value
        );
        return null;
    }

    private void Remove(ApplyContext context, ReadOnlySpan<byte> row, ReadOnlySpan<byte> lowerName)
    {
        context.Batch.Delete(row, context.Etag);
        context.Database.Counters.DocumentCounters--;
        _changes[lowerName.ToArray()] = null;
    }

    private static OperationResult Complete(ApplyContext context, in Document document, in OperationResult result)
    {
        if (!document.Exists)
        {
            return result;
        }

        var head = document.Head;
        return result with
        {
            Etag = document.Etag,
            LastModifiedTicks = head.LastModifiedTicks,
            Collection = context.Collection(head.Collection).TextOf(head.Collection),
        };
    }

    /// <summary>Merges the names that the group changed into those of the document.</summary>
    private Rejection? EndGroup(ApplyContext context, in Document document)
    {
        Merge(document.Head.CounterNames);
        if (_names.Length > CounterName.MaxBytesPerDocument)
        {
            string id = Encoding.UTF8.GetString(document.Head.Id);
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

        HasNewNames = true;
        long stored = document.Length + _names.Length;
        return context.Patches.Charge(stored, document.Length + stored);
    }

    private void Merge(ReadOnlySpan<byte> oldNames)
    {
        _names.Clear();
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

    private static void AddChange(
        ApplyContext context,
        DocumentChangeKind kind,
        in Document document,
        in Operation operation,
        long value
    )
    {
        if (!context.IsWatched)
        {
            return;
        }

        var head = document.Head;
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
