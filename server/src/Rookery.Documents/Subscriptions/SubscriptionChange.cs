namespace Rookery.Documents.Subscriptions;

/// <summary>What happened to a subscription.</summary>
public enum SubscriptionChangeKind : byte
{
    /// <summary>Its definition or its progress was set; its workers must connect again.</summary>
    Modified = 1,

    /// <summary>It was deleted.</summary>
    Deleted = 2,

    /// <summary>It was disabled.</summary>
    Disabled = 3,

    /// <summary>An administrator or a client drops its workers, or one of them.</summary>
    Dropped = 4,
}

/// <summary>A change of a subscription that was applied, for the member that serves its workers.</summary>
/// <param name="Kind">The kind of the change.</param>
/// <param name="Number">The subscription's number.</param>
/// <param name="WorkerId">Dropped: the worker to drop; null for all.</param>
public readonly record struct SubscriptionChange(SubscriptionChangeKind Kind, long Number, string? WorkerId);
