namespace Rookery.Documents.Consensus;

/// <summary>Outcome of a proposed command: a rejection, or one result per operation.</summary>
public readonly struct CommandOutcome
{
    private readonly OperationResult _first;
    private readonly OperationResult[]? _results;

    /// <summary>
    /// Creates the outcome of a refused command. Nothing of the command was stored; with
    /// <see cref="RejectionKind.OutcomeUnknown"/>, it may have been stored.
    /// </summary>
    public CommandOutcome(Rejection rejection)
    {
        Rejection = rejection;
    }

    /// <summary>Creates the outcome of an applied command with one operation.</summary>
    public CommandOutcome(long index, long logTimeTicks, in OperationResult result)
    {
        Index = index;
        LogTimeTicks = logTimeTicks;
        Count = 1;
        _first = result;
    }

    /// <summary>Creates the outcome of an applied command with several operations.</summary>
    public CommandOutcome(long index, long logTimeTicks, OperationResult[] results)
    {
        Index = index;
        LogTimeTicks = logTimeTicks;
        Count = results.Length;
        _first = results.Length > 0 ? results[0] : default;
        _results = results;
    }

    /// <summary>Why the command was refused; null if it was applied.</summary>
    public Rejection? Rejection { get; }

    /// <summary>
    /// Index of the log entry with the command ("RaftCommandIndex"); 0 if the command never reached the log.
    /// </summary>
    public long Index { get; }

    /// <summary>Log time of the command, in UTC ticks: the last-modified time of everything that it wrote.</summary>
    public long LogTimeTicks { get; }

    /// <summary>
    /// The members that had synced the command when it was committed; null if not requested or not known.
    /// </summary>
    public CommitReceipt? Receipt { get; init; }

    /// <summary>Number of results: one per operation, in the command's order.</summary>
    public int Count { get; }

    /// <summary>The result of the operation at <paramref name="position"/>, counted from 0.</summary>
    public OperationResult this[int position]
    {
        get
        {
            ArgumentOutOfRangeException.ThrowIfNegative(position);
            ArgumentOutOfRangeException.ThrowIfGreaterThanOrEqual(position, Count);
            return _results is null ? _first : _results[position];
        }
    }
}
