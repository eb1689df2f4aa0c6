namespace Rookery.Raft;

/// <summary>The log with its durable index, its commit index and the extent of its damage.</summary>
internal sealed class RaftLog
{
    private readonly SafetyRules _rules;
    private long _appliedThrough;

    public RaftLog(StartingPoint start, SafetyRules rules)
    {
        ConsensusException.Unless(
            start.CommitIndex >= start.Log.Base.Index && start.CommitIndex <= start.Log.LastIndex,
            "the commit index is within the log"
        );
        ConsensusException.Unless(start.Vote.Term >= start.Log.Last.Term, "the vote record is as new as the log");
        _rules = rules;
        Entries = start.Log;
        CommitIndex = start.CommitIndex;
        _appliedThrough = start.CommitIndex;
        Durability = new Durability(Entries.LastIndex, rules);
        MayHaveAcknowledged = start.MayHaveAcknowledged > Entries.Last ? start.MayHaveAcknowledged : default;
    }

    /// <summary>The entries, durable or not.</summary>
    public EntryLog Entries { get; }

    /// <summary>Tracks which records are durable on this node's disk.</summary>
    public Durability Durability { get; }

    /// <summary>The highest index that this node knows to be committed.</summary>
    public long CommitIndex { get; private set; }

    /// <summary>The highest index that may be applied: committed, and durable on this node.</summary>
    public long ApplyThrough => Math.Min(CommitIndex, Durability.DurableIndex);

    /// <summary>The newest configuration in the log.</summary>
    public Configuration Configuration => _rules.InForce(Entries);

    /// <summary>Whether the newest configuration is not committed yet.</summary>
    public bool ChangeIsPending => Entries.ConfigurationIndex > CommitIndex;

    /// <summary>
    /// The last position that this store may have acknowledged, if the log ends before that position; otherwise zeros.
    /// </summary>
    public LogPosition MayHaveAcknowledged { get; private set; }

    /// <summary>Whether this store lost entries that it may have acknowledged.</summary>
    public bool IsDamaged => MayHaveAcknowledged != default;

    /// <summary>The term of the last entry known to be committed.</summary>
    public long CommittedTerm => Entries.TermAt(CommitIndex);

    /// <summary>Raises the commit index to <paramref name="index"/>.</summary>
    public void CommitThrough(long index) => CommitIndex = Math.Max(CommitIndex, index);

    /// <summary>Appends an entry of <paramref name="term"/>.</summary>
    /// <returns>The entry's position.</returns>
    public LogPosition AppendNew(in Entry entry, long term)
    {
        Entries.Append(entry with { Index = Entries.LastIndex + 1, Term = term });
        return Entries.Last;
    }

    /// <summary>Truncates the log, in memory now and on disk with the next write.</summary>
    public void TruncateAfter(long index)
    {
        ConsensusException.Unless(index >= CommitIndex, ConsensusException.CommitStays);
        Coverage.Count(RareBranch.TailReplaced);
        Entries.TruncateAfter(index);
        Durability.TruncateAfter(index);
    }

    /// <summary>
    /// Whether the journal keeps its entries after a snapshot at <paramref name="position"/>: true when the entry there
    /// is durable in the log. Otherwise the journal is emptied and starts after the snapshot.
    /// </summary>
    public bool KeepsTailAfter(LogPosition position) =>
        _rules.KeepsTail(Entries.Has(position), position.Index <= Durability.DurableIndex);

    /// <summary>
    /// Records that a snapshot at <paramref name="position"/> is installed: its entries are committed and durable here.
    /// </summary>
    public void Install(LogPosition position, Configuration configuration, long configurationIndex, bool tailIsKept)
    {
        if (tailIsKept)
        {
            Coverage.Count(
                position.Index > CommitIndex ? RareBranch.SnapshotKeptTail : RareBranch.SnapshotReplacedTables
            );
            CommitThrough(position.Index);
        }
        else
        {
            Coverage.Count(RareBranch.SnapshotReplacedLog);
            Entries.Reset(position, configuration, configurationIndex);
            CommitIndex = position.Index;
        }

        Durability.RecordInstalled(position.Index, tailIsKept);
    }

    /// <summary>
    /// Clears the damage once the durable log is at least as up to date as <see cref="MayHaveAcknowledged"/>.
    /// </summary>
    /// <returns>Whether the damage was cleared by this call.</returns>
    public bool TryHeal()
    {
        var durable = new LogPosition(Entries.TermAt(Durability.DurableIndex), Durability.DurableIndex);
        bool isHealed = IsDamaged && durable >= MayHaveAcknowledged;
        if (isHealed)
        {
            Coverage.Count(RareBranch.DamageHealed);
            MayHaveAcknowledged = default;
        }

        return isHealed;
    }

    /// <summary>Checks invariants after each step.</summary>
    public void CheckRules()
    {
        ConsensusException.Unless(CommitIndex <= Entries.LastIndex, "committed entries are in the log");
        ConsensusException.Unless(
            Durability.DurableIndex <= Durability.WrittenIndex && Durability.WrittenIndex <= Entries.LastIndex,
            "durable entries are written, and written entries are in the log"
        );
        ConsensusException.Unless(ApplyThrough >= _appliedThrough, "applied entries stay committed and durable");
        _appliedThrough = ApplyThrough;
    }
}
