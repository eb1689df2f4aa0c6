namespace Rookery.Search.Segments.Postings;

/// <summary>A walk over entries of one segment, ascending, each once. One thread.</summary>
public abstract class EntryCursor
{
    /// <summary>Behind the last entry.</summary>
    public const int End = int.MaxValue;

    /// <summary>The entry it stands on; -1 before the first, <see cref="End"/> behind the last.</summary>
    public int Current { get; protected set; } = -1;

    /// <summary>About how many entries there are, at most: who is rarest leads.</summary>
    public abstract long Cost { get; }

    /// <summary>Goes to the next entry.</summary>
    /// <returns><see cref="Current"/>.</returns>
    public abstract int MoveNext();

    /// <summary>
    /// Goes to the first entry that is not below <paramref name="target"/>. Stays where it is when it is there or
    /// beyond.
    /// </summary>
    /// <returns><see cref="Current"/>.</returns>
    public abstract int Advance(int target);

    /// <summary>Whether <see cref="Has"/> can be asked.</summary>
    public virtual bool CanTell => false;

    /// <summary>Whether an entry is among them, wherever the walk stands; it stays there. Costs little.</summary>
    public virtual bool Has(int entry) =>
        throw new InvalidOperationException("Only a walk says which entries there are.");

    /// <summary>How many entries follow the current one, walking to the end.</summary>
    public virtual int CountRest()
    {
        int count = 0;
        while (MoveNext() != End)
        {
            count++;
        }

        return count;
    }
}
