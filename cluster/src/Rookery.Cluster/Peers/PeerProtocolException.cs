namespace Rookery.Cluster.Peers;

/// <summary>
/// What a peer sent does not follow the protocol: it is broken, hostile or of another version. The connection is
/// closed; nothing else is harmed.
/// </summary>
/// <param name="message">What is wrong, in a sentence.</param>
internal class PeerProtocolException(string message) : Exception(message);

/// <summary>The other end refuses this one.</summary>
/// <param name="refusal">Why, as the other end says.</param>
internal sealed class PeerRefusedException(PeerRefusal refusal) : Exception($"It refused this node: {refusal.Sentence}")
{
    /// <summary>Why, as the other end says.</summary>
    public PeerRefusal Refusal => refusal;
}

/// <summary>Whoever answered showed a certificate that is not that of a member.</summary>
internal sealed class PeerStrangerException(string message) : PeerProtocolException(message);
