namespace Rookery.Raft;

/// <summary>What an entry of the log is for.</summary>
public enum EntryType
{
    /// <summary>A batch of commands, which only the host understands.</summary>
    Batch,

    /// <summary>Nothing: a new leader's first entry, which lets it commit what it inherited (thesis 3.6.2).</summary>
    NoOp,

    /// <summary>Who belongs to the cluster from here on.</summary>
    Configuration,
}

/// <summary>What the core knows of one entry: all but its payload.</summary>
/// <param name="Index">Its place in the log, from 1.</param>
/// <param name="Term">The term of the leader that made it.</param>
/// <param name="Type">What it is for.</param>
/// <param name="Bytes">Its size on the wire, for windows.</param>
/// <param name="Configuration">Set for <see cref="EntryType.Configuration"/>, and only then.</param>
public readonly record struct Entry(
    long Index,
    long Term,
    EntryType Type,
    int Bytes,
    Configuration? Configuration = null
);

/// <summary>
/// The end of a log, or any place in one. Of two logs the one with the higher last term is newer, then the longer one
/// (thesis 3.6.1).
/// </summary>
/// <param name="Term">The term of the entry there; 0 before the first.</param>
/// <param name="Index">Its index; 0 before the first.</param>
public readonly record struct LogPosition(long Term, long Index) : IComparable<LogPosition>
{
    /// <summary>Compares how new two logs are.</summary>
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
