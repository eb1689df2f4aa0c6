namespace Rookery.Raft;

/// <summary>
/// Tracks which records are durable in this node's journal. At most one journal write is outstanding. Later records go
/// into the next write. Writes are numbered.
/// </summary>
internal sealed class Durability(long durableIndex, SafetyRules rules)
{
    // The index after which the next write must truncate the journal; -1 for none.
    private long _truncateAfter = -1;

    // The number of the write that contains the newest vote record, unless that record still waits for a write.
    private long _voteWrite;
    private bool _voteIsPending;

    // The last index that becomes durable when the outstanding write completes.
    private long _outstandingLast;

    /// <summary>The highest index of the log that is durable.</summary>
    public long DurableIndex { get; private set; } = durableIndex;

    /// <summary>The highest index that was handed to the journal.</summary>
    public long WrittenIndex { get; private set; } = durableIndex;

    /// <summary>The number of the newest write.</summary>
    public long LastWrite { get; private set; }

    /// <summary>The number of the newest completed write.</summary>
    public long DurableWrite { get; private set; }

    /// <summary>Whether no write is outstanding.</summary>
    public bool IsIdle => LastWrite == DurableWrite;

    /// <summary>Whether the current vote record is on disk.</summary>
    public bool VoteIsDurable => !_voteIsPending && DurableWrite >= _voteWrite;

    /// <summary>Marks the vote record as changed: it goes into the next write.</summary>
    public void MarkVoteChanged() => _voteIsPending = true;

    /// <summary>
    /// Records that the log was truncated after <paramref name="index"/>. An outstanding write then makes entries
    /// durable only through that index, because later indexes get other entries. (A write with this term's vote can be
    /// outstanding while a leader's first entries replace the log's end.)
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
            Coverage.Count(RareBranch.TailReplacedWhileWriting);
        }

        _outstandingLast = rules.OutstandingAfterTruncation(_outstandingLast, index);
        WrittenIndex = index;
        DurableIndex = Math.Min(DurableIndex, index);
    }

    /// <summary>
    /// Records that a snapshot through <paramref name="index"/> is durable without the journal. If the log's tail is
    /// not kept, the log ends there.
    /// </summary>
    public void RecordInstalled(long index, bool tailIsKept)
    {
        if (!tailIsKept)
        {
            DurableIndex = index;
            WrittenIndex = index;
            _truncateAfter = -1;
        }
    }

    /// <summary>Begins the next journal write and returns it; null when none is due or one is outstanding.</summary>
    public JournalWrite? TakeNextWrite(VoteRecord vote, long lastIndex, long committed)
    {
        if (!IsIdle || (!_voteIsPending && _truncateAfter < 0 && WrittenIndex == lastIndex))
        {
            return null;
        }

        LastWrite++;
        var write = new JournalWrite(
            LastWrite,
            _voteIsPending ? vote : null,
            _truncateAfter,
            WrittenIndex + 1,
            lastIndex,
            committed
        );
        if (_voteIsPending)
        {
            _voteIsPending = false;
            _voteWrite = LastWrite;
        }

        _truncateAfter = -1;
        _outstandingLast = lastIndex;
        WrittenIndex = lastIndex;
        return write;
    }

    /// <summary>Records that a write is durable.</summary>
    public void RecordCompleted(long write)
    {
        ConsensusException.Unless(
            write == LastWrite && DurableWrite == LastWrite - 1,
            "the journal completes the write that is outstanding"
        );
        DurableWrite = write;
        DurableIndex = Math.Max(DurableIndex, _outstandingLast);
    }
}
