namespace Rookery.Documents;

/// <summary>What was given to members that fell behind, and taken by this one, since the start. Counted from any thread.</summary>
public sealed class StateTransferStatistics
{
    private long _offers;
    private long _givenUp;
    private long _sentBytes;
    private long _receivedBytes;
    private long _resumed;
    private long _installed;

    /// <summary>Offers made of this node's state.</summary>
    public long Offers => Volatile.Read(ref _offers);

    /// <summary>Offers given up, because nobody fetched from them any more or they held too much of the journal.</summary>
    public long GivenUp => Volatile.Read(ref _givenUp);

    /// <summary>Bytes of files that were sent.</summary>
    public long SentBytes => Volatile.Read(ref _sentBytes);

    /// <summary>Bytes of files that were received.</summary>
    public long ReceivedBytes => Volatile.Read(ref _receivedBytes);

    /// <summary>Files that were gone on with where a connection had broken.</summary>
    public long Resumed => Volatile.Read(ref _resumed);

    /// <summary>States installed here.</summary>
    public long Installed => Volatile.Read(ref _installed);

    internal void CountOffer() => Interlocked.Increment(ref _offers);

    internal void CountGivenUp() => Interlocked.Increment(ref _givenUp);

    internal void CountInstalled() => Interlocked.Increment(ref _installed);

    internal void CountReceived(long bytes) => Interlocked.Add(ref _receivedBytes, bytes);

    internal void CountSent(long bytes) => Interlocked.Add(ref _sentBytes, bytes);

    internal void CountResumed() => Interlocked.Increment(ref _resumed);
}
