using System.Collections.Concurrent;

namespace Rookery.Server;

/// <summary>
/// Counts requests and their durations by route pattern. Recording is a few interlocked additions; no allocation, no
/// lock.
/// </summary>
public sealed class RequestMetrics(TimeProvider time)
{
    private readonly ConcurrentDictionary<string, RouteMetrics> _routes = new(StringComparer.Ordinal);
    private long _inFlight;
    private long _documentRequests;

    /// <summary>Requests being answered now.</summary>
    public long InFlight => Interlocked.Read(ref _inFlight);

    /// <summary>
    /// Requests begun that needed documents. Health checks and scrapes do not count: they are no work.
    /// </summary>
    public long DocumentRequests => Interlocked.Read(ref _documentRequests);

    /// <summary>
    /// Requests that read documents and were answered, of all routes; feeds, which end when their listener leaves,
    /// streams and exports, which take as long as their reader does, are none.
    /// </summary>
    public RouteMetrics Reads { get; } = new("reads");

    /// <summary>
    /// Requests that change documents and were answered, of all routes; bulk inserts and imports, which take as long as
    /// their writer does, are none.
    /// </summary>
    public RouteMetrics Writes { get; } = new("writes");

    /// <summary>The counters of every route that was mapped.</summary>
    public IEnumerable<RouteMetrics> Routes => _routes.Values;

    /// <summary>The counters of one route; made when first asked for, while routes are mapped.</summary>
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

    internal void End(RouteMetrics? route, RouteTotal? total, long begun, int status)
    {
        Interlocked.Decrement(ref _inFlight);
        long microseconds = (long)time.GetElapsedTime(begun).TotalMicroseconds;
        route?.Record(status, microseconds);

        // A refusal is quick and did nothing. That there is no such document is an answer.
        if (status is < 400 or 404)
        {
            total?.Sum.Record(status, microseconds);
        }
    }
}

/// <summary>
/// Endpoint metadata: what a route's requests count towards beside their own route, whose pattern reads and writes may
/// share.
/// </summary>
/// <param name="Sum">The sum.</param>
internal sealed record RouteTotal(RouteMetrics Sum);

/// <summary>The counters of one route.</summary>
/// <param name="pattern">The route's pattern, as mapped.</param>
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
    /// Upper bounds of the duration buckets, in microseconds, ascending; one more bucket follows for what is slower.
    /// </summary>
    public static ReadOnlySpan<long> BucketBounds => Bounds;

    /// <summary>The route's pattern.</summary>
    public string Pattern => pattern;

    /// <summary>The sum of all durations, in microseconds.</summary>
    public long TotalMicroseconds => Interlocked.Read(ref _totalMicroseconds);

    /// <summary>How many requests fell into bucket <paramref name="index"/> (not cumulative).</summary>
    public long InBucket(int index) => Interlocked.Read(ref _buckets[index]);

    /// <summary>How many requests were answered with a status of <paramref name="hundreds"/>xx.</summary>
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
