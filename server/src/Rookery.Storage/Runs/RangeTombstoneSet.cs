namespace Rookery.Storage.Runs;

/// <summary>
/// Range tombstones of a memtable or a whole state, split into pieces that do not overlap, each with the highest
/// sequence that covers it. Immutable.
/// </summary>
internal sealed class RangeTombstoneSet
{
    private readonly RangeTombstone[] _pieces;

    private RangeTombstoneSet(RangeTombstone[] pieces) => _pieces = pieces;

    /// <summary>Splits tombstones, which may overlap and have any order, into pieces.</summary>
    public RangeTombstoneSet(IEnumerable<RangeTombstone> tombstones)
        : this(Split([.. tombstones])) { }

    /// <summary>A set without tombstones.</summary>
    public static RangeTombstoneSet Empty { get; } = new(Array.Empty<RangeTombstone>());

    /// <summary>The pieces in key order.</summary>
    public IReadOnlyList<RangeTombstone> Pieces => _pieces;

    /// <summary>Whether there are no tombstones.</summary>
    public bool IsEmpty => _pieces.Length == 0;

    /// <summary>
    /// Returns the highest sequence of a tombstone that covers <paramref name="key"/>; -1 if none does. A row with
    /// a lower sequence is deleted.
    /// </summary>
    public long CoveringSequence(ReadOnlySpan<byte> key)
    {
        int low = 0;
        int high = _pieces.Length;
        while (low < high)
        {
            int middle = (low + high) / 2;
            if (_pieces[middle].From.Span.SequenceCompareTo(key) <= 0)
            {
                low = middle + 1;
            }
            else
            {
                high = middle;
            }
        }

        return low > 0 && key.SequenceCompareTo(_pieces[low - 1].ToExclusive.Span) < 0 ? _pieces[low - 1].Sequence : -1;
    }

    /// <summary>Returns all tombstones of several sets in one set.</summary>
    public static RangeTombstoneSet Union(IEnumerable<RangeTombstoneSet> sets)
    {
        RangeTombstone[] all = [.. sets.SelectMany(set => set._pieces)];
        return all.Length == 0 ? Empty : new RangeTombstoneSet(Split(all));
    }

    /// <summary>
    /// Visits all bounds in order; between two bounds the highest sequence of the open tombstones applies.
    /// </summary>
    private static RangeTombstone[] Split(RangeTombstone[] tombstones)
    {
        byte[][] bounds =
        [
            .. tombstones
                .Where(tombstone => tombstone.From.Span.SequenceCompareTo(tombstone.ToExclusive.Span) < 0)
                .SelectMany(tombstone => new[] { tombstone.From.ToArray(), tombstone.ToExclusive.ToArray() }),
        ];
        Array.Sort(bounds, (left, right) => left.AsSpan().SequenceCompareTo(right));
        RangeTombstone[] byStart = [.. tombstones];
        Array.Sort(byStart, (left, right) => left.From.Span.SequenceCompareTo(right.From.Span));

        var pieces = new List<RangeTombstone>();
        var open = new List<RangeTombstone>();
        int next = 0;
        for (int bound = 0; bound + 1 < bounds.Length; bound++)
        {
            byte[] from = bounds[bound];
            byte[] to = bounds[bound + 1];
            while (next < byStart.Length && byStart[next].From.Span.SequenceCompareTo(from) <= 0)
            {
                open.Add(byStart[next]);
                next++;
            }

            open.RemoveAll(tombstone => tombstone.ToExclusive.Span.SequenceCompareTo(from) <= 0);
            if (open.Count > 0 && !from.AsSpan().SequenceEqual(to))
            {
                Append(pieces, new RangeTombstone(from, to, open.Max(tombstone => tombstone.Sequence)));
            }
        }

        return [.. pieces];
    }

    /// <summary>Joins adjacent pieces of the same sequence.</summary>
    private static void Append(List<RangeTombstone> pieces, RangeTombstone piece)
    {
        if (
            pieces.Count > 0
            && pieces[^1].Sequence == piece.Sequence
            && pieces[^1].ToExclusive.Span.SequenceEqual(piece.From.Span)
        )
        {
            pieces[^1] = pieces[^1] with { ToExclusive = piece.ToExclusive };
            return;
        }

        pieces.Add(piece);
    }
}
