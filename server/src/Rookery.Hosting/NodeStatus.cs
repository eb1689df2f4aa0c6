using Microsoft.Extensions.Logging;
using Rookery.Cluster.Membership;
using Rookery.Documents.Nodes;
using Rookery.Hosting.Machine;
using Rookery.Platform;
using Rookery.Server;
using Rookery.Server.Support;

namespace Rookery.Hosting;

/// <summary>Reports the node's status, and removes indexes that are no longer used, while it serves.</summary>
internal static class NodeStatus
{
    private const string Serving = "Serving.";

    private static readonly TimeSpan UpdateInterval = TimeSpan.FromSeconds(2);

    private static readonly TimeSpan RetiringInterval = TimeSpan.FromMinutes(10);

    /// <summary>Reports to the log and to systemd that the node serves, or why it does not.</summary>
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
            systemd.NotifyReady("Diagnosis mode: " + diagnosis);
            return;
        }

        log.LogInformation(
            LogEvents.Serving,
            "Serving {Directory} on {Address} with {Memory} of memory.",
            configuration.DataDirectory,
            configuration.Url,
            Amount.Bytes(configuration.MemoryBytes)
        );
        systemd.NotifyReady(Serving);
    }

    /// <summary>
    /// Removes automatic indexes that have not been queried for a long time, every ten minutes until the node stops.
    /// </summary>
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
    /// Updates the status line of systemd every two seconds until the node stops or the result is disposed. The line
    /// names the members of the node's cluster, or what the node waits for. The screen of a card image shows the line,
    /// too. A timer is used, because a loop would wake the thread pool of an idle node for each continuation.
    /// </summary>
    public static ITimer BeginUpdates(
        NodeSetting setting,
        ServiceAnnouncement? announcement,
        ClusterMember? member,
        ServerContext context
    )
    {
        var update = GuardUpdate(
            setting.Log,
            () =>
            {
                if (!context.Stopping.IsCancellationRequested)
                {
                    setting.Systemd.SetStatus(Describe(member, context));
                    announcement?.SetRole(member?.IsVoter);
                }
            }
        );
        update();
        return context.Time.CreateTimer(static run => ((Action)run!)(), update, UpdateInterval, UpdateInterval);
    }

    /// <summary>
    /// Returns an update that does not throw, because an exception on the timer's thread would end the process. The
    /// next call tries again. A failure is logged once, until a call succeeds.
    /// </summary>
    internal static Action GuardUpdate(ILogger log, Action update)
    {
        bool hasFailed = false;
        return () =>
        {
            try
            {
                update();
                hasFailed = false;
            }
            catch (Exception failure) when (failure is not InvariantViolationException)
            {
                if (!hasFailed)
                {
                    log.LogWarning(
                        LogEvents.StatusFailed,
                        failure,
                        "The status line could not be updated, so systemd and the screen show an earlier one."
                    );
                }

                hasFailed = true;
            }
        };
    }

    private static string Describe(ClusterMember? member, ServerContext context)
    {
        string serving = context.Readiness.Reason is { } reason ? $"Not serving: {reason}" : Serving;
        string? membership = member?.OtherNames is { Count: > 0 } names
            ? $"This node is in the cluster {member.Identity.ClusterName}, with {string.Join(", ", names)}."
            : null;
        string? owner = context.HasOwner ? "It has an owner." : null;
        string?[] sentences = [serving, member?.FormingStatus, membership, owner];
        return string.Join(' ', sentences.OfType<string>());
    }
}
