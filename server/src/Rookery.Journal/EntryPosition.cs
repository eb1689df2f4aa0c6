namespace Rookery.Journal;

/// <summary>
/// An entry of the replicated log, or none: zeros. Of two logs the one with the later last entry is as new or newer
/// (Raft, section 5.4.1): the term decides, then the index.
/// </summary>
/// <param name="Term">Its term.</param>
/// <param name="Index">Its index.</param>
public readonly record struct EntryPosition(long Term, long Index)
{
    /// <summary>Whether this one is later than <paramref name="other"/>.</summary>
    public bool IsLaterThan(EntryPosition other) => (Term, Index).CompareTo((other.Term, other.Index)) > 0;

    /// <summary>The later of two.</summary>
    public static EntryPosition Later(EntryPosition left, EntryPosition right) =>
        left.IsLaterThan(right) ? left : right;
}
