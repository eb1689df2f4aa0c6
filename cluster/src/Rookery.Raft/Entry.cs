namespace Rookery.Raft;

/// <summary>The purpose of a log entry.</summary>
public enum EntryType
{
    /// <summary>A batch of commands, opaque to the core.</summary>
    Batch,

    /// <summary>
    /// A new leader's first entry, without content. Its commit also commits the entries of earlier terms (thesis
    /// 3.6.2).
    /// </summary>
    NoOp,

    /// <summary>The members of the cluster from this entry on.</summary>
    Configuration,
}

/// <summary>An entry as the core knows it, without its payload.</summary>
/// <param name="Index">The entry's index, from 1.</param>
/// <param name="Term">The term of the leader that appended it.</param>
/// <param name="Type">The entry's purpose.</param>
/// <param name="Bytes">The payload's size in bytes, for flow control.</param>
/// <param name="Configuration">The members, for <see cref="EntryType.Configuration"/>; otherwise null.</param>
public readonly record struct Entry(
    long Index,
    long Term,
    EntryType Type,
    int Bytes,
    Configuration? Configuration = null
);

/// <summary>
/// A position in a log. Ordered by term, then by index: the log whose last position is greater is more up to date
/// (thesis 3.6.1).
/// </summary>
/// <param name="Term">The term of the entry; 0 for the position before the first entry.</param>
/// <param name="Index">The index of the entry; 0 for the position before the first entry.</param>
public readonly record struct LogPosition(long Term, long Index) : IComparable<LogPosition>
{
    /// <summary>Compares how up to date two logs are.</summary>
    public static bool operator <(LogPosition left, LogPosition right) => left.CompareTo(right) < 0;

    /// <inheritdoc cref="op_LessThan"/>
    public static bool operator >(LogPosition left, LogPosition right) => left.CompareTo(right) > 0;

    /// <inheritdoc cref="op_LessThan"/>
    public static bool operator <=(LogPosition left, LogPosition right) => left.CompareTo(right) <= 0;

    /// <inheritdoc cref="op_LessThan"/>
    public static bool operator >=(LogPosition left, LogPosition right) => left.CompareTo(right) >= 0;

    /// <inheritdoc/>
    public int CompareTo(LogPosition other) =>
        Term != other.Term ? Term.CompareTo(other.Term) : Index.CompareTo(other.Index);
}
