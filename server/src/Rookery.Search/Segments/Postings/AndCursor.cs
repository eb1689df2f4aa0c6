namespace Rookery.Search.Segments.Postings;

/// <summary>
/// Intersection: the entries that are in all of several cursors. The cursor with the fewest entries leads, and the
/// others advance to its entries.
/// </summary>
public sealed class AndCursor : EntryCursor
{
    private readonly EntryCursor _lead;
    private readonly EntryCursor[] _others;

    /// <summary>Creates a cursor over the intersection of at least one cursor, each before its first entry.</summary>
    public AndCursor(IEnumerable<EntryCursor> cursors)
    {
        EntryCursor[] sorted = [.. cursors.OrderBy(static cursor => cursor.Cost)];
        _lead = sorted[0];
        _others = sorted[1..];
    }

    /// <inheritdoc/>
    public override long Cost => _lead.Cost;

    /// <inheritdoc/>
    public override bool CanTest => _lead.CanTest && Array.TrueForAll(_others, static other => other.CanTest);

    /// <inheritdoc/>
    public override bool Contains(int entry)
    {
        bool hasAll = _lead.Contains(entry);
        for (int i = 0; hasAll && i < _others.Length; i++)
        {
            hasAll = _others[i].Contains(entry);
        }

        return hasAll;
    }

    /// <inheritdoc/>
    public override int MoveNext() => AdvanceToCommon(_lead.MoveNext());

    /// <inheritdoc/>
    public override int Advance(int target) => target <= Current ? Current : AdvanceToCommon(_lead.Advance(target));

    private int AdvanceToCommon(int entry)
    {
        for (int i = 0; i < _others.Length && entry != End; )
        {
            int other = _others[i].Advance(entry);
            if (other == entry)
            {
                i++;
            }
            else
            {
                entry = _lead.Advance(other);
                i = 0;
            }
        }

        return Current = entry;
    }
}
