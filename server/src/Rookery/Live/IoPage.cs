using System.Text.Json;

namespace Rookery.Live;

/// <summary>One piece of disk work.</summary>
/// <param name="Kind">What it was for.</param>
/// <param name="Start">Microseconds since 1970 UTC.</param>
/// <param name="Duration">Microseconds.</param>
/// <param name="Bytes">How many.</param>
internal readonly record struct IoEvent(string Kind, long Start, long Duration, long Bytes)
{
    /// <summary>When it ended.</summary>
    public long End => Start + Duration;
}

/// <summary>What was done of one kind within some time.</summary>
internal sealed record IoKindSummary(
    string Kind,
    double PerSecond,
    double BytesPerSecond,
    long P50,
    long P99,
    long Longest
);

/// <summary>Reads what /debug/io says.</summary>
internal static class IoPage
{
    /// <summary>The events of a column-and-row list.</summary>
    public static List<IoEvent> Read(JsonElement list)
    {
        string[] columns =
        [
            .. list.GetProperty("Columns").EnumerateArray().Select(static column => column.GetString()!),
        ];
        int kind = Array.IndexOf(columns, "Kind"),
            start = Array.IndexOf(columns, "StartUnixMicroseconds"),
            duration = Array.IndexOf(columns, "DurationMicroseconds"),
            bytes = Array.IndexOf(columns, "Bytes");
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
    }

    /// <summary>By kind: how often a second, and how long.</summary>
    public static IReadOnlyList<IoKindSummary> Summarize(IEnumerable<IoEvent> events, double seconds) =>
        [
            .. events
                .GroupBy(static happened => happened.Kind, StringComparer.Ordinal)
                .Select(kind =>
                {
                    long[] durations = [.. kind.Select(static happened => happened.Duration).Order()];
                    return new IoKindSummary(
                        kind.Key,
                        durations.Length / seconds,
                        kind.Sum(static happened => (double)happened.Bytes) / seconds,
                        Percentile(durations, 0.5),
                        Percentile(durations, 0.99),
                        durations[^1]
                    );
                })
                .OrderBy(static kind => kind.Kind, StringComparer.Ordinal),
        ];

    /// <summary>The value that a share of the ordered values does not exceed; 0 of none.</summary>
    public static long Percentile(IReadOnlyList<long> ordered, double share) =>
        ordered.Count == 0
            ? 0
            : ordered[Math.Clamp((int)Math.Ceiling(share * ordered.Count) - 1, 0, ordered.Count - 1)];

    /// <summary>
    /// The longest sync of each second as a bar, from half a millisecond to beyond a second, each step twice and more
    /// of the one before.
    /// </summary>
    public static string Timeline(IEnumerable<IoEvent> events, long fromSecond, int seconds)
    {
        long[] longest = new long[seconds];
        foreach (var happened in events)
        {
            long at = (happened.End / 1_000_000) - fromSecond;
            if (at >= 0 && at < seconds)
            {
                longest[at] = Math.Max(longest[at], happened.Duration);
            }
        }

        return string.Concat(
            longest.Select(static duration =>
                duration == 0
                    ? '·'
                    : Bars[Math.Clamp((int)(Math.Log(duration / 500.0) / Math.Log(2.7)), 0, Bars.Length - 1)]
            )
        );
    }

    private const string Bars = "▁▂▃▄▅▆▇█";
}
