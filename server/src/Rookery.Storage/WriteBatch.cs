using System.Buffers.Binary;
using Rookery.Platform;
using Rookery.Storage.Memory;
using Rookery.Storage.Runs;
using Rookery.Storage.State;

namespace Rookery.Storage;

/// <summary>
/// The rows of one log entry, written into the memtable. Readers see them after <see cref="StorageEngine.Apply"/>. The
/// batch's own lookups (<see cref="TryGet"/>) see them immediately. A refused command rolls its rows back to a mark
/// (<see cref="RollBack"/>). One thread uses the batch, for one entry at a time. A row's sequence number
/// is at least the last sequence number of the entry before.
/// </summary>
public sealed unsafe class WriteBatch
{
    private readonly int _chunkBytes;

    // The memtable's nodes (MemtableNode*) that this batch inserted, in order.
    private readonly List<nint> _nodes = [];
    private readonly List<RangeTombstone> _ranges = [];
    private EngineState? _state;
    private RangeTombstoneSet _rangeTombstones = RangeTombstoneSet.Empty;
    private int _largeValueCount;

    internal WriteBatch(int chunkBytes)
    {
        _chunkBytes = chunkBytes;
    }

    /// <summary>Log index of the entry.</summary>
    public long Index { get; private set; }

    /// <summary>Term of the entry.</summary>
    public long Term { get; private set; }

    /// <summary>
    /// Whether the batch is between <see cref="StorageEngine.Begin"/> and <see cref="StorageEngine.Apply"/>.
    /// </summary>
    internal bool IsOpen => _state is not null;

    /// <summary>The range tombstones in the batch.</summary>
    internal IReadOnlyList<RangeTombstone> Ranges => _ranges;

    private EngineState State
    {
        get
        {
            Invariant.Holds(_state is not null, "a batch is written to between Begin and Apply");
            return _state;
        }
    }

    // The number of this batch in the active memtable: one after the last complete batch.
    private int BatchNumber => State.Active.LastBatch + 1;

    /// <summary>
    /// Stores a value. A value longer than <see cref="StorageOptions.ChunkBytes"/> is stored as a large value. If the
    /// replaced value is large, the caller must release it.
    /// </summary>
    public void Put(ReadOnlySpan<byte> key, long sequence, ReadOnlySpan<byte> value) => Put(key, sequence, value, []);

    /// <summary>Stores a value: <paramref name="head"/> followed by <paramref name="tail"/>.</summary>
    public void Put(ReadOnlySpan<byte> key, long sequence, ReadOnlySpan<byte> head, ReadOnlySpan<byte> tail)
    {
        if ((long)head.Length + tail.Length <= _chunkBytes)
        {
            Insert(key, sequence, RowKind.Put, head, tail);
        }
        else
        {
            PutLarge(key, sequence, head, tail);
        }
    }

    /// <summary>Deletes a key, whether it exists or not.</summary>
    public void Delete(ReadOnlySpan<byte> key, long sequence) => Insert(key, sequence, RowKind.Tombstone, [], []);

    /// <summary>
    /// Deletes every row in [from, toExclusive) whose sequence is lower than <paramref name="sequence"/>.
    /// </summary>
    /// <remarks>
    /// This deletes chunks of large values only if the range covers a whole database. Otherwise release each large
    /// value first.
    /// </remarks>
    public void DeleteRange(ReadOnlySpan<byte> from, ReadOnlySpan<byte> toExclusive, long sequence)
    {
        Invariant.Holds(from.SequenceCompareTo(toExclusive) < 0, "a range has its start below its end");
        _ranges.Add(new RangeTombstone(from.ToArray(), toExclusive.ToArray(), sequence));
        UpdateRangeTombstones();
    }

    /// <summary>
    /// Records that the chunks of a large value can be dropped by merges, because this batch replaces or deletes the
    /// value; does nothing for other rows. Older snapshots can still read the value.
    /// </summary>
    public void ReleaseLarge(in Row previous, long sequence)
    {
        if (previous.IsLarge)
        {
            Span<byte> key = stackalloc byte[LargeValue.StemBytes];
            LargeValue.WriteReleasedKey(key, new LargeValue(previous.Stored).Stem);
            Span<byte> length = stackalloc byte[sizeof(long)];
            BinaryPrimitives.WriteInt64LittleEndian(length, previous.Length);
            Add(key, sequence, RowKind.Put, length, []);
        }
    }

    /// <summary>Looks up a key, including the batch's own rows.</summary>
    /// <param name="key">The key.</param>
    /// <param name="row">The row, if there is one; the caller disposes it before the batch is applied.</param>
    /// <exception cref="DamagedException">The block that may contain the key is damaged.</exception>
    public bool TryGet(ReadOnlySpan<byte> key, out Row row) =>
        Lookup.TryGet(State, BatchNumber, _rangeTombstones, key, out row);

