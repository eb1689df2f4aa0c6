namespace Rookery.Platform;

/// <summary>
/// Disk operations one by one, with the time range for which they are complete. A client that asks next from
/// <paramref name="UntilUnixMicroseconds"/> gets every event once, or sees a gap if the next range begins later.
/// </summary>
/// <param name="Events">
/// The operations that ended after the requested time and not after <paramref name="UntilUnixMicroseconds"/>, ordered
/// by their end.
/// </param>
/// <param name="FromUnixMicroseconds">
/// All operations that ended after this time are included: the requested time, or a later one if older events were
/// dropped or not recorded.
/// </param>
/// <param name="UntilUnixMicroseconds">All operations that ended up to this time are included.</param>
public sealed record IoEventPage(IReadOnlyList<IoEvent> Events, long FromUnixMicroseconds, long UntilUnixMicroseconds);
