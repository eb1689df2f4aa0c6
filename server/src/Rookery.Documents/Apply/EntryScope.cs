using Rookery.Storage;

namespace Rookery.Documents.Apply;

/// <summary>The entry that is being applied.</summary>
/// <param name="Batch">The batch that collects its rows.</param>
/// <param name="LogTicks">Its log time, in UTC ticks.</param>
/// <param name="LastUnsteadyTicks">Log time of the last entry whose time was not steady, or 0. An item from before that
/// entry may be as young as the entry.</param>
/// <param name="ExpiryTicks">Compare-exchange values whose expiry is at or before this time, in UTC ticks, are
/// absent.</param>
internal readonly record struct EntryScope(WriteBatch Batch, long LogTicks, long LastUnsteadyTicks, long ExpiryTicks)
{
    /// <summary>
    /// Returns whether an item created at <paramref name="ticks"/> is certainly older than
    /// <paramref name="lifetimeTicks"/>, even if clocks were wrong meanwhile.
    /// </summary>
    public bool IsOlder(long ticks, long lifetimeTicks) =>
        Math.Max(ticks, LastUnsteadyTicks) < LogTicks - lifetimeTicks;
}