    /// <summary>
    /// Returns a cursor over a range, including the batch's own rows. It must be disposed before the next put.
    /// </summary>
    public RowCursor Seek(ReadOnlySpan<byte> from, ReadOnlySpan<byte> toExclusive, bool backward = false) =>
        new(State, BatchNumber, _rangeTombstones, from, toExclusive, backward);

    /// <summary>Returns a mark for <see cref="RollBack"/>.</summary>
    public BatchMark Mark() => new(_nodes.Count, _ranges.Count);

    /// <summary>Removes everything added since <paramref name="mark"/>.</summary>
    public void RollBack(BatchMark mark)
    {
        Invariant.Holds(
            IsOpen && mark.Rows <= _nodes.Count && mark.RangeTombstones <= _ranges.Count,
            "a batch is rolled back to an earlier mark"
        );
        for (int i = mark.Rows; i < _nodes.Count; i++)
        {
            ((MemtableNode*)_nodes[i])->Batch = MemtableNode.RolledBack;
        }

        _nodes.RemoveRange(mark.Rows, _nodes.Count - mark.Rows);
        if (mark.RangeTombstones < _ranges.Count)
        {
            _ranges.RemoveRange(mark.RangeTombstones, _ranges.Count - mark.RangeTombstones);
            UpdateRangeTombstones();
        }
    }

    /// <summary>Opens the batch on a state. The batch now owns the caller's reference to the state.</summary>
    internal void Open(EngineState state, long index, long term)
    {
        Invariant.Holds(!IsOpen, "one batch is open at a time");
        _state = state;
        Index = index;
        Term = term;
        _rangeTombstones = state.RangeTombstones;
    }

    /// <summary>Closes the batch; its rows remain in the memtable.</summary>
    internal void Close()
    {
        State.Release();
        _state = null;
        _nodes.Clear();
        _ranges.Clear();
        _largeValueCount = 0;
    }

    private void PutLarge(ReadOnlySpan<byte> key, long sequence, ReadOnlySpan<byte> head, ReadOnlySpan<byte> tail)
    {
        // The keys of all chunks of a value begin with the same bytes, the stem. The row refers to its chunks by the
        // stem.
        Span<byte> chunkKey = stackalloc byte[LargeValue.ChunkKeyBytes];
        Span<byte> stem = stackalloc byte[LargeValue.StemBytes];
        LargeValue.WriteStem(stem, key, Index, checked((ushort)_largeValueCount++));
        Span<byte> reference = stackalloc byte[LargeValue.ReferenceBytes];
        LargeValue.WriteReference(reference, (long)head.Length + tail.Length, _chunkBytes, stem);
        for (uint chunk = 0; !head.IsEmpty || !tail.IsEmpty; chunk++)
        {
            ReadOnlySpan<byte> fromHead = head[..Math.Min(_chunkBytes, head.Length)];
            ReadOnlySpan<byte> fromTail = tail[..Math.Min(_chunkBytes - fromHead.Length, tail.Length)];
            LargeValue.WriteChunkKey(chunkKey, stem, chunk);
            Add(chunkKey, sequence, RowKind.Put, fromHead, fromTail);
            head = head[fromHead.Length..];
            tail = tail[fromTail.Length..];
        }

        Insert(key, sequence, RowKind.LargeReference, reference, []);
    }

    private void Insert(
        ReadOnlySpan<byte> key,
        long sequence,
        RowKind kind,
        ReadOnlySpan<byte> head,
        ReadOnlySpan<byte> tail
    )
    {
        Invariant.Holds(
            key.Length is >= MemtableNode.KeyspaceBytes and <= RunWriter.KeyLimitBytes,
            "a key begins with a database and a table, and is not longer than the limit"
        );
        byte table = key[MemtableNode.KeyspaceBytes - 1];
        Invariant.Holds(
            table < TableMap.Released && State.Sources.Tables.Contains(table),
            "rows belong to a known table"
        );
        Add(key, sequence, kind, head, tail);
    }

    private void Add(
        ReadOnlySpan<byte> key,
        long sequence,
        RowKind kind,
        ReadOnlySpan<byte> head,
        ReadOnlySpan<byte> tail
    )
    {
        Invariant.Holds(sequence >= State.Position.Sequence, "sequence numbers never decrease");
        _nodes.Add((nint)State.Active.Insert(key, sequence, kind, head, tail));
    }

    private void UpdateRangeTombstones() =>
        _rangeTombstones = RangeTombstoneSet.Union([State.RangeTombstones, new RangeTombstoneSet(_ranges)]);
}

/// <summary>A position in a <see cref="WriteBatch"/>.</summary>
/// <param name="Rows">Number of rows before it.</param>
/// <param name="RangeTombstones">Number of range tombstones before it.</param>
public readonly record struct BatchMark(int Rows, int RangeTombstones);
