using Rookery.Platform;
using Rookery.Storage.Runs;

namespace Rookery.Storage.State;

/// <summary>
/// Iterates upwards over the readable rows of a state and skips damage. It reads a damaged range without the damaged
/// file, then continues with all files. A row that it finds in such a range may be old, because the damaged file may
/// contain a newer version or a tombstone. So the cursor returns the row only if a lookup of its key finds it, too, or
/// if old rows are allowed.
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

    // The ranges after the current one, the next on top.
    private readonly Stack<RangeToRead> _remaining = [];
    private RangeToRead _range;
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
        _remaining.Clear();
        _remaining.Push(new RangeToRead(from.ToArray(), _end, []));
        return FindReturnable(hasRow: false);
    }

    public bool SeekBackward(ReadOnlySpan<byte> toExclusive) =>
        throw new InvalidOperationException("A cursor that skips damage moves upwards only.");

    public bool Move()
    {
        Invariant.Holds(_isOnRow, "a cursor moves on from a row");
        return FindReturnable(MoveWithinRange());
    }

    public void Dispose() => _rows?.Dispose();

    // Moves to the first row, from the current one on, that this cursor may return. hasRow: whether there is a current
    // row.
    private bool FindReturnable(bool hasRow)
    {
        _isOnRow = FindInRanges(hasRow);
        while (_isOnRow)
        {
            bool isReadFromAllFiles = _range.WithoutFiles.Length == 0;
            if (mayBeOld || isReadFromAllFiles || IsNewest())
            {
                return true;
            }

            _isOnRow = FindInRanges(MoveWithinRange());
        }

        return false;
    }

    // Moves on, and lets the rest of the range begin directly after the current key.
    private bool MoveWithinRange()
    {
        _range = _range with { From = (byte[])[.. _rows!.Key, 0] };
        return _rows.Move();
    }

    // Goes on to the next range until a row is found in it.
    private bool FindInRanges(bool hasRow)
    {
        while (!hasRow || !IsBelow(_rows!.Key, _range.ToExclusive.Span))
        {
            if (!hasRow && _rows?.Damage is { } damage)
            {
                Skip(damage);
            }

            _rows?.Dispose();
            _rows = null;
            if (!_remaining.TryPop(out _range))
            {
                return false;
            }

            hasRow = IsBelow(_range.From.Span, _range.ToExclusive.Span) && OpenRange();
        }

        return true;
    }

    private bool OpenRange()
    {
        var (from, toExclusive, withoutFiles) = _range;
        _rows = StateCursor.Open(state, visibleBatch, from.Span, toExclusive.Span, withoutFiles);
        return _rows.SeekForward(_range.From.Span);
    }

    // Divides the rest of the range: up to the end of the damage it is read without the damaged file.
    private void Skip(RunDamage damage)
    {
        damageSkipped(damage.ToEvent());
        string[] withoutFiles = [.. _range.WithoutFiles, damage.Path];
        ReadOnlyMemory<byte> afterDamage =
            damage.ToExclusive.Span.SequenceCompareTo(_range.From.Span) > 0 ? damage.ToExclusive : _range.From;
        if (IsBelow(afterDamage.Span, _range.ToExclusive.Span))
        {
            _remaining.Push(_range with { From = afterDamage });
            _remaining.Push(new RangeToRead(_range.From, afterDamage, withoutFiles));
        }
        else
        {
            _remaining.Push(_range with { WithoutFiles = withoutFiles });
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

    // A key range (an empty end means no bound), and the paths of the files that are not read in it.
    private readonly record struct RangeToRead(
        ReadOnlyMemory<byte> From,
        ReadOnlyMemory<byte> ToExclusive,
        string[] WithoutFiles
    );
}
