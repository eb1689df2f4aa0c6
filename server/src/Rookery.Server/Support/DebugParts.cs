using System.Globalization;
using System.Runtime.InteropServices;
using System.Text;
using System.Text.Json;
using Rookery.Documents.Nodes;
using Rookery.Server.Alerts;
using Rookery.Server.Observation;
using Rookery.Server.Operations;

namespace Rookery.Server.Support;

/// <summary>
/// The files of a node's debug package. A new source of diagnostic data is added here, or in
/// <see cref="ServerOptions.DebugParts"/>.
/// </summary>
internal static class DebugParts
{
    private const int MinuteSeconds = 60;
    private const int DaySeconds = 24 * 60 * 60;

    // One row a minute for a day.
    private const int HistoryRows = 1440;

    /// <summary>Returns all files except the README.</summary>
    public static IEnumerable<DebugPart> Of(ServerContext context) =>
        [
            DebugPart.OfJson(
                "version.json",
                "the version that runs, and its machine",
                json => WriteVersion(json, context)
            ),
            DebugPart.OfJson(
                "settings.json",
                "the settings in effect and their sources; of a secret only the path of its file",
                json => SettingsRoute.Write(json, context.Options.Settings)
            ),
            DebugPart.OfWholeJson(
                "ready.json",
                "what /readyz?verbose answers: ready or why not, board, storage, cluster",
                json => HealthRoutes.WriteVerbose(json, context, ReasonOf(context), context.Options.Forming?.Invoke())
            ),
            DebugPart.OfJson("alerts.json", "the active alerts", json => WriteAlerts(json, context.ActiveAlerts())),
            DebugPart.OfJson(
                "raft.json",
                "the node's part in its cluster: role, term, log, members, clocks, members it cannot reach",
                json => WriteRaft(json, context)
            ),
            DebugPart.OfJson(
                "storage.json",
                "journal and tables: indexes of the log, runs by group, memtables, damage, state sent and "
                    + "received, databases by name and size",
                json => WriteStorage(json, context)
            ),
            DebugPart.OfJson(
                "indexes.json",
                "each index: state, trouble, progress",
                json => WriteIndexes(json, context)
            ),
            DebugPart.OfText(
                "metrics.txt",
                "all metrics now, as /metrics answers (docs/reference/metrics.md)",
                () => MetricsRoute.Collect(context)
            ),
            DebugPart.OfWholeJson(
                "io-timeline.json",
                "disk operations: the newest events, the slow ones, and 24 hours by the minute "
                    + "(docs/reference/http.md, /debug/io)",
                json => DebugIoRoute.Write(json, context, since: 0, long.MaxValue, MinuteSeconds),
                isIndented: false
            ),
            DebugPart.OfText("log.txt", "the last lines of the log as text", () => LogText(context.RecentLog)),
            DebugPart.OfJson(
                "log.json",
                "the same for programs, with the numbers of docs/reference/log-events.md",
                json => LogRoute.Write(json, context.RecentLog.Read(after: null, LogRing.DefaultLines))
            ),
            .. History(context),
            .. context.Options.DebugParts,
        ];

    /// <summary>
    /// Returns the history of this node and of each other node whose samples it keeps, including failed ones.
    /// </summary>
    private static IEnumerable<DebugPart> History(ServerContext context)
    {
        var observation = context.Observation;
        long now = context.KnownTime.ToUnixTimeSeconds();
        foreach (var node in observation.Others.Prepend(observation.Self))
        {
            yield return DebugPart.OfWholeJson(
                $"history/{node.Tag}.json",
                $"figures of node {node.Tag} for 24 hours (docs/reference/http.md, /dashboard/history)",
                json =>
                    WriteObject(
                        json,
                        () => HistoryRoutes.WriteMembers(json, context, node, now - DaySeconds, now, HistoryRows)
                    ),
                isIndented: false
            );
            yield return DebugPart.OfWholeJson(
                $"history/{node.Tag}-slow.json",
                $"slow disk events of node {node.Tag}",
                json =>
                    WriteObject(
                        json,
                        () =>
                            ObservationJson.WriteSlowMembers(
                                json,
                                node == observation.Self ? observation.OwnSlowEvents(0) : node.Slow.Since(0)
                            )
                    ),
                isIndented: false
            );
        }
    }

    private static void WriteObject(Utf8JsonWriter json, Action members)
    {
        json.WriteStartObject();
        members();
        json.WriteEndObject();
    }

