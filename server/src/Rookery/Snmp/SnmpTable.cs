using System.Globalization;

namespace Rookery.Snmp;

/// <summary>
/// Maps metrics to SNMP objects, which docs/reference/ROOKERY-MIB.txt describes. A missing metric has no object. As in
/// SNMPv2-TC, 1 is true and 2 is false.
/// </summary>
internal static class SnmpTable
{
    /// <summary>
    /// netSnmpPlaypen, which NET-SNMP-MIB reserves for objects without an assigned number, followed by a number that
    /// this project chose.
    /// </summary>
    public const string Root = ".1.3.6.1.4.1.8072.9999.9999.7667";

    private const string Gauge = "gauge";
    private const string Counter = "counter64";
    private const string Number = "integer";
    private const string Text = "string";
    private const double Micro = 1e6;
    private const long MiB = 1 << 20;

    private static readonly ObjectId RootId = ObjectId.TryParse(Root, out var id) ? id : default;

    /// <summary>Returns the objects, in order of their identifiers.</summary>
    public static IReadOnlyList<SnmpObject> Of(MetricSamples samples)
    {
        var objects = new List<SnmpObject>();

        // 1: the node
        Add(objects, [1, 1], Text, samples.Values("rookery_build_info", "version").FirstOrDefault());
        Add(objects, [1, 2], Number, ToTruthValue(samples.Sum("rookery_ready") ?? 0));
        Add(objects, [1, 3], Text, samples.NoSamplesReason ?? string.Empty);
        Add(objects, [1, 4], Gauge, samples.Sum("rookery_alerts"));
        Add(objects, [1, 5], Gauge, samples.Sum("rookery_alerts", "severity=\"critical\""));
        Add(objects, [1, 6], Gauge, samples.Sum("process_resident_memory_bytes") / MiB);
        Add(objects, [1, 7], Counter, samples.Sum("process_cpu_seconds_total") * 100);

        // 2: the cluster as this node sees it
        Add(objects, [2, 1], Number, ToTruthValue(samples.Sum("rookery_cluster_healthy")));
        Add(objects, [2, 2], Number, ToTruthValue(samples.Sum("rookery_cluster_has_leader")));
        Add(objects, [2, 3], Number, ToTruthValue(samples.Sum("rookery_cluster_is_leader")));
        Add(objects, [2, 4], Counter, samples.Sum("rookery_cluster_term"));
        Add(objects, [2, 5], Gauge, samples.Sum("rookery_cluster_voters"));
        Add(objects, [2, 6], Number, samples.Sum("rookery_cluster_margin_voters"));
        Add(objects, [2, 7], Number, ToTruthValue(samples.Sum("rookery_cluster_time_sure")));
        AddMembers(objects, samples);

        // 3: the work of the node
        Add(objects, [3, 1], Counter, samples.Sum("rookery_http_requests_total"));
        Add(objects, [3, 2], Counter, samples.Sum("rookery_commands_total"));
        Add(objects, [3, 3], Counter, samples.Sum("rookery_overloaded_total"));
        Add(objects, [3, 4], Counter, samples.Sum("rookery_io_operations_total", "kind=\"journal_sync\""));
        Add(
            objects,
            [3, 5],
            Gauge,
            samples.Sum("rookery_io_recent_seconds", "kind=\"journal_sync\"", "quantile=\"0.99\"") * Micro
        );
        Add(objects, [3, 6], Counter, samples.Sum("rookery_io_bytes_total"));
        Add(objects, [3, 7], Gauge, samples.Sum("rookery_indexes_stale"));
        Add(objects, [3, 8], Gauge, samples.Sum("rookery_indexes_in_trouble"));

        // 4: the board
        Add(objects, [4, 1], Number, samples.Sum("rookery_board_temperature_celsius") * 10);
        Add(
            objects,
            [4, 2],
            Number,
            ToTruthValue(samples.Sum("rookery_board_throttled", "kind=\"under_voltage\"", "when=\"now\""))
        );
        Add(
            objects,
            [4, 3],
            Number,
            ToTruthValue(samples.Sum("rookery_board_throttled", "kind=\"throttled\"", "when=\"now\""))
        );

        // 5: the disk
        Add(objects, [5, 1], Gauge, samples.Sum("rookery_disk_free_bytes") / MiB);
        Add(objects, [5, 2], Gauge, samples.Sum("rookery_disk_reserve_bytes") / MiB);
        Add(objects, [5, 3], Counter, samples.Sum("rookery_board_written_bytes_total"));
        Add(objects, [5, 4], Gauge, samples.Sum("rookery_board_life_used_ratio") * 100);
        Add(objects, [5, 5], Gauge, samples.Sum("rookery_damaged_places"));
        return objects;
    }

