using Microsoft.Extensions.Logging;
using Rookery.Cluster.Membership;
using Rookery.Documents.Nodes;
using Rookery.Hosting.Machine;
using Rookery.Server;
using Rookery.Server.Support;

namespace Rookery.Hosting;

/// <summary>Tells what a node does, and what it no longer needs, while it serves.</summary>
internal static class NodeStatus
{
    private const string Serving = "Serving.";

    private static readonly TimeSpan TellingInterval = TimeSpan.FromSeconds(2);

    private static readonly TimeSpan RetiringInterval = TimeSpan.FromMinutes(10);

    /// <summary>Says in the log and to systemd that the node serves, or why not.</summary>
    public static void Announce(NodeSetting setting, Node node)
    {
        var (configuration, log, systemd) = (setting.Configuration, setting.Log, setting.Systemd);
        if (node.Diagnosis is { } diagnosis)
        {
            log.LogError(
                LogEvents.Diagnosis,
                "Diagnosis mode: {Diagnosis} Only /livez, /readyz, /metrics, /debug and /help answer.",
                diagnosis
            );
            systemd.Ready("Diagnosis mode: " + diagnosis);
            return;
        }

        log.LogInformation(
            LogEvents.Serving,
            "Serving {Directory} on {Address} with {Memory} MiB of memory.",
            configuration.DataDirectory,
            configuration.Url,
            configuration.MemoryBytes >> 20
        );
        systemd.Ready(Serving);
    }

    /// <summary>Removes automatic indexes that nobody asked for long, until the node stops.</summary>
    public static async Task RetireIndexesAsync(ServerContext context)
    {
        try
        {
            using var timer = new PeriodicTimer(RetiringInterval, context.Time);
            while (await timer.WaitForNextTickAsync(context.Stopping))
            {
                await context.RetireIndexesAsync();
            }
        }
        catch (OperationCanceledException)
        {
            // The node stops.
        }
    }

    /// <summary>
    /// Keeps the line true that systemd is told, and with it who looks at the screen of a card: with whom the node is
    /// in a cluster, or what it waits for.
    /// </summary>
    public static async Task TellAsync(
        NodeSetting setting,
        ServiceAnnouncement? announcement,
        ClusterMember? member,
        ServerContext context
    )
    {
        try
        {
            using var timer = new PeriodicTimer(TellingInterval, context.Time);
            do
            {
                string serving = context.Readiness.Reason is { } reason ? $"Not serving: {reason}" : Serving;
                string? company = member?.OtherNames is { Count: > 0 } names
                    ? $"This node is in the cluster {member.Identity.ClusterName}, with {string.Join(", ", names)}."
                    : null;
                string? owner = context.HasOwner ? "It has an owner." : null;
                setting.Systemd.Tell(
                    string.Join(' ', ((string?[])[serving, member?.FormingStatus, company, owner]).OfType<string>())
                );
                announcement?.TellRole(member?.IsVoter);
            } while (await timer.WaitForNextTickAsync(context.Stopping));
        }
        catch (OperationCanceledException)
        {
            // The node stops.
        }
    }
}
