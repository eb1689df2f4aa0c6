using Rookery.Raft;

namespace Rookery.Cluster.Peers;

/// <summary>Where one member may be: where it was reached last, where it called from and says that it listens, where the members' records say. Thread-safe.</summary>
internal sealed class PeerRoute(NodeId node, IReadOnlyList<string> addresses)
{
    private readonly Lock gate = new();
    private IReadOnlyList<string> addresses = addresses;
    private string? reached;
    private IReadOnlyList<string> seen = [];

    /// <summary>The member.</summary>
    public NodeId Node => node;

    /// <summary>Addresses to try, the likeliest first.</summary>
    public string[] Candidates()
    {
        lock (gate)
        {
            return [.. new[] { reached }.OfType<string>().Concat(seen).Concat(addresses).Distinct(StringComparer.Ordinal)];
        }
    }

    /// <summary>The members' records say something else.</summary>
    /// <returns>Whether that was news.</returns>
    public bool Update(IReadOnlyList<string> addresses)
    {
        lock (gate)
        {
            bool isNews = !this.addresses.SequenceEqual(addresses, StringComparer.Ordinal);
            this.addresses = addresses;
            return isNews;
        }
    }

    /// <summary>It was reached here.</summary>
    /// <returns>Whether it was not looked for here.</returns>
    public bool Reached(string address)
    {
        lock (gate)
        {
            bool isNews = !string.Equals(reached, address, StringComparison.Ordinal) && !seen.Concat(addresses).Contains(address, StringComparer.Ordinal);
            reached = address;
            return isNews;
        }
    }

    /// <summary>It called, and can be called here.</summary>
    /// <param name="places">Where.</param>
    /// <param name="areAll">Whether it has said where it listens: else what it said before still holds.</param>
    public void Seen(IReadOnlyList<string> places, bool areAll)
    {
        lock (gate)
        {
            seen = areAll ? places : [.. places.Union(seen, StringComparer.Ordinal).Take(PeerPlaces.Most + 1)];
        }
    }
}
