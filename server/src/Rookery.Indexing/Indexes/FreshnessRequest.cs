namespace Rookery.Indexing.Indexes;

/// <summary>
/// The last request of a polling caller to bring an index up to date soon. The request counts for one second. A client
/// that waits for the index repeats the request within that time. A monitor that polls seldom does not keep a throttled
/// node indexing all the time. Thread-safe.
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
