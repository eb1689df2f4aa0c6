using Rookery.Storage;

namespace Rookery.Documents.Apply;

/// <summary>The frame that is being applied.</summary>
/// <param name="Batch">Its rows.</param>
/// <param name="LogTicks">Its time.</param>
/// <param name="AgesFromTicks">The time of the last frame that was not steady: whatever is older may be as young as
/// that.</param>
internal readonly record struct FrameScope(WriteBatch Batch, long LogTicks, long AgesFromTicks)
{
    /// <summary>
    /// Whether something of <paramref name="ticks"/> is older than <paramref name="lifetimeTicks"/>, however the clocks
    /// were set since.
    /// </summary>
    public bool IsOlder(long ticks, long lifetimeTicks) => Math.Max(ticks, AgesFromTicks) < LogTicks - lifetimeTicks;
}
