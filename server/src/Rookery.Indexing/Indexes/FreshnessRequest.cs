namespace Rookery.Indexing.Indexes;

/// <summary>
/// The last request that an index soon includes all changes, by a caller that polls instead of waiting. It counts for a
/// second: clients that wait repeat it sooner, and a monitor that polls seldom does not make a throttled node index all
/// the time. Thread-safe.
/// </summary>
internal sealed class FreshnessRequest(TimeProvider time)
{
    private static readonly TimeSpan Lifetime = TimeSpan.FromSeconds(1);

    private long _etag;
    private long _requestedAt;

    /// <summary>The requested etag; null if none was requested within the last second.</summary>
    public long? Etag
    {
        get
        {
            long etag = Volatile.Read(ref _etag);
            return etag > 0 && time.GetElapsedTime(Volatile.Read(ref _requestedAt)) < Lifetime ? etag : null;
        }
    }

    /// <summary>Requests the changes through an etag, from now on.</summary>
    public void Request(long etag)
    {
        Volatile.Write(ref _requestedAt, time.GetTimestamp());
        Volatile.Write(ref _etag, etag);
    }
}
