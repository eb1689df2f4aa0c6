namespace Rookery.Raft;

/// <summary>
/// What came of apply: a chain over result codes and etags of everything from the beginning. Nodes that applied the
/// same entries have the same at each index.
/// </summary>
/// <param name="Index">Through which entry; 0 when it is not known.</param>
/// <param name="Hash">The chain there.</param>
public readonly record struct OutcomeHash(long Index, long Hash);

/// <summary>The chain at the newest 1,024 indexes (16 KiB): a peer that is further apart is compared later.</summary>
internal sealed class OutcomeHistory
{
    private readonly OutcomeHash[] _recent = new OutcomeHash[1024];

    /// <summary>The newest; all zeros before the first.</summary>
    public OutcomeHash Last { get; private set; }

    public void Add(OutcomeHash outcome)
    {
        Last = outcome;
        _recent[outcome.Index & (_recent.Length - 1)] = outcome;
    }

    /// <summary>Forgets them: the state is another's now.</summary>
    public void Clear()
    {
        Last = default;
        Array.Clear(_recent);
    }

    /// <summary>The chain at <paramref name="index"/>; all zeros when it is not known.</summary>
    public OutcomeHash At(long index)
    {
        var outcome = _recent[index & (_recent.Length - 1)];
        return outcome.Index == index ? outcome : default;
    }
}
