using System.Globalization;
using Rookery.Access;

namespace Rookery.Bench;

/// <summary>What a node wrote to its disk since it began, and how long a sync takes it.</summary>
/// <param name="Bytes">Bytes of journal, runs and what else it writes.</param>
/// <param name="SyncSeconds">What half of its recent syncs did not exceed; null when there was none.</param>
internal sealed record WrittenBytes(long Bytes, double? SyncSeconds)
{
    private static readonly string[] Written =
    [
        "journal_write",
        "run_write",
        "compaction",
        "manifest",
        "journal_spare",
        "index",
    ];

    /// <summary>Reads it from /metrics; null for who may not read that.</summary>
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
        foreach (string line in (await answer.Content.ReadAsStringAsync()).Split('\n'))
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
