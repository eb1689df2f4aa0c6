namespace Rookery.Documents.Subscriptions;

/// <summary>
/// What a <see cref="Commands.CommandKind.ChangeSubscription"/> does. Numbers are part of the journal's format.
/// </summary>
public enum SubscriptionCommandKind : byte
{
    /// <summary>Defines a subscription, or changes parts of its definition.</summary>
    Put = 1,

    /// <summary>Deletes a subscription.</summary>
    Delete = 2,

    /// <summary>Raises the progress of a subscription.</summary>
    Acknowledge = 3,

    /// <summary>Drops the workers of a subscription, or one of them. Changes no row.</summary>
    Drop = 4,
}

/// <summary>
/// Where a <see cref="SubscriptionCommandKind.Put"/> begins. Numbers are part of the journal's format.
/// </summary>
public enum SubscriptionStart : byte
{
    /// <summary>At the present progress; a new subscription begins with the first document.</summary>
    Unchanged = 0,

    /// <summary>After an etag; 0 for the first document.</summary>
    Etag = 1,

    /// <summary>After the last document that is stored when the command is applied.</summary>
    LastDocument = 2,
}

/// <summary>The body of a <see cref="Commands.CommandKind.ChangeSubscription"/>.</summary>
public readonly ref struct SubscriptionCommand
{
    /// <summary>What the command does.</summary>
    public SubscriptionCommandKind Kind { get; init; }

    /// <summary>Number of the subscription; 0 to find it by <see cref="LowerName"/>.</summary>
    public long Number { get; init; }

    /// <summary>The name lower-cased by the proposer; empty for a new subscription without a name.</summary>
    public ReadOnlySpan<byte> LowerName { get; init; }

    /// <summary>Put: the name as the client wrote it. With a number, the new name; empty to keep it.</summary>
    public ReadOnlySpan<byte> Name { get; init; }

    /// <summary>Put: the query; empty to keep it. Drop: the worker to drop; empty for all.</summary>
    public ReadOnlySpan<byte> Query { get; init; }

    /// <summary>Put: the tag of the mentor, if <see cref="ChangesMentor"/>; empty for none.</summary>
    public ReadOnlySpan<byte> Mentor { get; init; }

    /// <summary>Put: whether the mentor is set.</summary>
    public bool ChangesMentor { get; init; }

    /// <summary>Put: whether only the mentor serves the subscription; null to keep it.</summary>
    public bool? IsPinned { get; init; }

    /// <summary>Put: whether the subscription is disabled; null to keep it.</summary>
    public bool? IsDisabled { get; init; }

    /// <summary>Put: whether a missing subscription is created.</summary>
    public bool Creates { get; init; }

    /// <summary>Put: whether an existing subscription is an error.</summary>
    public bool MustBeNew { get; init; }

    /// <summary>Put: where the subscription begins.</summary>
    public SubscriptionStart StartKind { get; init; }

    /// <summary>Put: the etag of <see cref="SubscriptionStart.Etag"/>. Acknowledge: the new progress.</summary>
    public long Start { get; init; }

    /// <summary>Acknowledge: the progress that the subscription must have.</summary>
    public long Expected { get; init; }

    /// <summary>
    /// Acknowledge: the version that the subscription must have. Otherwise documents that an older query left out would
    /// count as processed.
    /// </summary>
    public long Version { get; init; }

    /// <summary>Acknowledge: when the worker connected, in UTC ticks.</summary>
    public long ConnectedTicks { get; init; }
}
