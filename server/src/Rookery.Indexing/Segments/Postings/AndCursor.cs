namespace Rookery.Indexing.Segments;

/// <summary>Entries that all cursors have. The rarest leads, the others leap behind it.</summary>
internal sealed class AndCursor : EntryCursor
{
    private readonly EntryCursor lead;
    private readonly EntryCursor[] others;

    /// <summary>Of at least one cursor, none of which has begun.</summary>
    public AndCursor(IEnumerable<EntryCursor> cursors)
    {
        EntryCursor[] sorted = [.. cursors.OrderBy(static cursor => cursor.Cost)];
        lead = sorted[0];
        others = sorted[1..];
    }

    /// <inheritdoc/>
    public override long Cost => lead.Cost;

    /// <inheritdoc/>
    public override bool CanTell => lead.CanTell && Array.TrueForAll(others, static other => other.CanTell);

    /// <inheritdoc/>
    public override bool Has(int entry)
    {
        bool hasAll = lead.Has(entry);
        for (int i = 0; hasAll && i < others.Length; i++)
        {
            hasAll = others[i].Has(entry);
        }

        return hasAll;
    }

    /// <inheritdoc/>
    public override int MoveNext() => Agree(lead.MoveNext());

    /// <inheritdoc/>
    public override int Advance(int target) => target <= Current ? Current : Agree(lead.Advance(target));

    private int Agree(int entry)
    {
        for (int i = 0; i < others.Length && entry != End;)
        {
            int other = others[i].Advance(entry);
            if (other == entry)
            {
                i++;
            }
            else
            {
                entry = lead.Advance(other);
                i = 0;
            }
        }

        return Current = entry;
    }
}
