namespace Rookery.Raft.Tests.Simulation;

/// <summary>
/// An entry: the number that represents its payload, its log time, and the true time at which it got the log time.
/// </summary>
internal readonly record struct StoredEntry(Entry Entry, long Payload, LogTime Time = default, long StampedTicks = 0);

/// <summary>The content of a store's manifest.</summary>
internal sealed record StoredManifest(
    LogPosition Position,
    Configuration Configuration,
    long ConfigurationIndex,
    SimulatedState State
);

/// <summary>
/// A node's disk, which survives its process. After a power cut, all, none or a prefix of the journal write in flight
/// is on the disk.
/// </summary>
internal sealed class SimulatedStore(Configuration configuration)
{
    private readonly List<StoredEntry> _entries = [];
    private readonly Dictionary<long, long> _lostTerms = [];
    private (JournalWrite Write, StoredEntry[] Entries)? _outstanding;
    private bool _damageIsReported;
    private long _recordedCommit;

    public VoteRecord Vote { get; private set; }

    public long StartNumber { get; private set; }

    public StoredManifest Manifest { get; private set; } = new(default, configuration, 0, new SimulatedState());

    /// <summary>The state before the journal's first entry.</summary>
    public StoredManifest Base { get; private set; } = new(default, configuration, 0, new SimulatedState());

    /// <summary>
    /// Position through which acknowledged entries may be lost. The journal keeps it across restarts, like the vote and
    /// the start number, and clears it once the log has reached it again.
    /// </summary>
    public LogPosition MayHaveAcknowledged { get; private set; }

    /// <summary>The highest index known to be committed, from the manifest or a record of the journal.</summary>
    public long KnownCommitted => Math.Max(Manifest.Position.Index, Math.Min(_recordedCommit, Last.Index));

    public bool WasUnclean { get; private set; }

    public bool IsWriting => _outstanding is not null;

    public LogPosition Last => _entries.Count == 0 ? Base.Position : PositionOf(_entries[^1]);

    public IReadOnlyList<StoredEntry> Entries => _entries;

    /// <summary>
    /// Whether a voter may lose entries, according to this log: the other voters must be a majority without it. With
    /// two voters, neither may lose entries.
    /// </summary>
    public bool ToleratesLoss =>
        _entries
            .Select(entry => entry.Entry.Configuration)
            .OfType<Configuration>()
            .Append(Base.Configuration)
            .All(configuration => configuration.Voters.Length is 0 or > 2);

    public StoredEntry? At(long index) =>
        index > Base.Position.Index && index <= Last.Index ? _entries[(int)(index - Base.Position.Index - 1)] : null;

    /// <summary>
    /// Whether this entry was stored here, is unreadable, and counts as acknowledged until it is repaired.
    /// </summary>
    public bool KnowsLossOf(LogPosition position) =>
        MayHaveAcknowledged.Index >= position.Index && _lostTerms.GetValueOrDefault(position.Index) == position.Term;

    /// <summary>Begins a journal write, of which there is one at a time.</summary>
    public void Begin(in JournalWrite write, StoredEntry[] written)
    {
        Assert.Null(_outstanding);
        _outstanding = (write, written);
    }

    /// <summary>Completes the write in flight.</summary>
    public long Complete()
    {
        var (write, written) = _outstanding!.Value;
        _outstanding = null;
        Persist(write, written, written.Length, withVote: true, withTruncation: true);
        return write.Number;
    }

