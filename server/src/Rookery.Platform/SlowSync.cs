namespace Rookery.Platform;

/// <summary>A journal sync that took longer than <see cref="IoTimeline.SlowSyncMicroseconds"/>.</summary>
/// <param name="Device">The device of the journal.</param>
/// <param name="Sync">The slow sync.</param>
/// <param name="Before">The preceding syncs, oldest first, at most <see cref="IoTimeline.RecentSyncs"/>.</param>
public sealed record SlowSync(string Device, IoEvent Sync, IReadOnlyList<IoEvent> Before);