    /// <summary>Adds the table of members, with one row per member; row 1 is member A.</summary>
    private static void AddMembers(List<SnmpObject> objects, MetricSamples samples)
    {
        string[] tags =
        [
            .. samples
                .Values("rookery_cluster_member_reachable", "member")
                .Concat(samples.Values("rookery_cluster_member_lag_entries", "member"))
                .Distinct(StringComparer.Ordinal)
                .Where(static tag => RowOf(tag) > 0)
                .OrderBy(RowOf),
        ];
        AddColumn(objects, tags, 2, Text, static tag => tag);
        AddColumn(
            objects,
            tags,
            3,
            Number,
            tag => FormatWhole(ToTruthValue(samples.Sum("rookery_cluster_member_reachable", Label(tag))))
        );
        AddColumn(
            objects,
            tags,
            4,
            Gauge,
            tag => FormatWhole(samples.Sum("rookery_cluster_member_lag_entries", Label(tag)))
        );
        AddColumn(
            objects,
            tags,
            5,
            Gauge,
            tag => FormatWhole(samples.Sum("rookery_cluster_member_sync_seconds", Label(tag)) * Micro)
        );
    }

    /// <summary>Adds a column of the table of members; a member whose value is null gets no cell.</summary>
    private static void AddColumn(
        List<SnmpObject> objects,
        string[] tags,
        uint column,
        string type,
        Func<string, string?> read
    )
    {
        foreach (string tag in tags)
        {
            if (read(tag) is { } value)
            {
                objects.Add(new SnmpObject(RootId.With(2, 8, 1, column, RowOf(tag)), type, value));
            }
        }
    }

    private static string Label(string tag) => $"member=\"{tag}\"";

    /// <summary>
    /// Returns the row of a member's letter: A is 1, Z 26, AA 27, as in spreadsheets; 0 for an invalid letter.
    /// </summary>
    private static uint RowOf(string tag) =>
        tag.Length is > 0 and < 5 && tag.All(char.IsAsciiLetterUpper)
            ? tag.Aggregate(0u, static (row, letter) => (row * 26) + (uint)(letter - 'A') + 1)
            : 0;

    // Returns 1 for a positive value, 2 for 0; null for an unknown one.
    private static double? ToTruthValue(double? value)
    {
        if (value is null)
        {
            return null;
        }

        if (value > 0)
        {
            return 1;
        }

        return 2;
    }

    private static string? FormatWhole(double? value) => value?.ToString("0", CultureInfo.InvariantCulture);

    // Adds an object at a place below the root; a null value adds none.
    private static void Add(List<SnmpObject> objects, ReadOnlySpan<uint> place, string type, double? value) =>
        Add(objects, place, type, FormatWhole(value));

    private static void Add(List<SnmpObject> objects, ReadOnlySpan<uint> place, string type, string? value)
    {
        if (value is not null)
        {
            objects.Add(new SnmpObject(RootId.With([.. place, 0]), type, value.ReplaceLineEndings(" ")));
        }
    }
}
