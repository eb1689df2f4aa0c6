using System.Buffers.Binary;
using Rookery.Storage.Memory;
using Rookery.Storage.Runs;
using Rookery.Storage.State;

namespace Rookery.Storage.Engine;

/// <summary>
/// Decides which rows a flush or merge may drop. Considers only rows that the next manifest will contain. A row made
/// stale by a batch that is applied but not durable must be kept, because after a crash the journal is replayed from
/// the manifest.
/// </summary>
internal sealed class RowDropping : IDisposable
{
    // The filter costs a lookup. Of each 1,024 rows it is applied to the first 64, and to the others only if at least a
    // quarter of those was stale.
    private const int Stride = 1024;
    private const int Sample = 64;
    private const int StaleOfSample = 16;

    private readonly byte _group;
    private readonly RangeTombstoneSet _rangeTombstones;
    private readonly SortedRun[] _older;
    private readonly IMergeFilter? _filter;

    // The rows that the next manifest will contain.
    private readonly EngineState _settled;
    private readonly int _chunkBytes;
    private readonly long _droppableThrough;
    private int _filteredRows;
    private int _staleInSample;

    /// <summary>Creates an instance for one flush or merge of one group.</summary>
    /// <param name="context">The engine.</param>
    /// <param name="group">The group that is written.</param>
    /// <param name="flushed">The memtable that is flushed; an empty one for a merge.</param>
    /// <param name="runs">The current runs.</param>
    /// <param name="position">Position of the last batch in the runs and <paramref name="flushed"/>.</param>
    /// <param name="rangeTombstones">The range tombstones that hide rows.</param>
    /// <param name="older">The group's sorted runs that are older than all inputs.</param>
    /// <param name="droppableAtMost">Tombstones after this sequence are kept, even if the retention permits dropping
    /// them.</param>
    public RowDropping(
        EngineContext context,
        byte group,
        Memtable flushed,
        RunSet runs,
        ManifestPosition position,
        RangeTombstoneSet rangeTombstones,
        ReadOnlySpan<SortedRun> older,
        long droppableAtMost = long.MaxValue
    )
    {
        _group = group;
        _rangeTombstones = rangeTombstones;
        _older = older.ToArray();
        _filter =
            context.Options.Filter is { } filter && context.Sources.Tables.TablesOf(group).Any(filter.Concerns)
                ? filter
                : null;
        _settled = new EngineState(context.Sources, flushed, [], runs, rangeTombstones, position);
        _chunkBytes = context.Options.ChunkBytes;
        _droppableThrough = Math.Min(
            droppableAtMost,
            TombstoneRetention.DroppableThrough(
                group,
                context.RetainedTombstones,
                runs.Of(group),
                position,
                context.Durable.Deletions.DroppedThrough
            )
        );
    }

    /// <summary>Number of lookups of other rows; each may read from disk.</summary>
    public long Lookups { get; private set; }

    /// <summary>
    /// The highest sequence of a tombstone that <see cref="MayDrop"/> permitted to drop; 0 if there was none.
    /// </summary>
    public long DroppedThrough { get; private set; }

    /// <summary>
    /// Returns whether a row may be dropped; it must be the newest of its key among the inputs. False if damage of
    /// another row prevents the decision.
    /// </summary>
    public bool MayDrop(ReadOnlySpan<byte> key, long sequence, RowKind kind, ReadOnlySpan<byte> value)
    {
        try
        {
            return IsDead(key, sequence, kind, value);
        }
        catch (DamagedException)
        {
            return false; // the damage is registered; the flush or merge of undamaged rows continues
        }
    }

    public void Dispose() => _settled.Release();

    private bool IsDead(ReadOnlySpan<byte> key, long sequence, RowKind kind, ReadOnlySpan<byte> value)
    {
        if (!_rangeTombstones.IsEmpty && _rangeTombstones.CoveringSequence(key) > sequence)
        {
            return true;
        }

        if (kind == RowKind.Tombstone)
        {
            return RecordIfDropped(sequence <= _droppableThrough && !IsInOlder(key), sequence);
        }

        if (_group == TableMap.Chunks)
        {
            return IsReleased(key);
        }

        if (_group == TableMap.Released)
        {
            long valueBytes = BinaryPrimitives.ReadInt64LittleEndian(value);
            return RecordIfDropped(sequence <= _droppableThrough && !HasChunks(key, valueBytes), sequence);
        }

        return _filter is not null
            && _filter.Concerns(key[MemtableNode.KeyspaceBytes - 1])
            && IsStale(key, sequence, kind, value);
    }

    private bool RecordIfDropped(bool isDropped, long sequence)
    {
        if (isDropped)
        {
            DroppedThrough = Math.Max(DroppedThrough, sequence);
        }

        return isDropped;
    }

    private bool IsInOlder(ReadOnlySpan<byte> key)
    {
        ulong hash = _older.Length == 0 ? 0 : KeyHash.Of(key);
        foreach (SortedRun run in _older)
        {
            if (run.FileOf(key) is { } file && (!file.IsReadable || file.Reader.MayContain(hash)))
            {
                return true;
            }
        }

        return false;
    }

    private bool IsReleased(ReadOnlySpan<byte> chunkKey)
    {
        Span<byte> released = stackalloc byte[LargeValue.StemBytes];
        LargeValue.WriteReleasedKey(released, chunkKey[..LargeValue.StemBytes]);
        return Lookup.MayHold(_settled, released) && Lookup.Holds(_settled, released);
    }

    // The record of a release is needed until no chunk of the value remains. Its chunks may be in several files, which
    // are rewritten in any order, so all are checked.
    private bool HasChunks(ReadOnlySpan<byte> releasedKey, long valueBytes)
    {
        Span<byte> chunk = stackalloc byte[LargeValue.ChunkKeyBytes];
        releasedKey.CopyTo(chunk);
        chunk[sizeof(uint)] = TableMap.Chunks;
        for (uint number = 0; number * (long)_chunkBytes < valueBytes; number++)
        {
            BinaryPrimitives.WriteUInt32BigEndian(chunk[LargeValue.StemBytes..], number);
            if (Lookup.MayHold(_settled, chunk))
            {
                return true;
            }
        }

        return false;
    }

    private bool IsStale(ReadOnlySpan<byte> key, long sequence, RowKind kind, ReadOnlySpan<byte> value)
    {
        int place = _filteredRows % Stride;
        _filteredRows++;
        if (place == 0)
        {
            _staleInSample = 0;
        }

        if (place >= Sample && _staleInSample < StaleOfSample)
        {
            return false;
        }

        Lookups++;
        bool isStale = _filter!.IsStale(
            key,
            sequence,
            kind == RowKind.LargeReference ? [] : value,
            new Snapshot(_settled)
        );
        _staleInSample += isStale && place < Sample ? 1 : 0;
        return isStale;
    }
}
