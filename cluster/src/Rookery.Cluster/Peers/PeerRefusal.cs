namespace Rookery.Cluster.Peers;

/// <summary>Why the other end of a connection may not have it.</summary>
/// <param name="Sentence">Why, for the other end, with what to do.</param>
/// <param name="IsForGood">Whether its data are a copy, or older than what the cluster has met of them: they must not take part again, also when the original is off and after more starts.</param>
public sealed record PeerRefusal(string Sentence, bool IsForGood = false);
