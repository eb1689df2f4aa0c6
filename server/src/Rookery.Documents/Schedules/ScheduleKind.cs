namespace Rookery.Documents.Schedules;

/// <summary>What happens to a document at a time in its metadata. Numbers are part of the journal's format.</summary>
public enum ScheduleKind : byte
{
    /// <summary>
    /// The document gets a new version without <c>@refresh</c>, after that time. Indexes and subscriptions see it.
    /// </summary>
    Refresh = 1,

    /// <summary>The document gets <c>"@archived":true</c> instead of <c>@archive-at</c>, after that time.</summary>
    Archive = 2,
}
