namespace Rookery.Cluster.Peers;

/// <summary>Decides which nodes may connect to this node.</summary>
public interface IPeerAdmission
{
    /// <summary>
    /// Refuses a node that is not a member, or whose store is not the one that the cluster knows. The caller has
    /// checked the cluster id, protocol and certificate. Called from several threads, for each hello and again every
    /// second; must return at once.
    /// </summary>
    /// <returns>The refusal, with a sentence that tells the other end what to do; null when the node may
    /// connect.</returns>
    PeerRefusal? Refuse(PeerHello hello);
}
