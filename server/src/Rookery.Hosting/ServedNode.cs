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

/// <summary>A node that serves. Starts its parts in order and stops them in order.</summary>
internal sealed class ServedNode
{
    private readonly NodeSetting _setting;
    private readonly WebApplication _app;
    private readonly ServerContext _context;
    private readonly ClusterMember? _member;
    private readonly AlertWatch _alerts;
    private readonly IndexingThread _indexing;

    // The background work of LocalAccess and NodeStatus, which ends when the node stops.
    private readonly Task _accessAnnouncement;
    private readonly ITimer? _statusUpdates;
    private readonly Task _indexRetirement;

    /// <summary>Starts the background tasks of a node whose parts have started.</summary>
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
        _setting = setting;
        _app = app;
        _context = context;
        _member = member;
        _alerts = alerts;
        _indexing = indexing;
        bool isHealthy = context.Node.Diagnosis is null;
        _accessAnnouncement = LocalAccess.AnnounceAsync(
            setting.Disk,
            setting.Configuration,
            setting.Secrets,
            context,
            announcement,
            setting.Log
        );
        _indexRetirement = isHealthy ? NodeStatus.RetireIndexesAsync(context) : Task.CompletedTask;
        _statusUpdates = isHealthy ? NodeStatus.BeginUpdates(setting, announcement, member, context) : null;
    }

    /// <summary>Starts the parts of the node in order.</summary>
    /// <param name="setting">The settings of the process.</param>
    /// <param name="parts">Receives each started part, so that all of them are disposed even if a later one cannot
    /// start.</param>
    /// <param name="admitted">Completes when other nodes have admitted this one to their cluster.</param>
    /// <exception cref="ConfigurationException">An address or directory cannot be used, or another process uses
    /// it.</exception>
    public static async Task<ServedNode> StartAsync(NodeSetting setting, NodeParts parts, TaskCompletionSource admitted)
    {
        var configuration = setting.Configuration;
        if (JoinClient.WhyUnfinished(setting.Disk, configuration.DataDirectory) is { } unfinished)
        {
            throw new ConfigurationException(unfinished);
        }

        var identity = ShownIdentity.TryLoad(setting.Disk, configuration);
        var announcement = ServiceAnnouncement.TryCreate(setting, identity);
        var forming = FormedMember.OptionsFor(configuration, announcement, setting.Log.Recent.Secrets, admitted);
        var cluster = new ClusterRoutes(setting.Log);
        var watch = parts.Add(NodeComposition.CreateWatch(setting));
        var context = NodeComposition.CreateContext(setting, identity, cluster, watch);
        var app = parts.AddAsyncDisposable(RookeryServer.Build(context));
        var member = NodeComposition.LoadMember(setting, identity, forming, context, watch);
        cluster.Member = member is null ? null : parts.AddAsyncDisposable(member);

        // Listens before the data are opened, so that a start that cannot listen creates no data directory. A long
        // journal makes opening slow; meanwhile the node answers requests with the reason that it does not serve yet.
        await ListenAsync(() => app.StartAsync(), configuration.Url, setting);
        if (configuration.Welcome is { } welcomeAddress)
        {
            var welcome = parts.AddAsyncDisposable(new WelcomeServer(context, welcomeAddress));
            await ListenAsync(welcome.StartAsync, $"{welcomeAddress} for the welcome page", setting);
        }

        var opening = Task.Run(() => NodeComposition.OpenNode(setting, member, cluster, context));
        var alerts = parts.Add(new AlertWatch(context));
        context.AlertSender = parts.AddAsyncDisposable(
            new AlertSender(context, configuration.Webhook, setting.WebhookToken)
        );

        var node = parts.Add(await opening);
        await StartAsync(member, configuration);
        var throttle = parts.Add(new BackgroundThrottle(node, watch, setting.Log));
        var indexes = NodeComposition.OpenIndexes(setting, node, throttle, context);
        var indexing = parts.Add(new IndexingThread(indexes, node.Databases, setting.Time));
        throttle.IsIndexing = () => indexing.IsWorking;
        context.Readiness.MarkOpen(node, indexes);
        NodeStatus.Announce(setting, node);
        var served = new ServedNode(setting, app, context, member, alerts, indexing, announcement);
        parts.Add(NodeComposition.CreateIdleMemory(setting, context, node, indexes));
        return served;
    }

    /// <summary>Stops the parts in order. Sets the name of each part in the deadline while it is awaited.</summary>
    public async Task StopAsync(StopDeadline deadline)
    {
        // Refuses reads before leadership is handed over: the handover takes seconds if no other member can become
        // leader.
        _context.Readiness.MarkStopping();
        _app.Lifetime.StopApplication();
        _member?.BeginStop();
        _alerts.Dispose();
        foreach (var (awaited, stop) in ListStops())
        {
            deadline.Awaited = awaited;
            await stop();
        }
    }

    // Returns the steps of a stop in order, each with the subject for the deadline's sentence.
    private IEnumerable<(string Awaited, Func<Task> Stop)> ListStops() =>
        [
            ("The sending of an alert", async () => await (_context.AlertSender?.DisposeAsync() ?? default)),
            ("The hand-over of leadership", () => _member?.TransferLeadershipAsync() ?? Task.CompletedTask),
            ("A request, such as a write whose disk does not answer,", () => RookeryServer.StopAsync(_app, _context)),
            ("The writing of the file local-access beside the data", () => _accessAnnouncement),
            ("The status report to systemd", async () => await (_statusUpdates?.DisposeAsync() ?? default)),
            ("The removal of unused automatic indexes", () => _indexRetirement),
            ("The node's work as a member of its cluster", async () => await (_member?.DisposeAsync() ?? default)),
            // Indexing must end first, because it reads the store that the node closes.
            ("The current step of indexing", () => Run(_indexing.Dispose)),
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
        if (before is null && node.Diagnosis is { } failure)
        {
            _setting.Log.LogWarning(
                LogEvents.StopUnnoted,
                "The clean stop could not be recorded, so the next start recovers as from a power cut: {Reason} Every "
                    + "acknowledged write is in the journal.",
                failure
            );
        }
    }

    // If another process of the same node has the address, it also holds the directory. Then the held directory is
    // reported, because it is the better reason.
    private static async Task ListenAsync(Func<Task> listen, string address, NodeSetting setting)
    {
        try
        {
            await listen();
        }
        catch (Exception failure) when (failure is IOException or SocketException)
        {
            if (Node.IsDataDirectory(setting.Disk, setting.Configuration.DataDirectory))
            {
                StoppedDirectory.Hold(setting.Disk, setting.Configuration.DataDirectory).Dispose();
            }

            throw new ConfigurationException(
                $"Could not listen on {address}: {(failure.InnerException ?? failure).Message}."
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
