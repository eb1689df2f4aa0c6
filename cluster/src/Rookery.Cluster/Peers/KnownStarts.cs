using Rookery.Raft;

namespace Rookery.Cluster.Peers;

/// <summary>
/// Records the current start of each connected store, to refuse copies of a store. A higher start number comes either
/// from the same store after a restart or from a copy of it, and the number cannot distinguish them. So a later start
/// is a challenger, and must wait while the earlier start is connected. If the earlier start answers a ping that was
/// sent after the challenge, the challenger is a copy. If it does not, the challenger replaces it. Other received bytes
/// prove nothing, because the kernel may send them after the process was killed. A start that is older than the
/// members' records is refused by <see cref="IPeerAdmission"/> instead. Thread-safe.
/// </summary>
/// <param name="nameOf">Returns a member's name; null when it is not known.</param>
/// <param name="time">The clock.</param>
internal sealed class KnownStarts(Func<NodeId, string?> nameOf, TimeProvider time)
{
    /// <summary>The time within which a running process answers a ping. A challenged start is pinged each
    /// second.</summary>
    private static readonly TimeSpan CheckTimeout = TimeSpan.FromSeconds(4);

    /// <summary>A member has one store, and gets a new one each time it is formatted and joins again.</summary>
    private const int MaxStoresPerNode = 8;

    private const int MaxCopies = 64;
    private const int MaxChallengers = 64;

    private readonly Lock _gate = new();
    private readonly Dictionary<(string Node, Guid Store), Store> _stores = [];
    private long _lastNumber;

    /// <summary>The number of stores whose current start is recorded.</summary>
    internal int StoreCount
    {
        get
        {
            lock (_gate)
            {
                return _stores.Count;
            }
        }
    }

    /// <summary>Admits the start that a hello names as the current start of its store, or refuses it.</summary>
    /// <returns>The refusal; null when the start is admitted.</returns>
    public PeerRefusal? AdmitOrRefuse(PeerHello hello)
    {
        lock (_gate)
        {
            if ((Find(hello) ?? TryAdd(hello)) is not { } store)
            {
                return new PeerRefusal(
                    $"Node {NameOf(hello)} is connected with {MaxStoresPerNode} data directories already. "
                        + "Stop the copies of it that run."
                );
            }

            if (store.Copies.Contains(hello.StartId))
            {
                return DuplicateRefusal(hello);
            }

            if (hello.StartNumber < store.StartNumber)
            {
                return StaleCopyRefusal(hello, store);
            }

            if (hello.StartNumber == store.StartNumber)
            {
                return hello.StartId == store.StartId ? null : DuplicateRefusal(hello);
            }

            if (store.Connections > 0 && JudgeChallenger(store, hello) is { } refusal)
            {
                return refusal;
            }

            store.StartNumber = hello.StartNumber;
            store.StartId = hello.StartId;
            store.Connections = 0;
            _lastNumber++;
            store.Number = _lastNumber;
            store.Challengers.Clear();
            return null;
        }
    }

    /// <summary>
    /// Checks an open connection again: refuses its start when another start of the store is current.
    /// </summary>
    /// <param name="hello">The hello of the connection.</param>
    /// <param name="answered">When the newest answered ping on that connection was sent, as a timestamp; 0 for
    /// none.</param>
    public PeerRefusal? Recheck(PeerHello hello, long answered)
    {
        lock (_gate)
        {
            if (Find(hello) is not { } store)
            {
                return null;
            }

            if (hello.StartId == store.StartId)
            {
                store.Answered = Math.Max(store.Answered, answered);
                return null;
            }

            return hello.StartNumber < store.StartNumber ? StaleCopyRefusal(hello, store) : DuplicateRefusal(hello);
        }
    }

    /// <summary>
    /// Whether a later start challenges this start. The caller then pings this start each second, even if other data
    /// arrives.
    /// </summary>
    public bool IsChallenged(PeerHello hello)
    {
        lock (_gate)
        {
            return Find(hello) is { } store
                && hello.StartId == store.StartId
                && store.Challengers.Exists(challenger => time.GetElapsedTime(challenger.Since) < CheckTimeout);
        }
    }

    /// <summary>Counts an opened connection.</summary>
    public void CountConnected(PeerHello hello)
    {
        lock (_gate)
        {
            if ((Find(hello) ?? TryAdd(hello)) is { } store && store.StartId == hello.StartId)
            {
                store.Connections++;
            }
        }
    }

