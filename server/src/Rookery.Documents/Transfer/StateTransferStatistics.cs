namespace Rookery.Documents.Transfer;

/// <summary>What goes from one member to another beside the log.</summary>
public enum StateTransferKind
{
    /// <summary>All files of a state.</summary>
    Files,

    /// <summary>Rows and deletions since an etag.</summary>
    Changes,

    /// <summary>Rows that a damaged run lost.</summary>
    Repairs,
}

/// <summary>
/// What was given to members that fell behind, and taken by this one, since the start. Counted from any thread.
/// </summary>
public sealed class StateTransferStatistics
{
    private readonly long[] _sentBytes = new long[3];
    private readonly long[] _receivedBytes = new long[3];
    private readonly long[] _installed = new long[3];
    private long _offers;
    private long _givenUp;
    private long _resumed;

    /// <summary>Offers made of this node's state.</summary>
    public long Offers => Volatile.Read(ref _offers);

    /// <summary>
    /// Offers given up, because nobody fetched from them any more or they held too much of the journal.
    /// </summary>
    public long GivenUp => Volatile.Read(ref _givenUp);

    /// <summary>Bytes that were sent, of every kind.</summary>
    public long SentBytes => Sum(_sentBytes);

    /// <summary>Bytes that were received, of every kind.</summary>
    public long ReceivedBytes => Sum(_receivedBytes);

    /// <summary>Files that were gone on with where a connection had broken.</summary>
    public long Resumed => Volatile.Read(ref _resumed);

    /// <summary>States installed here, of every kind.</summary>
    public long Installed => Sum(_installed);

    /// <summary>Bytes of one kind that were sent.</summary>
    public long SentBytesOf(StateTransferKind kind) => Volatile.Read(ref _sentBytes[(int)kind]);

    /// <summary>Bytes of one kind that were received.</summary>
    public long ReceivedBytesOf(StateTransferKind kind) => Volatile.Read(ref _receivedBytes[(int)kind]);

    /// <summary>States of one kind that were installed here.</summary>
    public long InstalledOf(StateTransferKind kind) => Volatile.Read(ref _installed[(int)kind]);

    internal void CountOffer() => Interlocked.Increment(ref _offers);

    internal void CountGivenUp() => Interlocked.Increment(ref _givenUp);

    internal void CountInstalled(StateTransferKind kind) => Interlocked.Increment(ref _installed[(int)kind]);

    internal void CountReceived(StateTransferKind kind, long bytes) =>
        Interlocked.Add(ref _receivedBytes[(int)kind], bytes);

    internal void CountSent(StateTransferKind kind, long bytes) => Interlocked.Add(ref _sentBytes[(int)kind], bytes);

    internal void CountResumed() => Interlocked.Increment(ref _resumed);

    private static long Sum(long[] counts) =>
        Volatile.Read(ref counts[0]) + Volatile.Read(ref counts[1]) + Volatile.Read(ref counts[2]);
}
