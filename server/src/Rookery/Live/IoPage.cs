using System.Text.Json;

namespace Rookery.Live;

/// <summary>One disk operation.</summary>
/// <param name="Kind">The operation's kind, such as journal_sync.</param>
/// <param name="Start">When the operation began, in microseconds since 1970 UTC.</param>
/// <param name="Duration">The operation's duration, in microseconds.</param>
/// <param name="Bytes">The bytes read or written.</param>
internal readonly record struct IoEvent(string Kind, long Start, long Duration, long Bytes)
{
    /// <summary>When the operation ended, in microseconds since 1970 UTC.</summary>
    public long End => Start + Duration;
}

/// <summary>The operations of one kind in a period; durations in microseconds.</summary>
internal sealed record IoKindSummary(
    string Kind,
    double PerSecond,
    double BytesPerSecond,
    long P50,
    long P99,
    long Longest
);

/// <summary>Parses and summarises the response of /debug/io.</summary>
internal static class IoPage
{
    /// <summary>Parses a list of events, which is JSON with names of columns and rows of values.</summary>
    public static List<IoEvent> Read(JsonElement list)
    {
        string[] columns =
        [
            .. list.GetProperty("Columns").EnumerateArray().Select(static column => column.GetString()!),
        ];
        int kind = IndexOf("Kind");
        int start = IndexOf("StartUnixMicroseconds");
        int duration = IndexOf("DurationMicroseconds");
        int bytes = IndexOf("Bytes");
        return
        [
            .. list.GetProperty("Rows")
                .EnumerateArray()
                .Select(row => new IoEvent(
                    row[kind].GetString()!,
                    row[start].GetInt64(),
                    row[duration].GetInt64(),
                    row[bytes].GetInt64()
                )),
        ];

        int IndexOf(string column) =>
            Array.IndexOf(columns, column) is >= 0 and var index
                ? index
                : throw new KeyNotFoundException($"The disk operations have no column {column}.");
    }

    /// <summary>Summarises events by kind over a period in seconds.</summary>
    public static IReadOnlyList<IoKindSummary> Summarize(IEnumerable<IoEvent> events, double seconds) =>
        [
            .. events
                .GroupBy(static operation => operation.Kind, StringComparer.Ordinal)
                .Select(kind =>
                {
                    long[] durations = [.. kind.Select(static operation => operation.Duration).Order()];
                    return new IoKindSummary(
                        kind.Key,
                        durations.Length / seconds,
                        kind.Sum(static operation => (double)operation.Bytes) / seconds,
                        Percentile(durations, 0.5),
                        Percentile(durations, 0.99),
                        durations[^1]
                    );
                })
                .OrderBy(static kind => kind.Kind, StringComparer.Ordinal),
        ];

    /// <summary>
    /// Returns a percentile of ascending values; <paramref name="share"/> is 0 to 1. Returns 0 for no values.
    /// </summary>
    public static long Percentile(IReadOnlyList<long> ordered, double share) =>
        ordered.Count == 0
            ? 0
            : ordered[Math.Clamp((int)Math.Ceiling(share * ordered.Count) - 1, 0, ordered.Count - 1)];

    /// <summary>
    /// Draws the slowest sync of each second as a bar, on a logarithmic scale from 0.5 ms to over half a second; each
    /// step is 2.7 times the one before. A second without a sync is a dot.
    /// </summary>
    /// <param name="events">The syncs.</param>
    /// <param name="fromSecond">The first drawn second, in seconds since 1970 UTC.</param>
    /// <param name="seconds">How many seconds are drawn, one character each.</param>
    public static string Timeline(IEnumerable<IoEvent> events, long fromSecond, int seconds)
    {
        long[] longest = new long[seconds];
        foreach (var operation in events)
        {
            long second = (operation.End / 1_000_000) - fromSecond;
            if (second >= 0 && second < seconds)
            {
                longest[second] = Math.Max(longest[second], operation.Duration);
            }
        }

        return string.Concat(longest.Select(BarOf));
    }

    private static char BarOf(long duration)
    {
        if (duration == 0)
        {
            return '·';
        }

        double step = Math.Log(duration / 500.0) / Math.Log(2.7);
        return Bars[Math.Clamp((int)step, 0, Bars.Length - 1)];
    }

    private const string Bars = "▁▂▃▄▅▆▇█";
}
