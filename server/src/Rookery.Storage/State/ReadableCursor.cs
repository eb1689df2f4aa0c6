using Rookery.Platform;
using Rookery.Storage.Runs;

namespace Rookery.Storage.State;

/// <summary>
/// Iterates upwards over the readable rows of a state and skips damage. It reads a damaged range without the damaged
/// file, then continues with all files. The damaged part may have replaced or deleted a row in such a range. So it
/// returns the row only if a lookup of its key finds it, or if old rows are allowed.
/// </summary>
internal sealed class ReadableCursor(
    EngineState state,
    int visibleBatch,
    ReadOnlySpan<byte> toExclusive,
    Action<DamageEvent> damageSkipped,
    bool mayBeOld
) : IRowCursor
{
    private readonly byte[] _end = toExclusive.ToArray();

    // The ranges that remain to be read, the next on top. An empty end means no bound.
    private readonly Stack<(ReadOnlyMemory<byte> From, ReadOnlyMemory<byte> ToExclusive, string[] Without)> _left = [];
    private (ReadOnlyMemory<byte> From, ReadOnlyMemory<byte> ToExclusive, string[] Without) _stretch;
    private IRowCursor? _rows;
    private bool _isOnRow;

    public ReadOnlySpan<byte> Key => _rows!.Key;

    public long Sequence => _rows!.Sequence;

    public RowKind Kind => _rows!.Kind;

    public ReadOnlySpan<byte> Value => _rows!.Value;

    /// <summary>Always null, because damage is skipped.</summary>
    public RunDamage? Damage => null;

    public bool SeekForward(ReadOnlySpan<byte> from)
    {
        _left.Clear();
        _left.Push((from.ToArray(), _end, []));
        return Settle(found: false);
    }

    public bool SeekBackward(ReadOnlySpan<byte> toExclusive) =>
        throw new InvalidOperationException("What can be read is walked upwards.");

    public bool Move()
    {
        Invariant.Holds(_isOnRow, "a cursor moves on from a row");
        return Settle(Step());
    }

    public void Dispose() => _rows?.Dispose();

    private bool Settle(bool found)
    {
        while (_isOnRow = Next(found))
        {
            if (mayBeOld || _stretch.Without.Length == 0 || IsNewest())
            {
                return true;
            }

            found = Step();
        }

        return false;
    }

    private bool Step()
    {
        _stretch.From = (byte[])[.. _rows!.Key, 0];
        return _rows.Move();
    }

    private bool Next(bool found)
    {
        while (!found || !IsBelow(_rows!.Key, _stretch.ToExclusive.Span))
        {
            if (!found && _rows?.Damage is { } damage)
            {
                PassOver(damage);
            }

            _rows?.Dispose();
            _rows = null;
            if (!_left.TryPop(out _stretch))
            {
                return false;
            }

            found = IsBelow(_stretch.From.Span, _stretch.ToExclusive.Span) && Begin();
        }

        return true;
    }

    private bool Begin()
    {
        _rows = StateCursor.Open(state, visibleBatch, _stretch.From.Span, _stretch.ToExclusive.Span, _stretch.Without);
        return _rows.SeekForward(_stretch.From.Span);
    }

    private void PassOver(RunDamage damage)
    {
        damageSkipped(damage.ToEvent());
        ReadOnlyMemory<byte> behind =
            damage.ToExclusive.Span.SequenceCompareTo(_stretch.From.Span) > 0 ? damage.ToExclusive : _stretch.From;
        if (IsBelow(behind.Span, _stretch.ToExclusive.Span))
        {
            _left.Push((behind, _stretch.ToExclusive, _stretch.Without));
            _left.Push((_stretch.From, behind, [.. _stretch.Without, damage.Path]));
        }
        else
        {
            _left.Push((_stretch.From, _stretch.ToExclusive, [.. _stretch.Without, damage.Path]));
        }
    }

    private bool IsNewest()
    {
        try
        {
            if (!Lookup.TryGetAnyKind(state, visibleBatch, _rows!.Key, out Row newest))
            {
                return false;
            }

            using (newest)
            {
                return newest.Sequence == _rows.Sequence;
            }
        }
        catch (DamagedException)
        {
            return false; // reported when the cursor reached the range
        }
    }

    private static bool IsBelow(ReadOnlySpan<byte> key, ReadOnlySpan<byte> toExclusive) =>
        toExclusive.IsEmpty || key.SequenceCompareTo(toExclusive) < 0;
}
