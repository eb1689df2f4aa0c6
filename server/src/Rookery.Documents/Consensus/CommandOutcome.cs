namespace Rookery.Documents.Consensus;

/// <summary>What became of a proposed command.</summary>
public readonly struct CommandOutcome
{
    private readonly OperationResult _first;
    private readonly OperationResult[]? _all;

    /// <summary>
    /// A command that was refused: nothing of it was stored, unless <see cref="RejectionKind.OutcomeUnknown"/>.
    /// </summary>
    public CommandOutcome(Rejection rejection)
    {
        Rejection = rejection;
    }

    /// <summary>A command of one operation that was applied.</summary>
    public CommandOutcome(long index, long logTimeTicks, in OperationResult result)
    {
        Index = index;
        LogTimeTicks = logTimeTicks;
        Count = 1;
        _first = result;
    }

    /// <summary>A command of several operations that was applied.</summary>
    public CommandOutcome(long index, long logTimeTicks, OperationResult[] results)
    {
        Index = index;
        LogTimeTicks = logTimeTicks;
        Count = results.Length;
        _first = results.Length > 0 ? results[0] : default;
        _all = results;
    }

    /// <summary>Why it was refused; null when it was applied.</summary>
    public Rejection? Rejection { get; }

    /// <summary>
    /// The journal index of the frame that carried it ("RaftCommandIndex"); 0 when it never reached the journal.
    /// </summary>
    public long Index { get; }

    /// <summary>The log time it was applied at, in UTC ticks: the last-modified stamp of everything it wrote.</summary>
    public long LogTimeTicks { get; }

    /// <summary>
    /// Who had it on disk when it was committed; null unless it was asked for, and where it is not known.
    /// </summary>
    public CommitReceipt? Receipt { get; init; }

    /// <summary>How many results there are: one per operation of the command, in its order.</summary>
    public int Count { get; }

    /// <summary>The result of the operation at <paramref name="position"/>, from 0.</summary>
    public OperationResult this[int position]
    {
        get
        {
            ArgumentOutOfRangeException.ThrowIfNegative(position);
            ArgumentOutOfRangeException.ThrowIfGreaterThanOrEqual(position, Count);
            return _all is null ? _first : _all[position];
        }
    }
}