    /// <summary>Counts a closed connection.</summary>
    public void CountDisconnected(PeerHello hello)
    {
        lock (_gate)
        {
            if (Find(hello) is { } store && store.StartId == hello.StartId)
            {
                store.Connections--;
            }
        }
    }

    /// <summary>Decides about a later start while the current one is connected. Under the lock.</summary>
    private PeerRefusal? JudgeChallenger(Store store, PeerHello hello)
    {
        int position = store.Challengers.FindIndex(challenger => challenger.Id == hello.StartId);
        if (position < 0)
        {
            AddBounded(store.Challengers, (hello.StartId, time.GetTimestamp()), MaxChallengers);
        }
        else if (store.Answered > store.Challengers[position].Since)
        {
            store.Challengers.RemoveAt(position);
            AddBounded(store.Copies, hello.StartId, MaxCopies);
            return DuplicateRefusal(hello);
        }
        else if (time.GetElapsedTime(store.Challengers[position].Since) > CheckTimeout)
        {
            return null;
        }

        return new PeerRefusal(
            $"An earlier start of node {NameOf(hello)} is still connected. If that start has ended, this one is "
                + $"admitted within {CheckTimeout.TotalSeconds:0} s."
        );
    }

    private Store? Find(PeerHello hello) => _stores.GetValueOrDefault((hello.NodeId, hello.StoreId));

    /// <summary>
    /// Adds a store. The peer chooses the store's id, so the number of stores of one node is bounded. If there are too
    /// many, the store without a connection that was admitted the longest ago is removed.
    /// </summary>
    /// <returns>The store; null if the node already has the maximum number of connected stores.</returns>
    private Store? TryAdd(PeerHello hello)
    {
        var ofNode = _stores
            .Where(entry => string.Equals(entry.Key.Node, hello.NodeId, StringComparison.Ordinal))
            .ToArray();
        if (ofNode.Length >= MaxStoresPerNode)
        {
            var idle = ofNode.Where(static entry => entry.Value.Connections == 0).ToArray();
            if (idle.Length == 0)
            {
                return null;
            }

            _stores.Remove(idle.MinBy(static entry => entry.Value.Number).Key);
        }

        _lastNumber++;
        var store = new Store(_lastNumber) { StartNumber = hello.StartNumber, StartId = hello.StartId };
        _stores.Add((hello.NodeId, hello.StoreId), store);
        return store;
    }

    /// <summary>Adds an item, and removes the oldest one when the list is full.</summary>
    private static void AddBounded<T>(List<T> items, T item, int maximum)
    {
        if (items.Count == maximum)
        {
            items.RemoveAt(0);
        }

        items.Add(item);
    }

    private string NameOf(PeerHello hello) => nameOf(hello.Member) ?? hello.NodeId;

    private PeerRefusal DuplicateRefusal(PeerHello hello) =>
        new(
            $"There are two copies of node {NameOf(hello)}, and this is not the one that the cluster knew "
                + $"first: stop it for good. It may join again with an empty card.",
            PeerRefusalKind.ForGood
        );

    private PeerRefusal StaleCopyRefusal(PeerHello hello, Store store) =>
        new(
            $"This is an old copy of node {NameOf(hello)}: its store was started {hello.StartNumber} times, "
                + $"but the cluster has already seen start {store.StartNumber}. "
                + "An old card must not vote: take it out, remove the node, and let an empty card join.",
            PeerRefusalKind.ForGood
        );

    private sealed class Store(long number)
    {
        /// <summary>The order of admission: a higher number was admitted later.</summary>
        public long Number { get; set; } = number;

        public long StartNumber { get; set; }

        public ulong StartId { get; set; }

        /// <summary>The number of open connections of the current start.</summary>
        public int Connections { get; set; }

        /// <summary>
        /// When the newest ping that the current start answered was sent, as a timestamp; 0 for none.
        /// </summary>
        public long Answered { get; set; }

        /// <summary>The later starts that wait, oldest first, with the timestamps of their first attempts.</summary>
        public List<(ulong Id, long Since)> Challengers { get; } = [];

        /// <summary>The later starts that were found to be copies.</summary>
        public List<ulong> Copies { get; } = [];
    }
}
