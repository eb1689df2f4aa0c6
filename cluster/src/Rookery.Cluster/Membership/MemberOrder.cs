namespace Rookery.Cluster.Membership;

/// <summary>What an owner may ask of the members of a cluster.</summary>
public enum MemberOrder
{
    /// <summary>To show them.</summary>
    List,

    /// <summary>To let one vote.</summary>
    Promote,

    /// <summary>To take its vote away; it goes on to receive everything.</summary>
    Demote,

    /// <summary>To let one go for good.</summary>
    Remove,

    /// <summary>To hand leadership to one, or to the best of the others.</summary>
    Transfer,

    /// <summary>To go by the voters' clocks, although they jumped.</summary>
    ConfirmClock,

    /// <summary>To let all write what only their newer program can read.</summary>
    FinalizeUpgrade,
}

/// <summary>What came of an order.</summary>
/// <param name="Status">As HTTP says it: 200, 404 for a member that there is not, 409 for what must not be done, 503
/// for what cannot be done now.</param>
/// <param name="Text">A sentence; for <see cref="MemberOrder.List"/> with 200, JSON.</param>
public readonly record struct MemberAnswer(int Status, string Text);
