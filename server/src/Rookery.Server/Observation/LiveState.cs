using System.Text.Json;
using Rookery.Server.Alerts;
using Rookery.Server.Raven.Documents;
using Rookery.Server.Raven.Indexes;
using Rookery.Storage;

namespace Rookery.Server.Observation;

/// <summary>Writes the state of the whole cluster, as this node knows it, for the dashboard.</summary>
internal sealed class LiveState(ServerContext context)
{
    /// <summary>Writes the state as an object.</summary>
    public void WriteTo(Utf8JsonWriter json)
    {
        var observation = context.Observation;
        var own = context.Readiness.Node?.ReadStatistics()?.Consensus;
        var sample = observation.Sampler.TakeToShow();
        var cluster = LiveCluster.Of(
            own,
            observation,
            context.Options.NodeTag,
            sample.Reason,
            context.Options.NodeName
        );
        var alerts = AlertsOf(cluster, observation);
        var (level, sentence) = HealthRule.Judge(cluster, alerts);

        json.WriteStartObject();
        json.WriteString("Time"u8, DocumentJson.Date(context.Time.GetUtcNow().UtcTicks));
        json.WriteStartObject("Health"u8);
        json.WriteString("Level"u8, level);
        json.WriteString("Sentence"u8, sentence);
        json.WriteEndObject();
        if (own is null || context.Options.ClusterName.Length == 0)
        {
            json.WriteNull("Cluster"u8);
        }
        else
        {
            json.WriteStartObject("Cluster"u8);
            json.WriteString("Name"u8, context.Options.ClusterName);
            json.WriteString("LeaderTag"u8, own.LeaderTag);
            json.WriteNumber("Term"u8, own.Term);
            json.WriteString("Role"u8, own.Role);
            json.WriteString("Trouble"u8, own.Trouble);
            json.WriteBoolean("ReadsAreLocal"u8, own.Trouble is not null);
            json.WriteEndObject();
        }

        json.WritePropertyName("Alerts"u8);
        ObservationJson.WriteAlerts(json, alerts);
        json.WriteStartArray("Nodes"u8);
        foreach (var node in cluster.Nodes.OrderBy(static node => node.Tag, StringComparer.Ordinal))
        {
            WriteNode(json, cluster, node, sample);
        }

        json.WriteEndArray();
        json.WriteStartArray("Indexes"u8);
        WriteIndexes(json);
        json.WriteEndArray();
        json.WriteEndObject();
    }

    /// <summary>
    /// Returns the alerts of all nodes that answer, without duplicates. Alerts of a node that is down may be outdated,
    /// and other alerts report that it is down.
    /// </summary>
    private List<MemberAlert> AlertsOf(LiveCluster cluster, NodeObservation observation)
    {
        string self = context.Options.NodeTag;
        var answering = cluster
            .Nodes.Where(static node => node.State != NodeState.Down)
            .Select(static node => node.Tag)
            .ToHashSet(StringComparer.Ordinal);
        return
        [
            .. context
                .ActiveAlerts()
                .Select(alert => new MemberAlert(self, alert))
                .Concat(observation.AlertsOfOthers.Where(alert => answering.Contains(alert.Node)))
                .DistinctBy(static alert => (alert.Node, alert.Alert.Name, alert.Alert.Sentence))
                .OrderBy(static alert => alert.Alert.Severity, StringComparer.Ordinal)
                .ThenBy(static alert => alert.Alert.Since),
        ];
    }

    private static void WriteNode(Utf8JsonWriter json, LiveCluster cluster, LiveNode node, NodeSample own)
    {
        json.WriteStartObject();
        json.WriteString("Tag"u8, node.Tag);
        json.WriteString("Name"u8, node.Name);
        json.WriteString("Url"u8, node.Url);
        json.WriteString(
            "Role"u8,
            cluster.IsAlone ? "alone"u8
                : node.IsLeader ? "leader"u8
                : node.IsVoter ? "voter"u8
                : "learner"u8
        );
        json.WriteBoolean("IsSelf"u8, node.IsSelf);
        json.WriteString(
            "State"u8,
            node.State switch
            {
                NodeState.Up => "up"u8,
                NodeState.Down => "down"u8,
                _ => "unknown"u8,
            }
        );
        ObservationJson.WriteOptional(
            json,
            "SeenSeconds"u8,
            node.SeenSeconds is { } seconds ? Math.Round(seconds, 1) : null
        );
        ObservationJson.WriteOptional(json, "LagEntries"u8, node.LagEntries);
        ObservationJson.WriteOptional(json, "SyncP99Milliseconds"u8, node.SyncP99Milliseconds);
        ObservationJson.WriteOptional(json, "SpareBytes"u8, node.SpareBytes);
        json.WriteBoolean("LimitsCapacity"u8, string.Equals(cluster.LimitedBy, node.Tag, StringComparison.Ordinal));
        var (mayI, sentence) = UnplugRule.Judge(cluster, node);
        json.WriteStartObject("Unplug"u8);
        json.WriteBoolean("MayI"u8, mayI);
        json.WriteString("Sentence"u8, sentence);
        json.WriteEndObject();
        json.WritePropertyName("Sample"u8);
        if (node.IsSelf)
        {
            own.WriteTo(json);
        }
        else if (node.Sample is { } sampleJson)
        {
            json.WriteRawValue(sampleJson, skipInputValidation: true);
        }
        else
        {
            json.WriteNullValue();
        }

        json.WriteEndObject();
    }

    private void WriteIndexes(Utf8JsonWriter json)
    {
        if (context.Readiness is not { Reason: null, Node: { } node, Indexes: { } host })
        {
            return;
        }

        foreach (var database in node.Databases.All)
        {
            foreach (var index in IndexesOf(host, database))
            {
                json.WriteStartObject();
                json.WriteString("Database"u8, database.Name);
                json.WriteString("Name"u8, index.Name);
                json.WriteString("State"u8, index.State);
                json.WriteBoolean("IsStale"u8, index.IsStale);
                ObservationJson.WriteOptional(
                    json,
                    "DocumentsLeft"u8,
                    index.Status is { } status ? status.Progress.Total - status.Progress.Done : null
                );
                ObservationJson.WriteOptional(json, "SecondsLeft"u8, index.Status?.Progress.TimeLeft?.TotalSeconds);
                json.WriteNumber("Errors"u8, index.Status?.ErrorCount ?? 0);
                json.WriteEndObject();
            }
        }
    }

    // Leaves out a database that cannot be read, so that the dashboard still shows the others.
    private static List<ShownIndex> IndexesOf(
        Indexing.Indexes.IndexHost host,
        Rookery.Documents.Databases.Database database
    )
    {
        try
        {
            return ShownIndex.All(host, database);
        }
        catch (Exception failure) when (failure is DamagedException or IOException or ObjectDisposedException)
        {
            return [];
        }
    }
}
