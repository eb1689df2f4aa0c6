namespace Rookery.Raft;

/// <summary>
/// The outcome of applying the log: a hash chain over the result codes and etags of all entries from the first. Members
/// that applied the same entries have the same hash at each index.
/// </summary>
/// <param name="Index">The last entry in the chain; 0 when unknown.</param>
/// <param name="Hash">The hash of the chain at that entry.</param>
public readonly record struct OutcomeHash(long Index, long Hash);

/// <summary>
/// The outcome hashes at the newest 1,024 indexes (16 KiB). A peer that lags by more entries is compared later.
/// </summary>
internal sealed class OutcomeHistory
{
    // The length is a power of two, so that a bit mask maps an index to its place.
    private readonly OutcomeHash[] _recent = new OutcomeHash[1024];

    /// <summary>The newest hash; zeros before the first.</summary>
    public OutcomeHash Last { get; private set; }

    public void Add(OutcomeHash outcome)
    {
        Last = outcome;
        _recent[outcome.Index & (_recent.Length - 1)] = outcome;
    }

    /// <summary>Removes all hashes.</summary>
    public void Clear()
    {
        Last = default;
        Array.Clear(_recent);
    }

    /// <summary>Returns the hash at <paramref name="index"/>; zeros when unknown.</summary>
    public OutcomeHash At(long index)
    {
        var outcome = _recent[index & (_recent.Length - 1)];
        return outcome.Index == index ? outcome : default;
    }
}
