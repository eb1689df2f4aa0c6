using Rookery.Disk;

namespace Rookery.Storage;

/// <summary>
/// Walks upwards over what can be read in a state and goes past damage: through a damaged stretch without the file that it lies in, and then on with all. In between, a row may be
/// one that was replaced or deleted in the damaged part: it is shown only when a look-up by its key finds it, unless old rows will do.
/// </summary>
internal sealed class ReadableCursor(EngineState state, int visibleBatch, ReadOnlySpan<byte> toExclusive, Action<DamageEvent> passedOver, bool mayBeOld) : IRowCursor
{
    private readonly byte[] end = toExclusive.ToArray();

    // What is left of the walk, the next stretch on top. An empty end is no bound.
    private readonly Stack<(ReadOnlyMemory<byte> From, ReadOnlyMemory<byte> ToExclusive, string[] Without)> left = [];
    private (ReadOnlyMemory<byte> From, ReadOnlyMemory<byte> ToExclusive, string[] Without) stretch;
    private IRowCursor? rows;
    private bool isOnRow;

    public ReadOnlySpan<byte> Key => rows!.Key;

    public long Sequence => rows!.Sequence;

    public RowKind Kind => rows!.Kind;

    public ReadOnlySpan<byte> Value => rows!.Value;

    /// <summary>None: it is passed over.</summary>
    public RunDamage? Damage => null;

    public bool SeekForward(ReadOnlySpan<byte> from)
    {
        left.Clear();
        left.Push((from.ToArray(), end, []));
        return Settle(found: false);
    }

    public bool SeekBackward(ReadOnlySpan<byte> toExclusive) => throw new InvalidOperationException("What can be read is walked upwards.");

    public bool Move()
    {
        Invariant.Holds(isOnRow, "a cursor moves on from a row");
        return Settle(Step());
    }

    public void Dispose() => rows?.Dispose();

    private bool Settle(bool found)
    {
        while (isOnRow = Next(found))
        {
            if (mayBeOld || stretch.Without.Length == 0 || IsNewest())
            {
                return true;
            }

            found = Step();
        }

        return false;
    }

    private bool Step()
    {
        stretch.From = (byte[])[.. rows!.Key, 0];
        return rows.Move();
    }

    private bool Next(bool found)
    {
        while (!found || !IsBelow(rows!.Key, stretch.ToExclusive.Span))
        {
            if (!found && rows?.Damage is { } damage)
            {
                PassOver(damage);
            }

            rows?.Dispose();
            rows = null;
            if (!left.TryPop(out stretch))
            {
                return false;
            }

            found = IsBelow(stretch.From.Span, stretch.ToExclusive.Span) && Begin();
        }

        return true;
    }

    private bool Begin()
    {
        rows = StateCursor.Open(state, visibleBatch, stretch.From.Span, stretch.ToExclusive.Span, stretch.Without);
        return rows.SeekForward(stretch.From.Span);
    }

    private void PassOver(RunDamage damage)
    {
        passedOver(damage.ToEvent());
        ReadOnlyMemory<byte> behind = damage.ToExclusive.Span.SequenceCompareTo(stretch.From.Span) > 0 ? damage.ToExclusive : stretch.From;
        if (IsBelow(behind.Span, stretch.ToExclusive.Span))
        {
            left.Push((behind, stretch.ToExclusive, stretch.Without));
            left.Push((stretch.From, behind, [.. stretch.Without, damage.Path]));
        }
        else
        {
            left.Push((stretch.From, stretch.ToExclusive, [.. stretch.Without, damage.Path]));
        }
    }

    private bool IsNewest()
    {
        try
        {
            if (!Lookup.TryGetAnyKind(state, visibleBatch, rows!.Key, out Row newest))
            {
                return false;
            }

            using (newest)
            {
                return newest.Sequence == rows.Sequence;
            }
        }
        catch (DamagedException)
        {
            return false;                               // told when the walk came to the stretch
        }
    }

    private static bool IsBelow(ReadOnlySpan<byte> key, ReadOnlySpan<byte> toExclusive) => toExclusive.IsEmpty || key.SequenceCompareTo(toExclusive) < 0;
}
