namespace Rookery.Storage;

/// <summary>
/// Makes flush, compaction and scrub give way to foreground work and to heat. Its calls may block; nothing is locked
/// meanwhile.
/// </summary>
public interface IBackgroundPacer
{
    /// <summary>Called after each small piece of background work.</summary>
    /// <param name="bytes">What the piece moved, in bytes.</param>
    /// <param name="urgent">Whether writers wait for this work, so that giving way would stop them.</param>
    void Yield(long bytes, bool urgent);
}