    private static string? ReasonOf(ServerContext context) =>
        context.Readiness.Reason ?? context.Readiness.Node?.ReadStatistics()?.Consensus?.Unready;

    private static void WriteVersion(Utf8JsonWriter json, ServerContext context)
    {
        json.WriteString("Version"u8, ProductVersion.Text);
        json.WriteString("Runtime"u8, RuntimeInformation.FrameworkDescription);
        json.WriteString("System"u8, RuntimeInformation.OSDescription);
        json.WriteString("Architecture"u8, RuntimeInformation.ProcessArchitecture.ToString());
        json.WriteNumber("Processors"u8, Environment.ProcessorCount);
        json.WriteNumber("SystemPageBytes"u8, Environment.SystemPageSize);
        json.WriteNumber("MemoryBudgetBytes"u8, context.Memory.TotalBytes);
        json.WriteString("NodeTag"u8, context.Options.NodeTag);
        json.WriteString("NodeName"u8, context.Options.NodeName);
        json.WriteString("ClusterName"u8, context.Options.ClusterName);
        json.WriteString("Time"u8, context.Time.GetUtcNow().UtcDateTime);
        json.WriteString("Reason"u8, ReasonOf(context));
    }

    private static void WriteAlerts(Utf8JsonWriter json, IEnumerable<ActiveAlert> alerts)
    {
        json.WriteStartArray("Alerts"u8);
        foreach (var alert in alerts)
        {
            json.WriteStartObject();
            json.WriteString("Name"u8, alert.Name);
            json.WriteString("Severity"u8, alert.Severity);
            json.WriteString("Since"u8, alert.Since.UtcDateTime);
            json.WriteString("Sentence"u8, alert.Sentence);
            json.WriteString("Fix"u8, alert.Fix);
            json.WriteString("Help"u8, alert.Help);
            json.WriteString("Member"u8, alert.Member);
            json.WriteEndObject();
        }

        json.WriteEndArray();
    }

    private static void WriteRaft(Utf8JsonWriter json, ServerContext context)
    {
        if (context.Readiness.Node?.ReadStatistics()?.Consensus is not { } cluster)
        {
            json.WriteString("Cluster"u8, "Not known: the node did not open its data.");
            return;
        }

        ClusterHealth.Write(json, cluster, LeaderReport.Of(cluster, context.Observation));
        json.WriteNumber("LastTerm"u8, cluster.LastTerm);
        json.WriteNumber("AppliedIndex"u8, cluster.AppliedIndex);
        json.WriteString("Unready"u8, cluster.Unready);
        json.WriteStartArray("Unreached"u8);
        foreach (string sentence in cluster.Unreached)
        {
            json.WriteStringValue(sentence);
        }

        json.WriteEndArray();
        json.WriteStartArray("Names"u8);
        foreach (var member in cluster.Members)
        {
            json.WriteStartObject();
            json.WriteString("Tag"u8, member.Member.Tag);
            json.WriteString("NodeId"u8, member.Member.NodeId);
            json.WriteString("Name"u8, member.Member.Name);
            json.WriteString("Url"u8, member.Member.Url);
            json.WriteBoolean("IsSelf"u8, member.Member.IsSelf);
            json.WriteNumber("RecordVersion"u8, member.RecordVersion);
            json.WriteEndObject();
        }

        json.WriteEndArray();
    }

