namespace Rookery.Platform;

/// <summary>
/// Disk work one by one, with the span of time for which nothing is missing: whoever asks again from where it ends has
/// every event once, or sees by the next span's begin what he lost.
/// </summary>
/// <param name="Events">What ended after the asked time and not after <paramref name="UntilUnixMicroseconds"/>, in the
/// order in which it ended.</param>
/// <param name="FromUnixMicroseconds">Everything that ended after this is there: the asked time, or later when the
/// oldest events were forgotten or nothing was recorded yet.</param>
/// <param name="UntilUnixMicroseconds">Everything that ended at this or before is there; to be asked from next
/// time.</param>
public sealed record IoEventPage(IReadOnlyList<IoEvent> Events, long FromUnixMicroseconds, long UntilUnixMicroseconds);
