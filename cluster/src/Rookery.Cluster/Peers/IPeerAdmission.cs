namespace Rookery.Cluster.Peers;

/// <summary>Decides which nodes may connect to this node.</summary>
public interface IPeerAdmission
{
    /// <summary>
    /// Judges a node: refuses it when it is not, or no longer, a member, or when its store is not the one that the
    /// cluster knows. Cluster id, protocol, certificate, older starts and copies are checked before. Called from
    /// several threads, for each hello and again every second; must return at once.
    /// </summary>
    /// <returns>The refusal, whose sentence tells the other end what to do; null when the node may connect.</returns>
    PeerRefusal? Refuse(PeerHello hello);
}
