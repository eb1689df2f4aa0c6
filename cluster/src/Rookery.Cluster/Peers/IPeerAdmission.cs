namespace Rookery.Cluster.Peers;

/// <summary>Whether a member may have a connection with this node.</summary>
public interface IPeerAdmission
{
    /// <summary>
    /// Why not: it is no member (any more), its store is not the one that the cluster knows. Cluster id, protocol,
    /// certificate, older starts and twins were looked at before. Called from several threads, for each hello and again
    /// every second; must return at once.
    /// </summary>
    /// <returns>A sentence for the other end, which says what to do, and whether it may ever come again; null when it
    /// may have one.</returns>
    PeerRefusal? Refuse(PeerHello hello);
}
