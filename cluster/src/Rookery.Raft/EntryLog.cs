namespace Rookery.Raft;

/// <summary>
/// The log without payloads: the terms as ranges, the sizes in a ring, and the configurations. Entries through
/// <see cref="Base"/> are compacted.
/// </summary>
public sealed class EntryLog
{
    /// <summary>The first index of each term. The list grows with elections, not with entries.</summary>
    private readonly List<(long FirstIndex, long Term)> _terms = [];
    private readonly List<(long Index, Configuration Configuration)> _configurations = [];
    private readonly SizeRing _sizes = new();

    /// <summary>Makes a log that starts after <paramref name="position"/>.</summary>
    /// <param name="position">The last entry that the store's manifest covers; zeros for an empty store.</param>
    /// <param name="configuration">The configuration in force there.</param>
    /// <param name="configurationIndex">The index of its entry.</param>
    public EntryLog(LogPosition position, Configuration configuration, long configurationIndex)
    {
        Base = position;
        LastIndex = position.Index;
        _configurations.Add((configurationIndex, configuration));
    }

    /// <summary>The position of the last compacted entry.</summary>
    public LogPosition Base { get; private set; }

    /// <summary>The index of the last entry; the index of <see cref="Base"/> when the log is empty.</summary>
    public long LastIndex { get; private set; }

    /// <summary>The position of the last entry.</summary>
    public LogPosition Last => new(_terms.Count == 0 ? Base.Term : _terms[^1].Term, LastIndex);

    /// <summary>The configuration in force: the newest one in the log, committed or not.</summary>
    public Configuration Configuration => _configurations[^1].Configuration;

    /// <summary>
    /// The configuration before the newest one; the newest one if the log contains no other. It is in force again when
    /// the newest one is truncated.
    /// </summary>
    public Configuration PreviousConfiguration => _configurations[Math.Max(_configurations.Count - 2, 0)].Configuration;

    /// <summary>The index of the entry of <see cref="Configuration"/>.</summary>
    public long ConfigurationIndex => _configurations[^1].Index;

    /// <summary>Appends the next entry.</summary>
    public void Append(in Entry entry)
    {
        ConsensusException.Unless(entry.Index == LastIndex + 1, "an entry follows the one before it");
        ConsensusException.Unless(entry.Term >= Last.Term && entry.Term > 0, "terms in a log never fall");
        ConsensusException.Unless(
            entry.Configuration is not null == (entry.Type == EntryType.Configuration),
            "a configuration entry, and no other, has a configuration"
        );
        if (entry.Term != Last.Term || _terms.Count == 0)
        {
            _terms.Add((entry.Index, entry.Term));
        }

        if (entry.Configuration is not null)
        {
            _configurations.Add((entry.Index, entry.Configuration));
        }

        _sizes.Add(entry.Bytes);
        LastIndex = entry.Index;
    }

    /// <summary>
    /// Removes the entries after <paramref name="index"/> and the configurations among them; the preceding
    /// configuration is in force again.
    /// </summary>
    public void TruncateAfter(long index)
    {
        ConsensusException.Unless(index >= Base.Index && index <= LastIndex, "a log is truncated where it has entries");
        _terms.RemoveAll(range => range.FirstIndex > index);
        _configurations.RemoveAll(configuration => configuration.Index > index);
        ConsensusException.Unless(_configurations.Count > 0, "a log has a configuration");
        _sizes.RemoveLast((int)(LastIndex - index));
        LastIndex = index;
    }

    /// <summary>
    /// Moves <see cref="Base"/> up to <paramref name="index"/>, because the journal released the segments of the
    /// entries up to there.
    /// </summary>
    public void ReleaseThrough(long index)
    {
        if (index <= Base.Index)
        {
            return;
        }

        ConsensusException.Unless(index <= LastIndex, "released entries are in the log");
        var position = new LogPosition(TermAt(index), index);
        _sizes.RemoveFirst((int)(index - Base.Index));
        int firstKept = _terms.FindLastIndex(range => range.FirstIndex <= index + 1);
        _terms.RemoveRange(0, Math.Max(firstKept, 0));
        if (_terms.Count > 0 && _terms[0].FirstIndex <= index)
        {
            _terms[0] = (index + 1, _terms[0].Term);
        }

        if (index == LastIndex)
        {
            _terms.Clear();
        }

        int inForce = _configurations.FindLastIndex(configuration => configuration.Index <= index);
        _configurations.RemoveRange(0, Math.Max(inForce, 0));
        Base = position;
    }

    /// <summary>Removes all entries, so that the log starts after an installed snapshot.</summary>
    public void Reset(LogPosition position, Configuration configuration, long configurationIndex)
    {
        _terms.Clear();
        _configurations.Clear();
        _sizes.RemoveLast(_sizes.Count);
        _configurations.Add((configurationIndex, configuration));
        Base = position;
        LastIndex = position.Index;
    }

    /// <summary>Returns the term of the entry at <paramref name="index"/>.</summary>
    /// <returns>0 when the index is below <see cref="Base"/> or after the log's end.</returns>
    public long TermAt(long index)
    {
        if (index == Base.Index)
        {
            return Base.Term;
        }

        if (index < Base.Index || index > LastIndex)
        {
            return 0;
        }

        // The newest term is searched first, because nearly all calls need that one.
        for (int range = _terms.Count - 1; range >= 0; range--)
        {
            if (_terms[range].FirstIndex <= index)
            {
                return _terms[range].Term;
            }
        }

        throw new ConsensusException("every entry has a term");
    }

    /// <summary>Whether the log contains the entry at a position. True for index 0, the start of every log.</summary>
    public bool Has(LogPosition position) =>
        position.Index == 0 || (position.Term > 0 && TermAt(position.Index) == position.Term);

    /// <summary>
    /// Returns the last position at or below <paramref name="index"/> whose term is at most <paramref name="term"/>. A
    /// follower's log with <paramref name="term"/> at <paramref name="index"/> cannot match this one after that
    /// position, so the search goes back a whole term with each answer (thesis 3.5, last paragraph).
    /// </summary>
    public LogPosition LastAtMost(long index, long term)
    {
        index = Math.Min(index, LastIndex);
        while (index > Base.Index && TermAt(index) > term)
        {
            index = FirstOfTerm(index) - 1;
        }

        return index <= Base.Index ? Base : new LogPosition(TermAt(index), index);
    }

    /// <summary>
    /// Returns the last index, at most <paramref name="last"/>, of the entries from <paramref name="first"/> on that
    /// fit in <paramref name="bytes"/>; at least <paramref name="first"/>.
    /// </summary>
    public long LastThatFits(long first, long last, int bytes)
    {
        long index = first;
        long total = SizeAt(first);
        while (index < last && total + SizeAt(index + 1) <= bytes)
        {
            index++;
            total += SizeAt(index);
        }

        return index;
    }

    /// <summary>
    /// Returns the total size of the entries from <paramref name="first"/> through <paramref name="last"/>.
    /// </summary>
    public long BytesBetween(long first, long last)
    {
        long total = 0;
        for (long index = first; index <= last; index++)
        {
            total += SizeAt(index);
        }

        return total;
    }

    private int SizeAt(long index) => _sizes[(int)(index - Base.Index - 1)];

    private long FirstOfTerm(long index)
    {
        int range = _terms.FindLastIndex(candidate => candidate.FirstIndex <= index);
        return _terms[range].FirstIndex;
    }
}
