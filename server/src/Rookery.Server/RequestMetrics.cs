using System.Collections.Concurrent;

namespace Rookery.Server;

/// <summary>
/// Counts requests and their durations by route pattern. Recording takes a few interlocked additions, without lock or
/// allocation.
/// </summary>
public sealed class RequestMetrics(TimeProvider time)
{
    private readonly ConcurrentDictionary<string, RouteMetrics> _routes = new(StringComparer.Ordinal);
    private long _inFlight;
    private long _documentRequests;
    private long _fastPathRequests;

    /// <summary>Requests in progress.</summary>
    public long InFlight => Interlocked.Read(ref _inFlight);

    /// <summary>Requests so far that need documents. Health checks and scrapes of metrics are not counted.</summary>
    public long DocumentRequests => Interlocked.Read(ref _documentRequests);

    /// <summary>Requests so far that <see cref="FastPath.FastPathReader"/> answered.</summary>
    public long FastPathRequests => Interlocked.Read(ref _fastPathRequests);

    /// <summary>
    /// Answered requests that read documents, over all routes. Feeds, streams and exports are not counted, because
    /// their duration depends on their readers.
    /// </summary>
    public RouteMetrics Reads { get; } = new("reads");

    /// <summary>
    /// Answered requests that change documents, over all routes. Bulk inserts and imports are not counted, because
    /// their duration depends on their senders.
    /// </summary>
    public RouteMetrics Writes { get; } = new("writes");

    /// <summary>Counters of all mapped routes.</summary>
    public IEnumerable<RouteMetrics> Routes => _routes.Values;

    /// <summary>Returns the counters of a route; creates them while routes are mapped.</summary>
    public RouteMetrics ForRoute(string pattern) => _routes.GetOrAdd(pattern, static name => new RouteMetrics(name));

    internal long Begin(bool needsDocuments)
    {
        if (needsDocuments)
        {
            Interlocked.Increment(ref _documentRequests);
        }

        Interlocked.Increment(ref _inFlight);
        return time.GetTimestamp();
    }

    /// <summary>Counts a GET that the fast path answered without a wait.</summary>
    /// <param name="route">Counters of its route.</param>
    /// <param name="begun">Timestamp of the clock when the request began.</param>
    /// <param name="status">Status of the answer: below 400, or 404.</param>
    internal void AddFastRead(RouteMetrics route, long begun, int status)
    {
        Interlocked.Increment(ref _documentRequests);
        Interlocked.Increment(ref _fastPathRequests);
        long microseconds = (long)time.GetElapsedTime(begun).TotalMicroseconds;
        route.Record(status, microseconds);
        Reads.Record(status, microseconds);
    }

    /// <summary>Begins a request of the fast path that waits.</summary>
    /// <returns>Timestamp of the clock.</returns>
    internal long BeginFast()
    {
        Interlocked.Increment(ref _documentRequests);
        Interlocked.Increment(ref _inFlight);
        return time.GetTimestamp();
    }

    /// <summary>Ends a request that began with <see cref="BeginFast"/>.</summary>
    internal void EndFast(RouteMetrics route, RouteTotal total, long begun, int status)
    {
        Interlocked.Increment(ref _fastPathRequests);
        End(route, total, begun, status);
    }

    /// <summary>
    /// Ends the part of a request that began with <see cref="BeginFast"/>, because the full pipeline answers it. The
    /// pipeline counts it a second time in <see cref="DocumentRequests"/>, which must never fall.
    /// </summary>
    internal void LeaveFast() => Interlocked.Decrement(ref _inFlight);

    internal void End(RouteMetrics? route, RouteTotal? total, long startedAt, int status)
    {
        Interlocked.Decrement(ref _inFlight);
        long microseconds = (long)time.GetElapsedTime(startedAt).TotalMicroseconds;
        route?.Record(status, microseconds);

        // Errors are quick and do no work, so the totals exclude them. 404 is an ordinary answer.
        if (status is < 400 or 404)
        {
            total?.Sum.Record(status, microseconds);
        }
    }
}

/// <summary>
/// Endpoint metadata: the total to which a route's requests are added (reads or writes), besides the counters of the
/// route's pattern.
/// </summary>
/// <param name="Sum">The total.</param>
internal sealed record RouteTotal(RouteMetrics Sum);

/// <summary>Counters of one route.</summary>
/// <param name="pattern">Pattern of the route, as mapped.</param>
public sealed class RouteMetrics(string pattern)
{
    private static readonly long[] Bounds =
    [
        100,
        250,
        500,
        1_000,
        2_500,
        5_000,
        10_000,
        25_000,
        50_000,
        100_000,
        250_000,
        1_000_000,
        10_000_000,
    ];
    private readonly long[] _buckets = new long[Bounds.Length + 1];
    private readonly long[] _byStatusClass = new long[6];
    private long _totalMicroseconds;

    /// <summary>
    /// Upper bounds of the duration buckets in microseconds, ascending. One more bucket follows for longer durations.
    /// </summary>
    public static ReadOnlySpan<long> BucketBounds => Bounds;

    /// <summary>Pattern of the route.</summary>
    public string Pattern => pattern;

    /// <summary>Sum of all durations in microseconds.</summary>
    public long TotalMicroseconds => Interlocked.Read(ref _totalMicroseconds);

    /// <summary>Returns the number of requests in bucket <paramref name="index"/> (not cumulative).</summary>
    public long InBucket(int index) => Interlocked.Read(ref _buckets[index]);

    /// <summary>Returns the number of requests answered with a status of <paramref name="hundreds"/>xx.</summary>
    public long WithStatusClass(int hundreds) => Interlocked.Read(ref _byStatusClass[hundreds]);

    internal void Record(int status, long microseconds)
    {
        int bucket = 0;
        while (bucket < Bounds.Length && microseconds > Bounds[bucket])
        {
            bucket++;
        }

        Interlocked.Increment(ref _buckets[bucket]);
        Interlocked.Increment(ref _byStatusClass[Math.Clamp(status / 100, 0, 5)]);
        Interlocked.Add(ref _totalMicroseconds, microseconds);
    }
}
