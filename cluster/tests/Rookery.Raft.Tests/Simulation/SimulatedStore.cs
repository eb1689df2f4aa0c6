namespace Rookery.Raft.Tests.Simulation;

/// <summary>An entry with what stands for its payload, its time, and when that was given to it.</summary>
internal readonly record struct StoredEntry(Entry Entry, long Payload, LogTime Time = default, long StampedTicks = 0);

/// <summary>What the manifest of a store holds.</summary>
internal sealed record StoredManifest(
    LogPosition Position,
    Configuration Configuration,
    long ConfigurationIndex,
    SimulatedState State
);

/// <summary>
/// A node's disk: what survives its process. A journal write that is under way when the power goes leaves all, nothing
/// or a beginning of itself.
/// </summary>
internal sealed class SimulatedStore(Configuration configuration)
{
    private readonly List<StoredEntry> _entries = [];
    private readonly Dictionary<long, long> _lostTerms = [];
    private (JournalWrite Write, StoredEntry[] Entries)? _outstanding;
    private bool _damageIsTold;
    private long _notedCommit;

    public VoteRecord Vote { get; private set; }

    public long Incarnation { get; private set; }

    public StoredManifest Manifest { get; private set; } = new(default, configuration, 0, new SimulatedState());

    public StoredManifest Base { get; private set; } = new(default, configuration, 0, new SimulatedState());

    /// <summary>
    /// What was acknowledged and lost, until the log is as new again: the journal keeps it through restarts as it keeps
    /// vote and starts, and knows by itself when it is made good.
    /// </summary>
    public LogPosition VotedBy { get; private set; }

    /// <summary>
    /// Through which index the log is known to be committed: by the manifest, or by a note of the journal.
    /// </summary>
    public long KnownCommitted => Math.Max(Manifest.Position.Index, Math.Min(_notedCommit, Last.Index));

    public bool WasUnclean { get; private set; }

    public bool IsWriting => _outstanding is not null;

    public LogPosition Last => _entries.Count == 0 ? Base.Position : PositionOf(_entries[^1]);

    public IReadOnlyList<StoredEntry> Entries => _entries;

    /// <summary>
    /// Whether by all that is in this log a voter may lose something, because the others make a majority without it: of
    /// two neither may.
    /// </summary>
    public bool BearsLoss =>
        _entries
            .Select(entry => entry.Entry.Configuration)
            .OfType<Configuration>()
            .Append(Base.Configuration)
            .All(configuration => configuration.Voters.Length is 0 or > 2);

    public StoredEntry? At(long index) =>
        index > Base.Position.Index && index <= Last.Index ? _entries[(int)(index - Base.Position.Index - 1)] : null;

    /// <summary>
    /// Whether this very entry was here, cannot be read any more, and counts as acknowledged as long as that is not
    /// made good.
    /// </summary>
    public bool KnowsThatItLost(LogPosition position) =>
        VotedBy.Index >= position.Index && _lostTerms.GetValueOrDefault(position.Index) == position.Term;

    public void Begin(in JournalWrite write, StoredEntry[] written)
    {
        Assert.Null(_outstanding);
        _outstanding = (write, written);
    }

    /// <summary>The write that was under way is durable.</summary>
    public long Complete()
    {
        var (write, written) = _outstanding!.Value;
        _outstanding = null;
        Persist(write, written, written.Length, withVote: true, withCut: true);
        return write.Number;
    }

    /// <summary>The process is gone. Of the write under way, an arbitrary beginning is on the disk.</summary>
    public void Crash(Random random)
    {
        WasUnclean = true;
        if (_outstanding is { } torn)
        {
            _outstanding = null;
            int kept = random.Next(3) switch
            {
                0 => 0,
                1 => torn.Entries.Length,
                _ => random.Next(torn.Entries.Length + 1),
            };
            bool withVote = kept > 0 || random.Next(2) == 0;
            Persist(torn.Write, torn.Entries, kept, withVote, withCut: kept > 0 || (withVote && random.Next(2) == 0));
        }
    }

    /// <summary>The process is gone, and nothing of the write under way is on the disk.</summary>
    public void LosePower() => (WasUnclean, _outstanding) = (true, null);

