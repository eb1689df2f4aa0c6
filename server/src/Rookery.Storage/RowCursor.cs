using System.Buffers;
using Rookery.Platform;
using Rookery.Storage.Runs;
using Rookery.Storage.State;

namespace Rookery.Storage;

/// <summary>
/// Iterates over the rows of a range. One thread at a time. Spans are valid until the next move or dispose.
/// </summary>
public sealed class RowCursor : IDisposable
{
    private readonly EngineState _state;
    private readonly int _visibleBatch;
    private readonly RangeTombstoneSet _rangeTombstones;
    private readonly IRowCursor _rows;
    private readonly byte[] _from;
    private readonly byte[] _toExclusive;
    private readonly bool _isBackward;
    private bool _hasBegun;
    private bool _hasEnded;

    internal RowCursor(
        EngineState state,
        int visibleBatch,
        RangeTombstoneSet rangeTombstones,
        ReadOnlySpan<byte> from,
        ReadOnlySpan<byte> toExclusive,
        bool backward,
        IRowCursor? rows = null
    )
    {
        _state = state;
        _visibleBatch = visibleBatch;
        _rangeTombstones = rangeTombstones;
        _from = from.ToArray();
        _toExclusive = toExclusive.ToArray();
        _isBackward = backward;
        _rows = rows ?? StateCursor.Open(state, visibleBatch, from, toExclusive);
    }

    /// <summary>The row's key.</summary>
    public ReadOnlySpan<byte> Key => _rows.Key;

    /// <summary>Etag of the operation that wrote the row.</summary>
    public long Sequence => _rows.Sequence;

    /// <summary>Length of the value.</summary>
    public long Length => IsLarge ? new LargeValue(_rows.Value).Length : _rows.Value.Length;

    /// <summary>Whether the value is stored in chunks. Then read it with <see cref="CopyTo"/>.</summary>
    public bool IsLarge => _rows.Kind == RowKind.LargeReference;

    /// <summary>The value of a row that is not large.</summary>
    public ReadOnlySpan<byte> Value
    {
        get
        {
            Invariant.Holds(!IsLarge, "a large value is copied, not referenced");
            return _rows.Value;
        }
    }

    /// <summary>Moves to the first row, then to the next; false at the end.</summary>
    /// <exception cref="DamagedException">The rows that follow are damaged.</exception>
    public bool MoveNext()
    {
        if (_hasEnded)
        {
            return false;
        }

        bool hasRow =
            _hasBegun ? _rows.Move()
            : _isBackward ? _rows.SeekBackward(_toExclusive)
            : _rows.SeekForward(_from);
        _hasBegun = true;
        while (hasRow && IsInRange())
        {
            if (_rows.Kind != RowKind.Tombstone && !IsCovered())
            {
                return true;
            }

            hasRow = _rows.Move();
        }

        _hasEnded = true;
        if (!hasRow && _rows.Damage is { } damage)
        {
            throw new DamagedException(damage.ToEvent());
        }

        return false;
    }

    /// <summary>Copies a part of the value.</summary>
    /// <param name="target">Receives the bytes.</param>
    /// <param name="offset">Offset of the first byte.</param>
    /// <param name="count">Number of bytes; the range must be within <see cref="Length"/>.</param>
    /// <exception cref="DamagedException">A chunk is damaged.</exception>
    public void CopyTo(IBufferWriter<byte> target, long offset, long count)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(offset);
        ArgumentOutOfRangeException.ThrowIfNegative(count);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(offset + count, Length);
        if (IsLarge)
        {
            new LargeValue(_rows.Value).CopyTo(_state, _visibleBatch, target, offset, count);
        }
        else
        {
            target.Write(_rows.Value.Slice((int)offset, (int)count));
        }
    }

    /// <inheritdoc/>
    public void Dispose() => _rows.Dispose();

    private bool IsCovered() =>
        !_rangeTombstones.IsEmpty && _rangeTombstones.CoveringSequence(_rows.Key) > _rows.Sequence;

    private bool IsInRange() =>
        _isBackward
            ? _rows.Key.SequenceCompareTo(_from) >= 0
            : _toExclusive.Length == 0 || _rows.Key.SequenceCompareTo(_toExclusive) < 0;
}
