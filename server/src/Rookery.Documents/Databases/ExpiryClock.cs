using Rookery.Documents.Consensus;

namespace Rookery.Documents.Databases;

/// <summary>
/// Tells clients' readers which documents have expired. An expired document is absent for them from its time on, even
/// if it is removed later. Thread-safe.
/// </summary>
internal sealed class ExpiryClock
{
    private Func<ClusterTime>? _source;

    /// <summary>Sets the source of the cluster's time. Before, nothing has expired.</summary>
    public void Start(Func<ClusterTime> source) => Volatile.Write(ref _source, source);

    /// <summary>
    /// Returns the cluster's time, in UTC ticks: documents that expire at or before it have expired. 0 while the time
    /// is not trusted: then nothing has expired.
    /// </summary>
    public long ReadTicks() =>
        Volatile.Read(ref _source) is { } source && source() is { IsSure: true, UtcTicks: var nowTicks } ? nowTicks : 0;
}
