namespace Rookery.Raft;

/// <summary>
/// The log and what is known of it: how far it is durable here, how far committed, and what of it was lost to damage.
/// </summary>
internal sealed class RaftLog
{
    private readonly SafetyRules _rules;
    private long _appliedThrough;

    public RaftLog(StartingPoint start, SafetyRules rules)
    {
        ConsensusException.Unless(
            start.CommitIndex >= start.Log.Base.Index && start.CommitIndex <= start.Log.LastIndex,
            "what the manifest holds is in the log, or before it"
        );
        ConsensusException.Unless(start.Vote.Term >= start.Log.Last.Term, "the vote record is as new as the log");
        (_rules, Entries, CommitIndex, _appliedThrough) = (rules, start.Log, start.CommitIndex, start.CommitIndex);
        Durability = new Durability(Entries.LastIndex, rules);
        VotedBy = start.VotedBy > Entries.Last ? start.VotedBy : default;
    }

    /// <summary>The entries, durable or not.</summary>
    public EntryLog Entries { get; }

    /// <summary>What of them, and of the vote, is on the own disk.</summary>
    public Durability Durability { get; }

    /// <summary>Entries through here are committed, as far as this node knows.</summary>
    public long CommitIndex { get; private set; }

    /// <summary>Entries through here may be applied: committed, and durable here.</summary>
    public long ApplyThrough => Math.Min(CommitIndex, Durability.DurableIndex);

    /// <summary>Who belongs to the cluster.</summary>
    public Configuration Configuration => _rules.InForce(Entries);

    /// <summary>Whether the last change of members is not committed yet.</summary>
    public bool ChangeIsPending => Entries.ConfigurationIndex > CommitIndex;

    /// <summary>
    /// The end of what this store may have acknowledged, while it is behind the end of the log; zeros else.
    /// </summary>
    public LogPosition VotedBy { get; private set; }

    /// <summary>Whether this store lost entries that it may have acknowledged.</summary>
    public bool IsDamaged => VotedBy != default;

    /// <summary>The term of the last entry that is known to be committed.</summary>
    public long CommittedTerm => Entries.TermAt(CommitIndex);

    /// <summary>Commits through <paramref name="index"/>, unless more is committed already.</summary>
    public void CommitThrough(long index) => CommitIndex = Math.Max(CommitIndex, index);

    /// <summary>Appends an entry of <paramref name="term"/> behind the last one.</summary>
    /// <returns>Where it went.</returns>
    public LogPosition AppendNew(in Entry entry, long term)
    {
        Entries.Append(entry with { Index = Entries.LastIndex + 1, Term = term });
        return Entries.Last;
    }

    /// <summary>Truncates the log, here and with the next write on the disk.</summary>
    public void TruncateAfter(long index)
    {
        ConsensusException.Unless(index >= CommitIndex, ConsensusException.CommitStays);
        Coverage.Took(RareBranch.TailReplaced);
        Entries.TruncateAfter(index);
        Durability.TruncateAfter(index);
    }

    /// <summary>
    /// Whether a manifest at <paramref name="position"/> leaves the journal as it is: its entry is in the log, durably.
    /// Else the journal begins anew behind it.
    /// </summary>
    public bool KeepsTailBehind(LogPosition position) =>
        _rules.KeepsTail(Entries.Has(position), position.Index <= Durability.DurableIndex);

    /// <summary>
    /// A manifest at <paramref name="position"/> is in place: all that it holds is committed, and durable here.
    /// </summary>
    public void Install(LogPosition position, Configuration configuration, long configurationIndex, bool tailIsKept)
    {
        if (tailIsKept)
        {
            Coverage.Took(
                position.Index > CommitIndex ? RareBranch.ManifestKeptTail : RareBranch.ManifestReplacedTables
            );
            CommitThrough(position.Index);
        }
        else
        {
            Coverage.Took(RareBranch.ManifestReplacedLog);
            Entries.Reset(position, configuration, configurationIndex);
            CommitIndex = position.Index;
        }

        Durability.Installed(position.Index, tailIsKept);
    }

    /// <summary>
    /// What this store had acknowledged and lost is made good when the log is as new again as it was.
    /// </summary>
    /// <returns>Whether that is so since now.</returns>
    public bool TryHeal()
    {
        var durable = new LogPosition(Entries.TermAt(Durability.DurableIndex), Durability.DurableIndex);
        bool isHealed = IsDamaged && durable >= VotedBy;
        if (isHealed)
        {
            Coverage.Took(RareBranch.DamageHealed);
            VotedBy = default;
        }

        return isHealed;
    }

    /// <summary>Checked after each step.</summary>
    public void CheckRules()
    {
        ConsensusException.Unless(CommitIndex <= Entries.LastIndex, "what is committed is in the log");
        ConsensusException.Unless(
            Durability.DurableIndex <= Durability.WrittenIndex && Durability.WrittenIndex <= Entries.LastIndex,
            "what is durable was written, and what was written is in the log"
        );
        ConsensusException.Unless(ApplyThrough >= _appliedThrough, "what was applied stays committed and durable");
        _appliedThrough = ApplyThrough;
    }
}
