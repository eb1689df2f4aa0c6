using Rookery.Raft;

namespace Rookery.Cluster.Peers;

/// <summary>
/// Where one member may be: where it was reached last, where it called from and says that it listens, where the
/// members' records say. Thread-safe.
/// </summary>
internal sealed class PeerRoute(NodeId node, IReadOnlyList<string> addresses)
{
    private readonly Lock _gate = new();
    private IReadOnlyList<string> _addresses = addresses;
    private string? _reached;
    private IReadOnlyList<string> _seen = [];

    /// <summary>The member.</summary>
    public NodeId Node => node;

    /// <summary>Addresses to try, the likeliest first.</summary>
    public string[] Candidates()
    {
        lock (_gate)
        {
            return
            [
                .. new[] { _reached }
                    .OfType<string>()
                    .Concat(_seen)
                    .Concat(_addresses)
                    .Distinct(StringComparer.Ordinal),
            ];
        }
    }

    /// <summary>The members' records say something else.</summary>
    /// <returns>Whether that was news.</returns>
    public bool Update(IReadOnlyList<string> addresses)
    {
        lock (_gate)
        {
            bool isNews = !_addresses.SequenceEqual(addresses, StringComparer.Ordinal);
            _addresses = addresses;
            return isNews;
        }
    }

    /// <summary>It was reached here.</summary>
    /// <returns>Whether it was not looked for here.</returns>
    public bool Reached(string address)
    {
        lock (_gate)
        {
            bool isNews =
                !string.Equals(_reached, address, StringComparison.Ordinal)
                && !_seen.Concat(_addresses).Contains(address, StringComparer.Ordinal);
            _reached = address;
            return isNews;
        }
    }

    /// <summary>It called, and can be called here.</summary>
    /// <param name="places">Where.</param>
    /// <param name="areAll">Whether it has said where it listens: else what it said before still holds.</param>
    public void Seen(IReadOnlyList<string> places, bool areAll)
    {
        lock (_gate)
        {
            _seen = areAll ? places : [.. places.Union(_seen, StringComparer.Ordinal).Take(PeerPlaces.Most + 1)];
        }
    }
}
