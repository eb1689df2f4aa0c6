namespace Rookery.Storage;

/// <summary>
/// Slows flushes, merges and scrubs down, to leave time for requests and to keep the board cool. Calls may block, so
/// the caller must hold no lock.
/// </summary>
public interface IBackgroundPacer
{
    /// <summary>Called after each small piece of background work.</summary>
    /// <param name="bytes">Bytes that the piece moved.</param>
    /// <param name="urgent">Whether writers wait for this work, so that a pause would delay them.</param>
    void Yield(long bytes, bool urgent);
}
