namespace Rookery.Search.Segments.Postings;

/// <summary>A cursor over entries of one segment, ascending, each once. Not thread-safe.</summary>
public abstract class EntryCursor
{
    /// <summary>The value of <see cref="Current"/> after the last entry.</summary>
    public const int End = int.MaxValue;

    /// <summary>The current entry; -1 before the first, <see cref="End"/> after the last.</summary>
    public int Current { get; protected set; } = -1;

    /// <summary>
    /// Upper estimate of the number of entries. An intersection reads the cursor with the least cost first.
    /// </summary>
    public abstract long Cost { get; }

    /// <summary>Moves to the next entry.</summary>
    /// <returns><see cref="Current"/>.</returns>
    public abstract int MoveNext();

    /// <summary>
    /// Moves to the first entry that is at least <paramref name="target"/>. Does not move if the current entry is
    /// already at least the target.
    /// </summary>
    /// <returns><see cref="Current"/>.</returns>
    public abstract int Advance(int target);

    /// <summary>Whether <see cref="Contains"/> is supported.</summary>
    public virtual bool CanTest => false;

    /// <summary>
    /// Returns whether the cursor's set contains an entry. Cheap. Ignores the current position, and does not change it.
    /// </summary>
    public virtual bool Contains(int entry) =>
        throw new InvalidOperationException("This cursor cannot test single entries: CanTest is false.");

    /// <summary>Moves to the end and returns the number of entries passed.</summary>
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
