namespace Rookery.Cluster.Peers;

/// <summary>
/// The newest start of each store that was met since this program began. One with fewer starts is an old copy put back; one with as many and another run is a twin. What was met in
/// earlier runs of this program is known to consensus (its incarnations) and to the members' records. Thread-safe.
/// </summary>
internal sealed class KnownStarts
{
    private readonly Lock gate = new();
    private readonly Dictionary<(string Node, Guid Store), (long BootCounter, ulong Run)> starts = [];

    /// <summary>Takes note of a start, or says why it is refused.</summary>
    public string? Refuse(PeerHello hello)
    {
        lock (gate)
        {
            var store = (hello.NodeId, hello.StoreId);
            var known = starts.GetValueOrDefault(store, (hello.BootCounter, hello.Run));
            if (hello.BootCounter < known.BootCounter)
            {
                return $"This is an old copy of node {hello.NodeId}: its store was started {hello.BootCounter} times, and the cluster has met it after {known.BootCounter}. "
                    + "An old card must not vote: take it out, remove the node, and let an empty card join.";
            }

            if (hello.BootCounter == known.BootCounter && hello.Run != known.Run)
            {
                return $"There are two copies of node {hello.NodeId}, and both run: stop one of them for good. It may join again with an empty card.";
            }

            starts[store] = (hello.BootCounter, hello.Run);
            return null;
        }
    }
}