    private static void WriteStorage(Utf8JsonWriter json, ServerContext context)
    {
        if (context.Readiness.Node is not { } node || node.ReadStatistics() is not { } statistics)
        {
            json.WriteString("Diagnosis"u8, context.Readiness.Reason ?? "The node did not open its data.");
            return;
        }

        json.WriteString("Diagnosis"u8, node.Diagnosis);
        json.WriteString("Recovery"u8, statistics.Recovery);
        json.WriteNumber("JournalFirstIndex"u8, statistics.JournalFirstIndex);
        json.WriteNumber("JournalLastIndex"u8, statistics.JournalLastIndex);
        json.WriteNumber("JournalBytes"u8, statistics.JournalBytes);
        json.WriteNumber("AppliedIndex"u8, statistics.AppliedIndex);
        json.WriteNumber("ManifestIndex"u8, statistics.ManifestIndex);
        json.WriteNumber("Sequence"u8, statistics.Sequence);
        json.WriteNumber("FreeBytes"u8, statistics.Space.FreeBytes);
        json.WriteNumber("ReserveBytes"u8, statistics.Space.NeededBytes);
        if (statistics.JournalSpace is { State: var journal })
        {
            json.WriteNumber("JournalFreeBytes"u8, journal.FreeBytes);
            json.WriteNumber("JournalReserveBytes"u8, journal.NeededBytes);
        }

        var storage = statistics.Storage;
        json.WriteString("Health"u8, statistics.DamagedPlaces == 0 ? storage.Health : "There is damage: see below.");
        json.WriteNumber("MemtableBytes"u8, storage.MemtableBytes);
        json.WriteNumber("FrozenBytes"u8, storage.FrozenBytes);
        json.WriteNumber("Flushes"u8, storage.Flushes);
        json.WriteNumber("Compactions"u8, storage.Compactions);
        json.WriteNumber("Failures"u8, storage.Failures);
        json.WriteNumber("PendingCompactionBytes"u8, storage.PendingCompactionBytes);
        json.WriteNumber("RangeTombstones"u8, storage.RangeTombstones);
        json.WriteNumber("OldestReaderSeconds"u8, storage.OldestReaderAge.TotalSeconds);
        json.WriteStartArray("Groups"u8);
        foreach (var group in storage.Groups)
        {
            json.WriteStartObject();
            json.WriteNumber("Group"u8, group.Group);
            json.WriteString("Tables"u8, group.Tables);
            json.WriteNumber("SortedRuns"u8, group.SortedRuns);
            json.WriteNumber("Files"u8, group.Files);
            json.WriteNumber("Bytes"u8, group.Bytes);
            json.WriteNumber("Rows"u8, group.Rows);
            json.WriteEndObject();
        }

        json.WriteEndArray();
        json.WriteStartArray("Damage"u8);
        foreach (var damage in storage.Damage)
        {
            // The full message is left out, because it contains keys of rows, which contain document ids.
            json.WriteStringValue($"{damage.File} at byte {damage.Offset}: {damage.Reason} ({damage.Tables})");
        }

        foreach (string content in statistics.ContentDamage)
        {
            json.WriteStringValue(content); // names files, by their hashes
        }

        json.WriteEndArray();
        WriteDatabases(json, node);
    }

    private static void WriteDatabases(Utf8JsonWriter json, Node node)
    {
        json.WriteStartArray("Databases"u8);
        foreach (var database in node.Diagnosis is null ? node.Databases.All : [])
        {
            json.WriteStartObject();
            json.WriteString("Name"u8, database.Name);
            json.WriteNumber("LastEtag"u8, database.LastEtag);
            json.WriteEndObject();
        }

        json.WriteEndArray();
    }

    private static void WriteIndexes(Utf8JsonWriter json, ServerContext context)
    {
        json.WriteStartArray("Indexes"u8);
        foreach (var database in context.Readiness.Node is { Diagnosis: null } node ? node.Databases.All : [])
        {
            foreach (var index in context.Indexes.ReadStatus(database))
            {
                json.WriteStartObject();
                json.WriteString("Database"u8, database.Name);
                json.WriteString("Name"u8, index.Name);
                json.WriteString("State"u8, index.State.ToString());
                json.WriteString("Trouble"u8, index.Trouble);
                json.WriteBoolean("IsStale"u8, index.IsStale);
                json.WriteBoolean("IsReplacement"u8, index.IsReplacement);
                json.WriteNumber("VisibleEtag"u8, index.VisibleEtag);
                json.WriteNumber("LastEtag"u8, index.LastEtag);
                json.WriteNumber("Documents"u8, index.Documents);
                json.WriteNumber("Errors"u8, index.ErrorCount);
                json.WriteNumber("Done"u8, index.Progress.Done);
                json.WriteNumber("Total"u8, index.Progress.Total);
                json.WriteEndObject();
            }
        }

        json.WriteEndArray();
    }

    private static string LogText(LogRing log)
    {
        var text = new StringBuilder();
        foreach (var line in log.Read(after: null, LogRing.DefaultLines))
        {
            text.Append(line.Time.ToString("yyyy-MM-ddTHH:mm:ss.fffZ ", CultureInfo.InvariantCulture))
                .Append(LogRoute.NameOf(line.Level))
                .Append(": ")
                .Append(line.Text)
                .Append('\n');
        }

        return text.ToString();
    }
}
