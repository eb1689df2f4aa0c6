using System.Globalization;
using System.Text;
using Rookery.Access;

namespace Rookery.Bench;

/// <summary>The bytes that a node has written to its disk since its start, and its sync latency.</summary>
/// <param name="Bytes">Bytes of journal, runs, indexes and manifests.</param>
/// <param name="SyncSeconds">The median of its recent syncs, in seconds; null if there was none.</param>
internal sealed record WrittenBytes(long Bytes, double? SyncSeconds)
{
    /// <summary>The kinds of disk operations that are counted, as the metrics name them.</summary>
    internal static readonly string[] Written =
    [
        "journal_write",
        "run_write",
        "compaction",
        "manifest",
        "journal_spare",
        "index",
    ];

    /// <summary>Reads the bytes and the latency from /metrics; null if the token may not read metrics.</summary>
    public static async Task<WrittenBytes?> ReadAsync(NodeClient client)
    {
        using var request = client.NewRequest(HttpMethod.Get, "/metrics");
        using var answer = await client.AskAsync(request);
        if (!answer.IsSuccessStatusCode)
        {
            return null;
        }

        double bytes = 0;
        double? sync = null;
        foreach (string line in Encoding.UTF8.GetString(await client.ReadBodyAsync(answer)).Split('\n'))
        {
            if (
                Array.Exists(
                    Written,
                    kind => line.StartsWith($"rookery_io_bytes_total{{kind=\"{kind}\"}}", StringComparison.Ordinal)
                )
            )
            {
                bytes += ValueOf(line);
            }
            else if (
                line.StartsWith(
                    "rookery_io_recent_seconds{kind=\"journal_sync\",quantile=\"0.5\"}",
                    StringComparison.Ordinal
                )
            )
            {
                sync = ValueOf(line);
            }
        }

        return new WrittenBytes((long)bytes, sync);
    }

    private static double ValueOf(string line) =>
        double.TryParse(
            line.AsSpan(line.LastIndexOf(' ') + 1),
            NumberStyles.Float,
            CultureInfo.InvariantCulture,
            out double value
        )
            ? value
            : 0;
}
