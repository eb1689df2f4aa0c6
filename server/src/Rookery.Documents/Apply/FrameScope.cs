using Rookery.Storage;

namespace Rookery.Documents.Apply;

/// <summary>The frame that is being applied.</summary>
/// <param name="Batch">The batch that collects its rows.</param>
/// <param name="LogTicks">Its log time, in UTC ticks.</param>
/// <param name="AgesFromTicks">Log time of the last frame whose time was not steady, or 0. An item from before that
/// frame may be as young as the frame.</param>
internal readonly record struct FrameScope(WriteBatch Batch, long LogTicks, long AgesFromTicks)
{
    /// <summary>
    /// Returns whether an item created at <paramref name="ticks"/> is certainly older than
    /// <paramref name="lifetimeTicks"/>, even if clocks were wrong meanwhile.
    /// </summary>
    public bool IsOlder(long ticks, long lifetimeTicks) => Math.Max(ticks, AgesFromTicks) < LogTicks - lifetimeTicks;
}
