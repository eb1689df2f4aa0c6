using Rookery.Raft;

namespace Rookery.Cluster.Peers;

/// <summary>
/// The start of each store that this program has connections with, or had. A store that says it was started later is
/// the same one after a restart, or a copy beside the original; counting starts does not tell them apart, because each
/// start of a copy counts too. Only the original can be connected already, so a later start waits to see whether the
/// earlier one still answers, and is a copy when it does. Only an answer to what was asked meanwhile shows that: bytes
/// come for long after a program was killed, because its kernel goes on to send what it had written. What was met in
/// earlier runs of this program is known to consensus (its incarnations) and to the members' records. Thread-safe.
/// </summary>
/// <param name="nameOf">What a member is called; null when that is not known.</param>
/// <param name="time">The clock.</param>
internal sealed class KnownStarts(Func<NodeId, string?> nameOf, TimeProvider time)
{
    /// <summary>Whoever runs answers within that: a challenged start is asked each second.</summary>
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(4);

    private const int MostCopies = 64;

    private readonly Lock _gate = new();
    private readonly Dictionary<(string Node, Guid Store), Store> _stores = [];

    /// <summary>Takes note of a start that wants a connection, or says why it gets none.</summary>
    public PeerRefusal? Refuse(PeerHello hello)
    {
        lock (_gate)
        {
            var store = StoreOf(hello);
            if (store.Copies.Contains(hello.Run))
            {
                return Twin(hello);
            }

            if (hello.BootCounter < store.BootCounter)
            {
                return Old(hello, store);
            }

            if (hello.BootCounter == store.BootCounter)
            {
                return hello.Run == store.Run ? null : Twin(hello);
            }

            if (store.Connections > 0 && Challenge(store, hello) is { } refusal)
            {
                return refusal;
            }

            (store.BootCounter, store.Run, store.Connections, store.Challenger) = (hello.BootCounter, hello.Run, 0, 0);
            return null;
        }
    }

    /// <summary>Why a start that has a connection may not keep it.</summary>
    /// <param name="hello">The start.</param>
    /// <param name="answered">The newest question that it has answered on that connection: the timestamp of when it was
    /// asked, 0 for none.</param>
    public PeerRefusal? RefuseLater(PeerHello hello, long answered)
    {
        lock (_gate)
        {
            var store = StoreOf(hello);
            if (hello.Run == store.Run)
            {
                store.Answered = Math.Max(store.Answered, answered);
                return null;
            }

            return hello.BootCounter < store.BootCounter ? Old(hello, store) : Twin(hello);
        }
    }

    /// <summary>
    /// Whether a later start waits for what this one answers: then it is asked each second, whatever else it says.
    /// </summary>
    public bool IsChallenged(PeerHello hello)
    {
        lock (_gate)
        {
            var store = StoreOf(hello);
            return store.Challenger != 0
                && hello.Run == store.Run
                && time.GetElapsedTime(store.ChallengedAt) < Patience;
        }
    }

    /// <summary>A start has a connection from now on.</summary>
    public void Connected(PeerHello hello)
    {
        lock (_gate)
        {
            var store = StoreOf(hello);
            store.Connections += store.Run == hello.Run ? 1 : 0;
        }
    }

    /// <summary>A connection of a start has ended.</summary>
    public void Disconnected(PeerHello hello)
    {
        lock (_gate)
        {
            var store = StoreOf(hello);
            store.Connections -= store.Run == hello.Run ? 1 : 0;
        }
    }

    /// <summary>A later start while an earlier one is connected. Under the gate.</summary>
    private PeerRefusal? Challenge(Store store, PeerHello hello)
    {
        if (store.Challenger != hello.Run)
        {
            (store.Challenger, store.ChallengedAt) = (hello.Run, time.GetTimestamp());
        }
        else if (store.Answered > store.ChallengedAt)
        {
            if (store.Copies.Count == MostCopies)
            {
                store.Copies.RemoveAt(0);
            }

            store.Copies.Add(hello.Run);
            return Twin(hello);
        }
        else if (time.GetElapsedTime(store.ChallengedAt) > Patience)
        {
            return null;
        }

        return new PeerRefusal(
            $"An earlier start of node {Called(hello)} is still connected. If it has ended, this one is let "
                + $"in within {Patience.TotalSeconds:0} s."
        );
    }

    private Store StoreOf(PeerHello hello)
    {
        var key = (hello.NodeId, hello.StoreId);
        if (!_stores.TryGetValue(key, out var store))
        {
            store = new Store { BootCounter = hello.BootCounter, Run = hello.Run };
            _stores.Add(key, store);
        }

        return store;
    }

    private string Called(PeerHello hello) => nameOf(hello.Member) ?? hello.NodeId;

    private PeerRefusal Twin(PeerHello hello) =>
        new(
            $"There are two copies of node {Called(hello)}, and this is not the one that the cluster met "
                + $"first: stop it for good. It may join again with an empty card.",
            PeerRefusalKind.ForGood
        );

    private PeerRefusal Old(PeerHello hello, Store store) =>
        new(
            $"This is an old copy of node {Called(hello)}: its store was started {hello.BootCounter} times, "
                + $"and the cluster has met it after {store.BootCounter}. "
                + "An old card must not vote: take it out, remove the node, and let an empty card join.",
            PeerRefusalKind.ForGood
        );

    private sealed class Store
    {
        public long BootCounter { get; set; }

        public ulong Run { get; set; }

        /// <summary>Of that start.</summary>
        public int Connections { get; set; }

        /// <summary>The newest question that the start has answered: a timestamp.</summary>
        public long Answered { get; set; }

        /// <summary>A later start that asked meanwhile, and when.</summary>
        public ulong Challenger { get; set; }

        public long ChallengedAt { get; set; }

        /// <summary>Later starts that ran beside it.</summary>
        public List<ulong> Copies { get; } = [];
    }
}
