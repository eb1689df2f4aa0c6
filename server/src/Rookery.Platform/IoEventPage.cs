namespace Rookery.Platform;

/// <summary>
/// A list of disk operations, and the time range for which it is complete. A client that next asks from
/// <paramref name="UntilUnixMicroseconds"/> gets every event once. If the next range begins later, events in between
/// were dropped.
/// </summary>
/// <param name="Events">The operations that ended after the requested time and not after
/// <paramref name="UntilUnixMicroseconds"/>, ordered by their end.</param>
/// <param name="FromUnixMicroseconds">All operations that ended after this time are included. Usually the requested
/// time; later if older events were dropped or not recorded.</param>
/// <param name="UntilUnixMicroseconds">All operations that ended up to this time are included.</param>
public sealed record IoEventPage(IReadOnlyList<IoEvent> Events, long FromUnixMicroseconds, long UntilUnixMicroseconds);
