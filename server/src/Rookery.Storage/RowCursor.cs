using System.Buffers;
using Rookery.Disk;

namespace Rookery.Storage;

/// <summary>A walk over the rows of a range. One thread at a time. Spans are valid until the next move or dispose.</summary>
public sealed class RowCursor : IDisposable
{
    private readonly EngineState state;
    private readonly int visibleBatch;
    private readonly RangeTombstoneSet rangeTombstones;
    private readonly IRowCursor rows;
    private readonly byte[] from;
    private readonly byte[] toExclusive;
    private readonly bool backward;
    private bool begun;
    private bool ended;

    internal RowCursor(EngineState state, int visibleBatch, RangeTombstoneSet rangeTombstones, ReadOnlySpan<byte> from, ReadOnlySpan<byte> toExclusive, bool backward, IRowCursor? rows = null)
    {
        this.state = state;
        this.visibleBatch = visibleBatch;
        this.rangeTombstones = rangeTombstones;
        this.from = from.ToArray();
        this.toExclusive = toExclusive.ToArray();
        this.backward = backward;
        this.rows = rows ?? StateCursor.Open(state, visibleBatch, from, toExclusive);
    }

    /// <summary>The whole key.</summary>
    public ReadOnlySpan<byte> Key => rows.Key;

    /// <summary>The etag of the operation that wrote the row.</summary>
    public long Sequence => rows.Sequence;

    /// <summary>Bytes of the value.</summary>
    public long Length => IsLarge ? new LargeValue(rows.Value).Length : rows.Value.Length;

    /// <summary>Whether the value lies in chunks: then it is read with <see cref="CopyTo"/>.</summary>
    public bool IsLarge => rows.Kind == RowKind.LargeReference;

    /// <summary>The whole value of a row that is not large.</summary>
    public ReadOnlySpan<byte> Value
    {
        get
        {
            Invariant.Holds(!IsLarge, "a large value is copied, not referenced");
            return rows.Value;
        }
    }

    /// <summary>Goes to the first row, then to the next; false at the end.</summary>
    /// <exception cref="DamagedException">What would come next cannot be trusted.</exception>
    public bool MoveNext()
    {
        if (ended)
        {
            return false;
        }

        bool found = begun ? rows.Move() : backward ? rows.SeekBackward(toExclusive) : rows.SeekForward(from);
        begun = true;
        while (found && IsInRange())
        {
            if (rows.Kind != RowKind.Tombstone && !IsCovered())
            {
                return true;
            }

            found = rows.Move();
        }

        ended = true;
        return !found && rows.Damage is { } damage ? throw new DamagedException(damage.ToEvent()) : false;
    }

    /// <summary>Copies a part of the value, large or not.</summary>
    /// <param name="target">Where to.</param>
    /// <param name="offset">The first byte.</param>
    /// <param name="count">How many; offset and count lie within <see cref="Length"/>.</param>
    /// <exception cref="DamagedException">A chunk cannot be trusted.</exception>
    public void CopyTo(IBufferWriter<byte> target, long offset, long count)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(offset);
        ArgumentOutOfRangeException.ThrowIfNegative(count);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(offset + count, Length);
        if (IsLarge)
        {
            new LargeValue(rows.Value).CopyTo(state, visibleBatch, target, offset, count);
        }
        else
        {
            target.Write(rows.Value.Slice((int)offset, (int)count));
        }
    }

    /// <inheritdoc/>
    public void Dispose() => rows.Dispose();

    private bool IsCovered() => !rangeTombstones.IsEmpty && rangeTombstones.CoveringSequence(rows.Key) > rows.Sequence;

    private bool IsInRange() => backward
        ? rows.Key.SequenceCompareTo(from) >= 0
        : toExclusive.Length == 0 || rows.Key.SequenceCompareTo(toExclusive) < 0;
}
