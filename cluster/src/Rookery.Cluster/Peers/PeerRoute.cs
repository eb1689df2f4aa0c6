using Rookery.Raft;

namespace Rookery.Cluster.Peers;

/// <summary>
/// The known addresses of one member: where this node last reached the member, where the member dialled from, where it
/// announced that it listens, and the addresses in the members' records. Thread-safe.
/// </summary>
internal sealed class PeerRoute(NodeId node, IReadOnlyList<string> addresses)
{
    private readonly Lock _gate = new();
    private IReadOnlyList<string> _addresses = addresses;
    private string? _reached;

    // From connections that the member dialled: their source address, and the addresses that it announced.
    private IReadOnlyList<string> _callerAddresses = [];

    /// <summary>The member.</summary>
    public NodeId Node => node;

    /// <summary>Returns the addresses to try, the likeliest to answer first.</summary>
    public string[] Candidates()
    {
        lock (_gate)
        {
            string[] reached = _reached is null ? [] : [_reached];
            return [.. reached.Concat(_callerAddresses).Concat(_addresses).Distinct(StringComparer.Ordinal)];
        }
    }

    /// <summary>Replaces the addresses of the members' records.</summary>
    /// <returns>Whether they changed.</returns>
    public bool ReplaceRecorded(IReadOnlyList<string> addresses)
    {
        lock (_gate)
        {
            bool isNew = !_addresses.SequenceEqual(addresses, StringComparer.Ordinal);
            _addresses = addresses;
            return isNew;
        }
    }

    /// <summary>Records that the member was reached at an address.</summary>
    /// <returns>Whether the address was not known before.</returns>
    public bool RecordReached(string address)
    {
        lock (_gate)
        {
            bool isNew =
                !string.Equals(_reached, address, StringComparison.Ordinal)
                && !_callerAddresses.Concat(_addresses).Contains(address, StringComparer.Ordinal);
            _reached = address;
            return isNew;
        }
    }

    /// <summary>Records the addresses of a member that dialled this node.</summary>
    /// <param name="addresses">The addresses.</param>
    /// <param name="areAll">Whether <paramref name="addresses"/> include the addresses that the member announced. If
    /// not, earlier announced addresses are kept.</param>
    public void RecordAnnounced(IReadOnlyList<string> addresses, bool areAll)
    {
        lock (_gate)
        {
            _callerAddresses = areAll
                ? addresses
                :
                [
                    .. addresses
                        .Union(_callerAddresses, StringComparer.Ordinal)
                        .Take(AnnouncedAddresses.MaxAddresses + 1),
                ];
        }
    }
}
