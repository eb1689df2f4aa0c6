namespace Rookery.Cluster.Peers;

/// <summary>Why the other end of a connection may not have it.</summary>
/// <param name="Sentence">Why, for the other end, with what to do.</param>
/// <param name="Kind">What it means for the other end.</param>
public sealed record PeerRefusal(string Sentence, PeerRefusalKind Kind = PeerRefusalKind.Passing);

/// <summary>What a refusal means for who is refused.</summary>
public enum PeerRefusalKind
{
    /// <summary>It may be let in later, when something has changed.</summary>
    Passing,

    /// <summary>It is no member, as far as who says so knows: it was removed.</summary>
    NoMember,

    /// <summary>
    /// Its data are a copy, or older than what the cluster has met of them: they must not take part again, also when
    /// the original is off and after more starts.
    /// </summary>
    ForGood,
}