    /// <summary>Ends the process. A random prefix of the write in flight is on the disk.</summary>
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
            Persist(
                torn.Write,
                torn.Entries,
                kept,
                withVote,
                withTruncation: kept > 0 || (withVote && random.Next(2) == 0)
            );
        }
    }

    /// <summary>Ends the process. Nothing of the write in flight is on the disk.</summary>
    public void LosePower() => (WasUnclean, _outstanding) = (true, null);

    /// <summary>Loses synced entries without a trace: the disk reported its last syncs wrongly.</summary>
    public void Forget(long lastKept) =>
        _entries.RemoveRange((int)(lastKept - Base.Position.Index), (int)(Last.Index - lastKept));

    /// <summary>
    /// Makes a part of the journal unreadable. As in the program, recovery loses no entry that the manifest contains.
    /// Without the unreadable part the log ends before it, or at the manifest's end if that is later.
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
                SkipDamage(reachesAbove: random.Next(2) == 0);
            }
        }
    }

    /// <summary>
    /// Makes the journal unreadable after an index. The acknowledged position, the vote and the start number are known
    /// from the readable frames after the gap.
    /// </summary>
    public void Rot(long lastReadable)
    {
        MayHaveAcknowledged = MayHaveAcknowledged > Last ? MayHaveAcknowledged : Last;
        foreach (var entry in _entries.Where(entry => entry.Entry.Index > lastReadable))
        {
            _lostTerms[entry.Entry.Index] = entry.Entry.Term;
        }

        Forget(lastReadable);
    }

    /// <summary>Restarts the log at the manifest's end, with the intact entries after it.</summary>
    private void SkipDamage(bool reachesAbove)
    {
        if (reachesAbove && Last.Index > Manifest.Position.Index)
        {
            Rot(Manifest.Position.Index);
        }

        Release(Manifest.Position.Index, Manifest);
    }

    /// <summary>Returns what a new process of the node reads from the disk.</summary>
    public StartingPoint Start(NodeId self, int seed, bool countsStarts, bool remembersDamage)
    {
        MayHaveAcknowledged = _damageIsReported && !remembersDamage ? default : MayHaveAcknowledged;
        _damageIsReported = MayHaveAcknowledged != default;
        StartNumber += countsStarts || StartNumber == 0 ? 1 : 0;
        var log = new EntryLog(Base.Position, Base.Configuration, Base.ConfigurationIndex);
        foreach (var entry in _entries)
        {
            log.Append(entry.Entry);
        }

        return new StartingPoint
        {
            Self = self,
            StartNumber = StartNumber,
            Vote = Vote,
            Log = log,
            CommitIndex = KnownCommitted,
            MayHaveAcknowledged = MayHaveAcknowledged,
            WasUnclean = WasUnclean,
            Seed = seed,
        };
    }

    /// <summary>Replaces the manifest.</summary>
    public void Flush(StoredManifest manifest) => Manifest = manifest;

    /// <summary>Releases the journal's entries through <paramref name="index"/>.</summary>
    public void Release(long index, StoredManifest at)
    {
        _entries.RemoveRange(0, (int)(index - Base.Position.Index));
        Base = at;
    }

    /// <summary>
    /// Installs a fetched snapshot and resets the journal to it.
    /// </summary>
    /// <param name="manifest">The snapshot's manifest.</param>
    /// <param name="keepTail">Whether the journal's entries match the snapshot and are kept.</param>
    /// <param name="isOneStep">Whether both happen in one step, as they must. If not, the journal is not reset.</param>
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
        MayHaveAcknowledged = MayHaveAcknowledged > Last ? MayHaveAcknowledged : default;
        if (MayHaveAcknowledged == default)
        {
            _lostTerms.Clear();
        }
    }

    private static LogPosition PositionOf(in StoredEntry entry) => new(entry.Entry.Term, entry.Entry.Index);

    private void Persist(in JournalWrite write, StoredEntry[] written, int count, bool withVote, bool withTruncation)
    {
        if (write.Vote is { } vote && withVote)
        {
            Assert.True(vote.Term >= Vote.Term, "terms on disk never fall");
            Vote = vote;
        }

        if (write.TruncateAfter >= 0 && withTruncation)
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
            _recordedCommit = Math.Max(_recordedCommit, write.Committed);
        }

        Heal();
    }
}