    /// <summary>The card lied about its last syncs: what it said was durable is gone, and nothing tells.</summary>
    public void Forget(long behind) =>
        _entries.RemoveRange((int)(behind - Base.Position.Index), (int)(Last.Index - behind));

    /// <summary>
    /// A part of the journal can no longer be read. What recovery makes of it is that of the program: of what the
    /// manifest holds nothing is lost; else the log ends there, or where the manifest does.
    /// </summary>
    public void Rot(Random random)
    {
        if (Last.Index > Base.Position.Index)
        {
            long first = random.NextInt64(Base.Position.Index, Last.Index) + 1;
            if (first > Manifest.Position.Index)
            {
                Rot(first - 1);
            }
            else
            {
                PassOver(reachesAbove: random.Next(2) == 0);
            }
        }
    }

    /// <summary>
    /// What lies behind an index can no longer be read. How far it was acknowledged is known from what lies behind the
    /// gap, and so are the vote and the starts.
    /// </summary>
    public void Rot(long behind)
    {
        VotedBy = VotedBy > Last ? VotedBy : Last;
        foreach (var entry in _entries.Where(entry => entry.Entry.Index > behind))
        {
            _lostTerms[entry.Entry.Index] = entry.Entry.Term;
        }

        Forget(behind);
    }

    /// <summary>The log begins anew where the manifest ends, with what is intact behind it.</summary>
    private void PassOver(bool reachesAbove)
    {
        if (reachesAbove && Last.Index > Manifest.Position.Index)
        {
            Rot(Manifest.Position.Index);
        }

        Release(Manifest.Position.Index, Manifest);
    }

    public StartingPoint Start(NodeId self, int seed, bool countsStarts, bool remembersDamage)
    {
        VotedBy = _damageIsTold && !remembersDamage ? default : VotedBy;
        _damageIsTold = VotedBy != default;
        Incarnation += countsStarts || Incarnation == 0 ? 1 : 0;
        var log = new EntryLog(Base.Position, Base.Configuration, Base.ConfigurationIndex);
        foreach (var entry in _entries)
        {
            log.Append(entry.Entry);
        }

        return new StartingPoint
        {
            Self = self,
            Incarnation = Incarnation,
            Vote = Vote,
            Log = log,
            CommitIndex = KnownCommitted,
            VotedBy = VotedBy,
            WasUnclean = WasUnclean,
            Seed = seed,
        };
    }

    public void Flush(StoredManifest manifest) => Manifest = manifest;

    /// <summary>Gives the journal's entries back through <paramref name="index"/>.</summary>
    public void Release(long index, StoredManifest at)
    {
        _entries.RemoveRange(0, (int)(index - Base.Position.Index));
        Base = at;
    }

    /// <summary>A fetched manifest and the journal's base change in one step. A tail that agrees stays.</summary>
    public void Install(StoredManifest manifest, bool keepTail, bool isOneStep)
    {
        Assert.True(keepTail || _outstanding is null);
        Manifest = manifest;
        if (!keepTail && isOneStep)
        {
            _entries.Clear();
            Base = manifest;
        }

        Heal();
    }

    private void Heal()
    {
        VotedBy = VotedBy > Last ? VotedBy : default;
        if (VotedBy == default)
        {
            _lostTerms.Clear();
        }
    }

    private static LogPosition PositionOf(in StoredEntry entry) => new(entry.Entry.Term, entry.Entry.Index);

    private void Persist(in JournalWrite write, StoredEntry[] written, int count, bool withVote, bool withCut)
    {
        if (write.Vote is { } vote && withVote)
        {
            Assert.True(vote.Term >= Vote.Term, "terms on disk never fall");
            Vote = vote;
        }

        if (write.TruncateAfter >= 0 && withCut)
        {
            long kept = Math.Max(write.TruncateAfter - Base.Position.Index, 0);
            _entries.RemoveRange((int)kept, _entries.Count - (int)kept);
        }

        for (int place = 0; place < count; place++)
        {
            Assert.True(written[place].Entry.Index == Last.Index + 1, "the journal has no gaps");
            _entries.Add(written[place]);
        }

        if (count == written.Length)
        {
            _notedCommit = Math.Max(_notedCommit, write.Committed);
        }

        Heal();
    }
}
