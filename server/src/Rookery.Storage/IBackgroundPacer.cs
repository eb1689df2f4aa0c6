namespace Rookery.Storage;

/// <summary>
/// Slows flushes, merges and scrubs down in favour of foreground work and temperature. Its calls may block; the caller
/// holds no lock.
/// </summary>
public interface IBackgroundPacer
{
    /// <summary>Called after each small piece of background work.</summary>
    /// <param name="bytes">Bytes that the piece moved.</param>
    /// <param name="urgent">Whether writers wait for this work, so that a pause would delay them.</param>
    void Yield(long bytes, bool urgent);
}
