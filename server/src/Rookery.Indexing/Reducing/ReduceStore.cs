using System.Buffers;
using System.Buffers.Binary;
using Rookery.Platform;
using Rookery.Search.Segments.Store;
using Rookery.Storage;

namespace Rookery.Indexing.Reducing;

/// <summary>Takes the groups whose reduced rows changed.</summary>
public interface IGroupChanges
{
    /// <summary>A group has a new reduced row.</summary>
    void Put(ReadOnlySpan<byte> key, ReadOnlySpan<byte> row);

    /// <summary>A group has no rows any more, or its rows cannot be reduced.</summary>
    void Remove(ReadOnlySpan<byte> key);
}

/// <summary>
/// What a map/reduce index keeps to follow its documents: the rows of each document, and for each reduce key a tree of
/// them with what they reduce to. Lies in a directory of its own, without a journal: after a crash it is what it was at
/// some <see cref="Watermark"/>, from which documents are given to it again. Groups stay marked as changed, through a
/// crash too, until <see cref="AcknowledgeChanges"/>. Changed by one thread at a time.
/// </summary>
public sealed class ReduceStore : IDisposable
{
    private const byte Format = 2;
    private const int StateBytes = 1 + sizeof(long) + sizeof(long);

    private readonly StorageEngine _engine;
    private readonly ReduceTree _tree;
    private readonly bool _hasOrder;
    private readonly PendingDocuments _pending = new();
    private long _nextNumber = 1;

    private ReduceStore(StorageEngine engine, IReducer reducer)
    {
        _engine = engine;
        _hasOrder = reducer.HasOrder;
        _tree = new ReduceTree(reducer, message => ReduceFailed?.Invoke(message));
        ReadState();
    }

    /// <summary>Opens a directory, or makes it.</summary>
    /// <param name="disk">The disk.</param>
    /// <param name="directory">The directory.</param>
    /// <param name="reducer">The index's reduce.</param>
    /// <param name="budget">What this store alone draws on.</param>
    /// <param name="io">Takes notes of disk work.</param>
    /// <param name="time">The clock.</param>
    /// <param name="pacer">Slows background work down; null lets it run free.</param>
    /// <exception cref="StorageFormatException">It was written by a newer version, or no manifest can be trusted: it is
    /// to be built again.</exception>
    /// <exception cref="DamagedException">What lies there cannot be read: it is to be built again.</exception>
    /// <exception cref="DiskException">The disk refused.</exception>
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
            opened.DeleteLeftOvers();
            return new ReduceStore(opened, reducer);
        }
        catch
        {
            opened.Dispose();
            throw;
        }
    }

    /// <summary>The etag through which it follows the documents; 0 before anything does.</summary>
    public long Watermark { get; private set; }

    /// <summary>Whether it never held a row.</summary>
    public bool IsEmpty => _nextNumber == 1;

    /// <summary>Memory that changes take which were not applied, in bytes; 0 when there are none.</summary>
    public long PendingBytes => _pending.HeldBytes;

    /// <summary>Rows given to the reducer since it was opened.</summary>
    public long RowsReduced => _tree.RowsReduced;

    /// <summary>
    /// Why the last flush or merge failed, in a sentence; null when it did not. Until it succeeds nothing is to be
    /// applied, because what is applied stays in memory.
    /// </summary>
    public string? Failure => _engine.Failure;

    /// <summary>
    /// Told in a sentence why rows of a group could not be reduced. The group has no reduced row until its rows change.
    /// </summary>
    public Action<string>? ReduceFailed { get; set; }

    /// <summary>Holds the rows of a document, in the place of those it had.</summary>
    /// <param name="documentId">Its id in lower case, up to 512 bytes.</param>
    /// <param name="rows">What the maps made of it.</param>
    public void Put(ReadOnlySpan<byte> documentId, MappedRows rows) => _pending.Add(documentId, rows);

    /// <summary>Holds no rows of a document any more; there need not be any.</summary>
    public void Delete(ReadOnlySpan<byte> documentId) => _pending.Add(documentId, mapped: null);

    /// <summary>Carries the changes out. They are durable after a <see cref="Flush"/>, or sooner.</summary>
    /// <param name="watermark">The etag through which they follow the documents.</param>
    /// <exception cref="DamagedException">What is stored cannot be read: the store is to be built again.</exception>
    public void Apply(long watermark)
    {
        Invariant.Holds(watermark >= Watermark, "an index follows its documents forward");
        var batch = _engine.Begin(_engine.AppliedIndex + 1, term: 0, _pending.HeldBytes);
        long next;
        try
        {
            var work = new ReduceBatch(batch, _pending, _tree, _nextNumber, _hasOrder);
            work.Run();
            next = work.NextNumber;
            Span<byte> state = stackalloc byte[StateBytes];
            state[0] = Format;
            BinaryPrimitives.WriteInt64LittleEndian(state[1..], watermark);
            BinaryPrimitives.WriteInt64LittleEndian(state[(1 + sizeof(long))..], next);
            batch.Put(ReduceKeys.StateKey, batch.Index, state);
            _engine.Apply(batch, batch.Index);
        }
        catch
        {
            _engine.Abandon();
            throw;
        }

        _pending.Clear();
        (Watermark, _nextNumber) = (watermark, next);
    }

    /// <summary>
    /// Shows the groups that changed since the last acknowledgement, each once, with what they are now.
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

    /// <summary>What changed by now is durable elsewhere, and is not shown again.</summary>
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
    /// <returns>False when it has none.</returns>
    public bool TryGet(ReadOnlySpan<byte> key, IBufferWriter<byte> row)
    {
        using var snapshot = _engine.OpenSnapshot();
        Span<byte> room = stackalloc byte[ReduceKeys.GroupKeyBytes];
        if (!snapshot.TryGet(ReduceKeys.Group(ReduceKeys.GroupId(key), room), out var stored))
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

    /// <summary>Makes durable what is applied.</summary>
    /// <returns>False when the disk refused: see <see cref="Failure"/>.</returns>
    public bool Flush()
    {
        _engine.RequestFlush();
        while (_engine.FlushDue)
        {
            if (!_engine.Flush())
            {
                return _engine.Failure is null;
            }
        }

        return true;
    }

    /// <summary>Does one piece of the work that keeps what is durable small and quick.</summary>
    /// <returns>Whether there was any.</returns>
    public bool MergeOnce() => _engine.CompactOnce();

    /// <summary>
    /// Gives memory back that is not in use, and that of what nobody asked for since the last call: about every half
    /// minute.
    /// </summary>
    public void TrimIdle() => _engine.TrimIdle();

    /// <summary>Closes the files. What was not flushed is given to it again.</summary>
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
