namespace Rookery.Documents.Transfer;

/// <summary>The kind of data that members transfer beside the log.</summary>
public enum StateTransferKind
{
    /// <summary>All files of a full snapshot.</summary>
    Files,

    /// <summary>Rows and deletions since an etag.</summary>
    Changes,

    /// <summary>Rows to repair a damaged run.</summary>
    Repairs,
}

/// <summary>
/// Counters of snapshots and repairs sent to other members and received by this one, since the start. Thread-safe.
/// </summary>
public sealed class StateTransferStatistics
{
    // One counter for each kind.
    private readonly long[] _sentBytes = new long[3];
    private readonly long[] _receivedBytes = new long[3];
    private readonly long[] _installed = new long[3];
    private long _offers;
    private long _dropped;
    private long _resumed;

    /// <summary>Offers that this node created.</summary>
    public long Offers => Volatile.Read(ref _offers);

    /// <summary>
    /// Offers dropped because no member fetched from them any more or they pinned too much of the journal.
    /// </summary>
    public long Dropped => Volatile.Read(ref _dropped);

    /// <summary>Bytes sent, of all kinds.</summary>
    public long SentBytes => Sum(_sentBytes);

    /// <summary>Bytes received, of all kinds.</summary>
    public long ReceivedBytes => Sum(_receivedBytes);

    /// <summary>Files resumed after a broken connection.</summary>
    public long Resumed => Volatile.Read(ref _resumed);

    /// <summary>Returns the bytes sent of one kind.</summary>
    public long SentBytesOf(StateTransferKind kind) => Volatile.Read(ref _sentBytes[(int)kind]);

    /// <summary>Returns the bytes received of one kind.</summary>
    public long ReceivedBytesOf(StateTransferKind kind) => Volatile.Read(ref _receivedBytes[(int)kind]);

    /// <summary>Returns the number of installations of one kind on this node.</summary>
    public long InstalledOf(StateTransferKind kind) => Volatile.Read(ref _installed[(int)kind]);

    internal void CountOffer() => Interlocked.Increment(ref _offers);

    internal void CountDropped() => Interlocked.Increment(ref _dropped);

    internal void CountInstalled(StateTransferKind kind) => Interlocked.Increment(ref _installed[(int)kind]);

    internal void CountReceived(StateTransferKind kind, long bytes) =>
        Interlocked.Add(ref _receivedBytes[(int)kind], bytes);

    internal void CountSent(StateTransferKind kind, long bytes) => Interlocked.Add(ref _sentBytes[(int)kind], bytes);

    internal void CountResumed() => Interlocked.Increment(ref _resumed);

    private static long Sum(long[] counts) =>
        Volatile.Read(ref counts[0]) + Volatile.Read(ref counts[1]) + Volatile.Read(ref counts[2]);
}
