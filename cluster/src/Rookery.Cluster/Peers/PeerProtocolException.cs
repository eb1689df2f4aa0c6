namespace Rookery.Cluster.Peers;

/// <summary>
/// A peer violated the protocol: it is broken, hostile or of another version. Only its connection is closed.
/// </summary>
/// <param name="message">The violation, as a sentence.</param>
internal class PeerProtocolException(string message) : Exception(message);

/// <summary>The other end refuses this node.</summary>
/// <param name="refusal">The other end's reason.</param>
internal sealed class PeerRefusedException(PeerRefusal refusal) : Exception($"It refused this node: {refusal.Sentence}")
{
    /// <summary>The other end's reason.</summary>
    public PeerRefusal Refusal => refusal;
}

/// <summary>The other end presented a certificate that is not a member's.</summary>
internal sealed class PeerStrangerException(string message) : PeerProtocolException(message);
