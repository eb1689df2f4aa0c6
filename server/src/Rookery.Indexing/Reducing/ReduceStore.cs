using System.Buffers;
using System.Buffers.Binary;
using Rookery.Platform;
using Rookery.Search.Segments.Store;
using Rookery.Storage;

namespace Rookery.Indexing.Reducing;

/// <summary>Receives the groups whose reduced rows changed.</summary>
public interface IGroupChanges
{
    /// <summary>Reports the new reduced row of a group.</summary>
    void Put(ReadOnlySpan<byte> key, ReadOnlySpan<byte> row);

    /// <summary>Reports a group without rows, or whose rows cannot be reduced.</summary>
    void Remove(ReadOnlySpan<byte> key);
}

/// <summary>
/// The rows of a map/reduce index: for each document its rows, and for each reduce key a tree of rows and reduced rows.
/// The store has its own directory and no journal. After a crash it is at an earlier <see cref="Watermark"/>, from
/// which documents are fed again. Changed groups stay marked until <see cref="AcknowledgeChanges"/>, even after a
/// crash. One thread at a time may change the store.
/// </summary>
public sealed class ReduceStore : IDisposable
{
    private const byte Format = 2;
    private const int StateBytes = 1 + sizeof(long) + sizeof(long);

    // From this number on, merges are no longer background work: each lookup of a build searches all runs. The tiers of
    // ordinary merges leave fewer.
    private const int MaxUnmergedRuns = 64;

    private readonly StorageEngine _engine;
    private readonly ReduceTree _tree;
    private readonly bool _hasOrder;
    private readonly PendingDocuments _pending = new();

    // One more than the number of rows that were ever stored.
    private long _nextNumber = 1;

    private ReduceStore(StorageEngine engine, IReducer reducer)
    {
        _engine = engine;
        _hasOrder = reducer.HasOrder;
        _tree = new ReduceTree(reducer, message => ReduceFailed?.Invoke(message));
        ReadState();
    }

    /// <summary>Opens the store in a directory. Creates the directory if it is missing.</summary>
    /// <param name="disk">The disk.</param>
    /// <param name="directory">The directory.</param>
    /// <param name="reducer">The reduce of the index.</param>
    /// <param name="budget">The memory budget of this store.</param>
    /// <param name="io">Records disk I/O.</param>
    /// <param name="time">The clock.</param>
    /// <param name="pacer">Slows down background work; null for full speed.</param>
    /// <exception cref="StorageFormatException">A newer version wrote the store, or no manifest is valid: the store
    /// must be rebuilt.</exception>
    /// <exception cref="DamagedException">Files are damaged: the store must be rebuilt.</exception>
    /// <exception cref="DiskException">A disk operation failed.</exception>
    public static ReduceStore Open(
        IDisk disk,
        string directory,
        IReducer reducer,
        MemoryBudget budget,
        IIoRecorder io,
        TimeProvider time,
        IBackgroundPacer? pacer = null
    )
    {
        var opened = StorageEngine.Open(
            disk,
            new StorageOptions
            {
                Directory = directory,
                Tables = ReduceKeys.Tables,
                Pacer = pacer,
            },
            budget,
            io,
            time
        );
        try
        {
            opened.DeleteUnnamedRuns();
            return new ReduceStore(opened, reducer);
        }
        catch
        {
            opened.Dispose();
            throw;
        }
    }

    /// <summary>
    /// The store includes the documents' changes through this etag; 0 before the first <see cref="Apply"/>.
    /// </summary>
    public long Watermark { get; private set; }

    /// <summary>Whether no row was ever stored.</summary>
    public bool IsEmpty => _nextNumber == 1;

    /// <summary>Memory of the changes that are not applied, in bytes; 0 if there are none.</summary>
    public long PendingBytes => _pending.HeldBytes;

    /// <summary>Number of rows reduced since the store was opened.</summary>
    public long RowsReduced => _tree.RowsReduced;

    /// <summary>
    /// Called with the reason, in a sentence, when rows of a group cannot be reduced. The group has no reduced row
    /// until its rows change.
    /// </summary>
    public Action<string>? ReduceFailed { get; set; }

    /// <summary>Replaces the rows of a document. Buffered until <see cref="Apply"/>.</summary>
    /// <param name="documentId">The lower-cased id of the document, up to 512 bytes.</param>
    /// <param name="rows">The rows that the maps returned for it.</param>
    public void Put(ReadOnlySpan<byte> documentId, MappedRows rows) => _pending.Add(documentId, rows);

    /// <summary>Removes the rows of a document, if it has any. Buffered until <see cref="Apply"/>.</summary>
    public void Delete(ReadOnlySpan<byte> documentId) => _pending.Add(documentId, mapped: null);

