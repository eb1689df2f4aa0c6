namespace Rookery.Journal;

/// <summary>
/// Term and index of a log entry; zeros for none. Of two logs, the one whose last entry is later is at least as up to
/// date (Raft, section 5.4.1): the term decides first, then the index.
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
