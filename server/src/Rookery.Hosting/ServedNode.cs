using System.Net.Sockets;
using Microsoft.AspNetCore.Builder;
using Microsoft.Extensions.Logging;
using Rookery.Cluster.Joining;
using Rookery.Cluster.Membership;
using Rookery.Documents.Nodes;
using Rookery.Hosting.Machine;
using Rookery.Indexing.Indexes;
using Rookery.Server;
using Rookery.Server.Alerts;
using Rookery.Server.Configuration;
using Rookery.Server.Support;
using Rookery.Server.Welcome;

namespace Rookery.Hosting;

/// <summary>A node that serves: its parts in the order in which they start, and in that in which they stop.</summary>
internal sealed class ServedNode
{
    private readonly NodeSetting _setting;
    private readonly WebApplication _app;
    private readonly ServerContext _context;
    private readonly ClusterMember? _member;
    private readonly AlertWatch _alerts;
    private readonly IndexingThread _indexing;
    private readonly Task _accessTold;
    private readonly Task _statusTold;
    private readonly Task _retired;

    /// <summary>Begins what goes on while a node serves whose parts have started.</summary>
    private ServedNode(
        NodeSetting setting,
        WebApplication app,
        ServerContext context,
        ClusterMember? member,
        AlertWatch alerts,
        IndexingThread indexing,
        ServiceAnnouncement? announcement
    )
    {
        (_setting, _app, _context, _member) = (setting, app, context, member);
        (_alerts, _indexing) = (alerts, indexing);
        bool isHealthy = context.Node.Diagnosis is null;
        _accessTold = LocalAccess.TellAsync(
            setting.Disk,
            setting.Configuration,
            setting.Secrets,
            context,
            announcement,
            setting.Log
        );
        _retired = isHealthy ? NodeStatus.RetireIndexesAsync(context) : Task.CompletedTask;
        _statusTold = isHealthy ? NodeStatus.TellAsync(setting, announcement, member, context) : Task.CompletedTask;
    }

    /// <summary>Starts the parts in their order.</summary>
    /// <param name="setting">What the process is about.</param>
    /// <param name="parts">Disposes them, also those that started before one that could not.</param>
    /// <param name="letIn">Is completed when other members let the node into their cluster.</param>
    /// <exception cref="ConfigurationException">The address or a directory cannot be used, or is in use.</exception>
    public static async Task<ServedNode> StartAsync(NodeSetting setting, NodeParts parts, TaskCompletionSource letIn)
    {
        var configuration = setting.Configuration;
        if (JoinClient.WhyUnfinished(setting.Disk, configuration.DataDirectory) is { } unfinished)
        {
            throw new ConfigurationException(unfinished);
        }

        var identity = ShownIdentity.TryLoad(setting.Disk, configuration);
        var announcement = ServiceAnnouncement.TryCreate(setting, identity);
        var forming = FormedMember.OptionsFor(configuration, announcement, setting.Log.Recent.Secrets, letIn);
        var cluster = new ClusterRoutes(setting.Log);
        var watch = parts.Add(NodeComposition.WatchOf(setting));
        var context = NodeComposition.ContextOf(setting, identity, cluster, watch);
        var app = parts.AddSlow(RookeryServer.Build(context));
        var member = NodeComposition.MemberOf(setting, identity, forming, context, watch);
        cluster.Member = member is null ? null : parts.AddSlow(member);

        // Opening the data takes as long as the journal is long; meanwhile the address answers that it does.
        var opening = Task.Run(() => NodeComposition.OpenNode(setting, member, cluster, context));
        await ListenAsync(() => app.StartAsync(), configuration.Url, opening);
        if (configuration.Welcome is { } place)
        {
            var welcome = parts.AddSlow(new WelcomeServer(context, place));
            await ListenAsync(welcome.StartAsync, $"{place} for the welcome page", opening);
        }

        var alerts = parts.Add(new AlertWatch(context));
        if (configuration.Webhook is { } webhook)
        {
            context.AlertSender = parts.AddSlow(new AlertSender(context, webhook, setting.WebhookToken));
        }

        var node = parts.Add(await opening);
        await StartAsync(member, configuration);
        var throttle = parts.Add(new BackgroundThrottle(node, watch, setting.Log));
        var indexes = NodeComposition.IndexesOf(setting, node, throttle, context);
        var indexing = parts.Add(new IndexingThread(indexes, node.Databases, setting.Time));
        throttle.IsIndexing = () => indexing.IsWorking;
        context.Readiness.MarkOpen(node, indexes);
        NodeStatus.Announce(setting, node);
        var served = new ServedNode(setting, app, context, member, alerts, indexing, announcement);
        parts.Add(NodeComposition.IdleMemoryOf(setting, context, node, indexes));
        return served;
    }

    /// <summary>Stops the parts in their order, and says of each that it is awaited.</summary>
    public async Task StopAsync(StopDeadline deadline)
    {
        // Reads hear of it before leadership is handed over, which takes seconds where nobody can take it.
        _context.Readiness.MarkStopping();
        _app.Lifetime.StopApplication();
        _member?.BeginStop();
        _alerts.Dispose();
        foreach (var (awaited, stop) in Stops())
        {
            deadline.Awaited = awaited;
            await stop();
        }
    }

    private IEnumerable<(string Awaited, Func<Task> Stop)> Stops() =>
        [
            ("The sending of an alert", async () => await (_context.AlertSender?.DisposeAsync() ?? default)),
            ("The hand-over of leadership", () => _member?.HandOverAsync() ?? Task.CompletedTask),
            ("A request, such as a write whose disk does not answer,", () => RookeryServer.StopAsync(_app, _context)),
            ("The note of where the node is, which lies beside its data,", () => _accessTold),
            ("The word to systemd of how the node is", () => _statusTold),
            ("The removal of automatic indexes that nobody asks", () => _retired),
            ("The work of the cluster's members here", async () => await (_member?.DisposeAsync() ?? default)),
            // It reads what the node closes.
            ("The indexing at hand", () => Run(_indexing.Dispose)),
            ("The journal, whose disk does not answer,", () => Run(StopCleanly)),
        ];

    private static Task Run(Action stop)
    {
        stop();
        return Task.CompletedTask;
    }

    private void StopCleanly()
    {
        var node = _context.Node;
        string? before = node.Diagnosis;
        node.StopCleanly();
        if (before is null && node.Diagnosis is { } unnoted)
        {
            _setting.Log.LogWarning(
                LogEvents.StopUnnoted,
                "The clean stop could not be noted, so the next start recovers as from a power cut: {Reason} Every "
                    + "acknowledged write is in the journal.",
                unnoted
            );
        }
    }

    // A directory in use is the better reason when the address is taken too: both name the same other process.
    private static async Task ListenAsync(Func<Task> listen, string where, Task<Node> opening)
    {
        try
        {
            await listen();
        }
        catch (Exception failure) when (failure is IOException or SocketException)
        {
            using var node = await opening;
            throw new ConfigurationException(
                $"Could not listen on {where}: {(failure.InnerException ?? failure).Message}."
            );
        }
    }

    private static async Task StartAsync(ClusterMember? member, ServeConfiguration configuration)
    {
        try
        {
            if (member is not null)
            {
                await member.StartAsync(CancellationToken.None);
            }
        }
        catch (Exception failure) when (failure is IOException or SocketException)
        {
            throw new ConfigurationException(
                $"Could not listen on {configuration.PeerListen} for other members: "
                    + $"{(failure.InnerException ?? failure).Message}."
            );
        }
    }
}
