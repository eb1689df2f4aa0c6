namespace Rookery.Cluster.Membership;

/// <summary>The operator's orders about the members of a cluster.</summary>
public enum MemberOrder
{
    /// <summary>List the members.</summary>
    List,

    /// <summary>Make a learner a voter.</summary>
    Promote,

    /// <summary>Make a voter a learner, which still receives all entries.</summary>
    Demote,

    /// <summary>Remove a member for good.</summary>
    Remove,

    /// <summary>Transfer leadership to a member, or to the best voter.</summary>
    Transfer,

    /// <summary>Accept the voters' clocks although they jumped.</summary>
    ConfirmClock,

    /// <summary>Allow formats that older versions cannot read.</summary>
    FinalizeUpgrade,
}

/// <summary>The result of an order.</summary>
/// <param name="Status">An HTTP status: 200, 404 for an unknown member, 409 for an order that must not be carried out,
/// or 503 for an order that cannot be carried out now.</param>
/// <param name="Text">A sentence; for <see cref="MemberOrder.List"/> with 200, JSON.</param>
public readonly record struct MemberAnswer(int Status, string Text);