    /// <summary>Applies the buffered changes. They are durable after <see cref="Flush"/> at the latest.</summary>
    /// <param name="watermark">The changes include everything through this etag.</param>
    /// <exception cref="DamagedException">Stored data is damaged: the store must be rebuilt.</exception>
    public void Apply(long watermark)
    {
        Invariant.Holds(watermark >= Watermark, "an index follows its documents forward");
        var batch = _engine.Begin(_engine.AppliedIndex + 1, term: 0, _pending.HeldBytes);
        long nextNumber;
        try
        {
            var work = new ReduceBatch(batch, _pending, _tree, _nextNumber, _hasOrder);
            work.Run();
            nextNumber = work.NextNumber;
            Span<byte> state = stackalloc byte[StateBytes];
            state[0] = Format;
            BinaryPrimitives.WriteInt64LittleEndian(state[1..], watermark);
            BinaryPrimitives.WriteInt64LittleEndian(state[(1 + sizeof(long))..], nextNumber);
            batch.Put(ReduceKeys.StateKey, batch.Index, state);
            _engine.Apply(batch, batch.Index);
        }
        catch
        {
            _engine.Abandon();
            throw;
        }

        _pending.Clear();
        (Watermark, _nextNumber) = (watermark, nextNumber);
    }

    /// <summary>
    /// Passes each group that changed since the last acknowledgement to <paramref name="changes"/>, in its current
    /// state.
    /// </summary>
    public void VisitChanges(IGroupChanges changes)
    {
        using var snapshot = _engine.OpenSnapshot();
        using var cursor = snapshot.Seek(ReduceKeys.FirstChanged, ReduceKeys.AfterChanged);
        Span<byte> key = stackalloc byte[ReduceKeys.GroupKeyBytes];
        while (cursor.MoveNext())
        {
            if (!snapshot.TryGet(ReduceKeys.Group(ReduceKeys.GroupOf(cursor.Key), key), out var row))
            {
                changes.Remove(cursor.Value);
                continue;
            }

            using (row)
            {
                var group = new GroupRecord(row.Value);
                if (group.Row.IsEmpty)
                {
                    changes.Remove(group.Key);
                }
                else
                {
                    changes.Put(group.Key, group.Row);
                }
            }
        }
    }

    /// <summary>Clears the marks of changed groups, after their current state has become durable elsewhere.</summary>
    public void AcknowledgeChanges()
    {
        using var snapshot = _engine.OpenSnapshot();
        using var cursor = snapshot.Seek(ReduceKeys.FirstChanged, ReduceKeys.AfterChanged);
        if (!cursor.MoveNext())
        {
            return;
        }

        var batch = _engine.Begin(_engine.AppliedIndex + 1, term: 0);
        try
        {
            do
            {
                batch.Delete(cursor.Key, batch.Index);
            } while (cursor.MoveNext());
            _engine.Apply(batch, batch.Index);
        }
        catch
        {
            _engine.Abandon();
            throw;
        }
    }

    /// <summary>Reads the reduced row of a key.</summary>
    /// <returns>Whether the key has a reduced row.</returns>
    public bool TryGet(ReadOnlySpan<byte> key, IBufferWriter<byte> row)
    {
        using var snapshot = _engine.OpenSnapshot();
        Span<byte> groupKey = stackalloc byte[ReduceKeys.GroupKeyBytes];
        if (!snapshot.TryGet(ReduceKeys.Group(ReduceKeys.GroupId(key), groupKey), out var stored))
        {
            return false;
        }

        using (stored)
        {
            var group = new GroupRecord(stored.Value);
            row.Write(group.Row);
            return !group.Row.IsEmpty;
        }
    }

    /// <summary>Makes all applied changes durable.</summary>
    /// <exception cref="DiskException">A disk operation failed. The changes stay in memory; call this again later.
    /// </exception>
    public void Flush()
    {
        _engine.Memtables.RequestFlush();
        while (_engine.Memtables.IsFlushDue)
        {
            if (!_engine.Memtables.Flush() && _engine.Memtables.Refusal is { } refusal)
            {
                throw new DiskException(refusal.Operation, refusal.Path, refusal.Error);
            }
        }
    }

    /// <summary>
    /// Whether so many runs wait for a merge that merges should precede the next changes. After a failure they do not:
    /// if the card has no room for a merge, each attempt would write until it is full.
    /// </summary>
    public bool NeedsMerge => _engine.MostSortedRuns >= MaxUnmergedRuns && _engine.Failure is null;

    /// <summary>Merges some runs, if a merge is due.</summary>
    /// <returns>Whether there was work to do.</returns>
    public bool MergeOnce() => _engine.MergeOnce();

    /// <summary>
    /// Releases unused memory, and cached blocks not read since the last call. Called about every half minute.
    /// </summary>
    public void TrimIdle() => _engine.TrimIdle();

    /// <summary>Closes the files. Changes that were not flushed must be fed again.</summary>
    public void Dispose()
    {
        _engine.Dispose();
        _tree.Release();
        _pending.Release();
    }

    private void ReadState()
    {
        using var snapshot = _engine.OpenSnapshot();
        if (!snapshot.TryGet(ReduceKeys.StateKey, out var row))
        {
            return;
        }

        using (row)
        {
            var state = row.Value;
            if (state.Length is not StateBytes || state[0] is not Format)
            {
                throw new StorageFormatException(
                    "The rows of a map/reduce index were written in a format that this version does not know: "
                        + "the index is built again."
                );
            }

            Watermark = BinaryPrimitives.ReadInt64LittleEndian(state[1..]);
            _nextNumber = BinaryPrimitives.ReadInt64LittleEndian(state[(1 + sizeof(long))..]);
        }
    }
}
