namespace Rookery.Journal;

/// <summary>
/// Term and index of a log entry; zeros for none. Ordered by term, then by index: the log whose last entry is later is
/// more up to date (Raft, section 5.4.1).
/// </summary>
/// <param name="Term">Term of the entry.</param>
/// <param name="Index">Index of the entry.</param>
public readonly record struct EntryPosition(long Term, long Index)
{
    /// <summary>Returns whether this entry is later than <paramref name="other"/>.</summary>
    public bool IsLaterThan(EntryPosition other) => (Term, Index).CompareTo((other.Term, other.Index)) > 0;

    /// <summary>Returns the later of two entries.</summary>
    public static EntryPosition Later(EntryPosition left, EntryPosition right) =>
        left.IsLaterThan(right) ? left : right;
}
