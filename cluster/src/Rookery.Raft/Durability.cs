namespace Rookery.Raft;

/// <summary>
/// What is on the own disk. One journal write is outstanding at a time; all that becomes necessary meanwhile goes out
/// together in the next. Completions are known by their numbers.
/// </summary>
internal sealed class Durability(long durableIndex, SafetyRules rules)
{
    private long _truncateAfter = -1;
    private long _voteWrite;
    private bool _voteIsPending;
    private long _outstandingLast;

    /// <summary>Entries through here are durable and in the log.</summary>
    public long DurableIndex { get; private set; } = durableIndex;

    /// <summary>Entries through here were handed to the journal.</summary>
    public long WrittenIndex { get; private set; } = durableIndex;

    /// <summary>The number of the newest write.</summary>
    public long LastWrite { get; private set; }

    /// <summary>The newest write that completed.</summary>
    public long DurableWrite { get; private set; }

    /// <summary>Whether no write is outstanding.</summary>
    public bool IsIdle => LastWrite == DurableWrite;

    /// <summary>Whether the current vote record is on disk.</summary>
    public bool VoteIsDurable => !_voteIsPending && DurableWrite >= _voteWrite;

    /// <summary>The vote record changed: it goes into the next write.</summary>
    public void VoteChanged() => _voteIsPending = true;

    /// <summary>
    /// The log was truncated after <paramref name="index"/>. What is outstanding then counts only up to there: the same
    /// indexes are filled with other entries, which its completion says nothing about (a vote of the same term can be
    /// outstanding while a leader's first entries replace a tail).
    /// </summary>
    public void TruncateAfter(long index)
    {
        if (index >= WrittenIndex)
        {
            return;
        }

        _truncateAfter = _truncateAfter < 0 ? index : Math.Min(_truncateAfter, index);
        if (!IsIdle && index < _outstandingLast)
        {
            Coverage.Took(RareBranch.TailReplacedWhileWriting);
        }

        _outstandingLast = rules.OutstandingAfterTruncation(_outstandingLast, index);
        WrittenIndex = index;
        DurableIndex = Math.Min(DurableIndex, index);
    }

    /// <summary>
    /// The store now holds everything through <paramref name="index"/> without the journal; the log ends at or behind
    /// it.
    /// </summary>
    public void Installed(long index, bool tailIsKept)
    {
        if (!tailIsKept)
        {
            (DurableIndex, WrittenIndex, _truncateAfter) = (index, index, -1);
        }
    }

    /// <summary>The next write, if one is due and none is outstanding.</summary>
    public JournalWrite? Next(VoteRecord vote, long lastIndex, long committed)
    {
        if (!IsIdle || (!_voteIsPending && _truncateAfter < 0 && WrittenIndex == lastIndex))
        {
            return null;
        }

        var write = new JournalWrite(
            ++LastWrite,
            _voteIsPending ? vote : null,
            _truncateAfter,
            WrittenIndex + 1,
            lastIndex,
            committed
        );
        if (_voteIsPending)
        {
            (_voteIsPending, _voteWrite) = (false, LastWrite);
        }

        _truncateAfter = -1;
        (_outstandingLast, WrittenIndex) = (lastIndex, lastIndex);
        return write;
    }

    /// <summary>The write of this number is durable.</summary>
    public void Completed(long write)
    {
        ConsensusException.Unless(
            write == LastWrite && DurableWrite == LastWrite - 1,
            "the journal completes the write that is outstanding"
        );
        DurableWrite = write;
        DurableIndex = Math.Max(DurableIndex, _outstandingLast);
    }
}
