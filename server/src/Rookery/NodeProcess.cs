using System.Net.Sockets;
using System.Text;
using Microsoft.Extensions.Logging;
using Rookery.Access;
using Rookery.Board;
using Rookery.Cluster;
using Rookery.Cluster.Forming;
using Rookery.Cluster.Identity;
using Rookery.Cluster.Joining;
using Rookery.Cluster.Membership;
using Rookery.Clusters;
using Rookery.Documents.Nodes;
using Rookery.Documents.Recovery;
using Rookery.Indexing.Indexes;
using Rookery.Journal;
using Rookery.Platform;
using Rookery.Server;
using Rookery.Server.Access;
using Rookery.Server.Alerts;
using Rookery.Server.Configuration;
using Rookery.Server.Operations;
using Rookery.Server.Support;
using Rookery.Server.Welcome;
using Rookery.Support;

namespace Rookery;

/// <summary>The life of a node's process: bind memory, listen, open the data, serve, stop on a signal.</summary>
internal static class NodeProcess
{
    private const string Serving = "Serving.";

    private static readonly TimeSpan TellingInterval = TimeSpan.FromSeconds(2);

    private static readonly TimeSpan RetiringInterval = TimeSpan.FromMinutes(10);

    /// <summary>Returns after a clean stop.</summary>
    /// <exception cref="ConfigurationException">The address or a directory cannot be used, or is in use.</exception>
    public static async Task RunAsync(ServeConfiguration configuration, TimeProvider time)
    {
        using var stop = new StopSignal();
        ProcessMemory.Bound(configuration.MemoryBytes);
        LeaveThreadsForOthers();
        var log = new StandardErrorLog(time);
        var disk = new PosixDisk();
        using var systemd = new SystemdNotifier(disk, time);
        SettleRecovery(configuration, disk);

        // A node that others let in while it was served stops for that, joins, and is served as another; the code to
        // claim it by, which may stand on a screen, stays.
        var secrets = AccessSecrets.Create(PresetClaimCode(configuration.ClaimCodeFile));
        log.Recent.Secrets.Hide(secrets.ClaimCode);
        log.Recent.Secrets.Hide(secrets.LocalToken);
        string? webhookToken = Webhook.ReadToken(configuration.Webhook, log.Recent.Secrets);
        while (
            await FormedMember.JoinAsync(disk, configuration, systemd, log, time, stop.Received)
            && await ServeAsync(configuration, secrets, webhookToken, disk, stop, systemd, log, time)
        ) { }
    }

    /// <summary>Serves until the process is to stop, or the node was let into a cluster.</summary>
    /// <returns>Whether it was let in.</returns>
    private static async Task<bool> ServeAsync(
        ServeConfiguration configuration,
        AccessSecrets secrets,
        string? webhookToken,
        PosixDisk disk,
        StopSignal stop,
        SystemdNotifier systemd,
        StandardErrorLog log,
        TimeProvider time
    )
    {
        if (JoinClient.WhyUnfinished(disk, configuration.DataDirectory) is { } unfinished)
        {
            throw new ConfigurationException(unfinished);
        }

        var memory = new MemoryBudget(configuration.MemoryBytes);
        ProcessMemory.Charge(memory);
        string dataDevice = MachineBoard.DeviceOf(disk, configuration.DataDirectory);
        string journalDevice = configuration.JournalDirectory is { } journal
            ? MachineBoard.DeviceOf(disk, journal)
            : dataDevice;
        var io = new IoTimeline(time, journalDevice, dataDevice) { SlowSyncSeen = slow => LogSlowSync(log, slow) };
        var identity = ShownIdentity.TryLoad(disk, configuration);
        var announcement = identity is null
            ? null
            : ServiceAnnouncement.TryCreate(
                disk,
                identity.Ids,
                identity.Name,
                configuration.Listen.Port,
                configuration.PeerListen.Port,
                log
            );
        var formed = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var cluster = new ClusterRoutes(log);
        using var watch = new BoardWatch(
            MachineBoard.Open(disk, time, configuration.DataDirectory, configuration.JournalDirectory),
            time
        );
        var options = OptionsFor(configuration, identity, secrets) with
        {
            AdminRoutes = cluster.All,
            Board = watch,
            Forming = () => cluster.Member?.FormingStatus,
            IsObserved = true,
            ConnectToMember = identity is null ? null : nodeId => cluster.Member?.ClientOf(nodeId),
            MachineNotes = new MachineFiles(disk).Read,
            DebugParts = SystemParts.Of(configuration, time),
        };
        var context = new ServerContext(options, time, log, memory, io) { RecentLog = log.Recent };
        await using var app = RookeryServer.Build(context);

        await using var member = MemberOf(
            configuration,
            identity,
            FormedMember.OptionsFor(configuration, announcement, log.Recent.Secrets, formed),
            context,
            disk,
            watch,
            log,
            time
        );
        cluster.Member = member;

        // Opening the data takes as long as the journal is long; meanwhile the address answers that it does.
        var opening = Task.Run(() => OpenNode(configuration, member, cluster, disk, memory, io, time, log));
        await ListenAsync(() => app.StartAsync(), configuration.Url, opening);
        await using var welcome = configuration.Welcome is { } place ? new WelcomeServer(context, place) : null;
        if (welcome is not null)
        {
            await ListenAsync(welcome.StartAsync, $"{configuration.Welcome} for the welcome page", opening);
        }

        using var alerts = new AlertWatch(context);
        await using var sender = context.AlertSender = configuration.Webhook is { } webhook
            ? new AlertSender(context, webhook, webhookToken)
            : null;
        using var node = await opening;
        await StartAsync(member, configuration);
        using var throttle = new BackgroundThrottle(node, watch, log);
        var indexes = IndexesOf(node, throttle, configuration, disk, memory, io, log, time);
        using var indexing = new IndexingThread(indexes, node.Databases, time);
        throttle.IsIndexing = () => indexing.IsWorking;
        context.Readiness.Opened(node, indexes);
        Announce(node, configuration, systemd, log);
        var told = LocalAccess.TellAsync(disk, configuration, secrets, context, announcement, log);
        var retiring = node.Diagnosis is null ? RetireIndexesAsync(context) : Task.CompletedTask;
        var telling = node.Diagnosis is null
            ? TellStatusAsync(systemd, announcement, member, context)
            : Task.CompletedTask;
        using var idle = new IdleMemory(
            () => context.Metrics.DocumentRequests + node.BackgroundSteps,
            static () => Environment.WorkingSet,
            () => GiveBackMemory(indexes),
            time
        );
        bool isJoining = await Task.WhenAny(stop.Received, formed.Task) == formed.Task;
        using var deadline = new StopDeadline(log, time, Environment.Exit);
        if (!isJoining)
        {
            systemd.Stopping();
        }

        // Reads hear of it before leadership is handed over, which takes seconds where nobody can take it.
        context.Readiness.Stopping();
        app.Lifetime.StopApplication();
        member?.BeginStop();
        alerts.Dispose();
        deadline.Awaited = "The sending of an alert";
        await (sender?.DisposeAsync() ?? ValueTask.CompletedTask);
        if (member is not null)
        {
            deadline.Awaited = "The hand-over of leadership";
            await member.HandOverAsync();
        }

        deadline.Awaited = "A request, such as a write whose disk does not answer,";
        await RookeryServer.StopAsync(app, context);
        deadline.Awaited = "The note of where the node is, which lies beside its data,";
        await told;
        deadline.Awaited = "The word to systemd of how the node is";
        await telling;
        deadline.Awaited = "The removal of automatic indexes that nobody asks";
        await retiring;
        if (member is not null)
        {
            deadline.Awaited = "The work of the cluster's members here";
            await member.DisposeAsync();
        }

        deadline.Awaited = "The indexing at hand";
        indexing.Dispose(); // it reads what the node closes
        deadline.Awaited = "The journal, whose disk does not answer,";
        StopCleanly(node, log);
        return isJoining;
    }

    private static void StopCleanly(Node node, StandardErrorLog log)
    {
        string? before = node.Diagnosis;
        node.StopCleanly();
        if (before is null && node.Diagnosis is { } unnoted)
        {
            log.LogWarning(
                LogEvents.StopUnnoted,
                "The clean stop could not be noted, so the next start recovers as from a power cut: {Reason} Every "
                    + "acknowledged write is in the journal.",
                unnoted
            );
        }
    }

    // Before anything is read of who the node is: the data may be those of a newer program, and a recovery that was cut
    // off may have to be completed first.
    private static void SettleRecovery(ServeConfiguration configuration, PosixDisk disk)
    {
        try
        {
            FormatLevel.Check(disk, configuration.DataDirectory);
            DataRecovery.Settle(
                disk,
                new NodeOptions
                {
                    DataDirectory = configuration.DataDirectory,
                    JournalDirectory = configuration.JournalDirectory,
                }
            );
        }
        catch (Exception wrong) when (wrong is DataDirectoryInUseException or DataFormatException or DiskException)
        {
            throw new ConfigurationException(wrong.Message);
        }
    }

    private static string? PresetClaimCode(string? path)
    {
        if (path is null)
        {
            return null;
        }

        string code = Encoding.UTF8.GetString(ServeCommand.ReadBytes(path, "The file of the claim code"));
        return ClaimCode.WhyUnusable(code) is { } why
            ? throw new ConfigurationException($"The claim code in {path} {why}.")
            : code.Trim();
    }

    private static void GiveBackMemory(IndexHost indexes)
    {
        indexes.TrimMemory();
        LargeBuffers.Trim();
        ProcessMemory.GiveBack();
    }

    // A lone writer waits for the disk on its request's thread, and so may a reader; the pool adds no thread at once
    // beyond its minimum, one a core.
    private static void LeaveThreadsForOthers()
    {
        ThreadPool.GetMinThreads(out int workers, out int completions);
        ThreadPool.SetMinThreads(workers + 2, completions);
    }

    private static ServerOptions OptionsFor(
        ServeConfiguration configuration,
        ShownIdentity? identity,
        AccessSecrets secrets
    ) =>
        new()
        {
            Listen = configuration.Listen,
            IsSecure = configuration.IsSecure,
            NodeTag = identity?.Tag ?? "A",
            NodeName = identity?.Name ?? string.Empty,
            ClusterName = identity?.ClusterName ?? string.Empty,
            Identity = identity is null ? null : () => identity.Current,
            MachineMetrics = configuration.MachineMetrics,
            Settings = configuration.Shown,
            LocalKeyHash = configuration.IsSecure ? secrets.LocalTokenHash : default,
            ClaimCode = configuration.IsSecure ? secrets.ClaimCode : null,
            BatchBytesLimit = (int)Math.Min(32 << 20, configuration.MemoryBytes / 8),
            QueryBytesLimit = (int)Math.Min(4 << 20, configuration.MemoryBytes / 64),
            // A connection that is being served pins a few 4 KiB pages and its buffers: about 48 KiB; they may take a
            // quarter of the budget.
            ConnectionsLimit = (int)Math.Clamp(configuration.MemoryBytes / 4 / (48 << 10), 256, 16_384),
        };

    /// <summary>
    /// The part of a node that belongs to a cluster, by the identity beside its data; null for a node alone.
    /// </summary>
    private static ClusterMember? MemberOf(
        ServeConfiguration configuration,
        ShownIdentity? identity,
        FormingOptions? forming,
        ServerContext context,
        PosixDisk disk,
        BoardWatch watch,
        StandardErrorLog log,
        TimeProvider time
    )
    {
        if (configuration.Peers.FirstOrDefault(static place => !MemberAddress.IsValid(place)) is { } wrongPlace)
        {
            throw new ConfigurationException(
                $"\"{wrongPlace}\" is no address at which another member could be. {MemberAddress.Rule}"
            );
        }

        try
        {
            return ClusterMember.TryLoad(
                disk,
                new ClusterMemberOptions
                {
                    DataDirectory = configuration.DataDirectory,
                    Listen = configuration.PeerListen,
                    Addresses = () => PeerAddresses.Of(configuration.PeerListen),
                    ClientUrls = () =>
                        [
                            .. PeerAddresses
                                .Of(configuration.Listen)
                                .Select(address => $"{(configuration.IsSecure ? "https" : "http")}://{address}"),
                        ],
                    PeerPlaces = configuration.Peers,
                    Browse = AvahiBrowse.FindNodesAsync,
                    Forming = forming,
                    PublicUrl = configuration.PublicUrl,
                    IsClockSynchronised = KernelClock.IsSynchronised,
                    BoardPenalty = () => (int)watch.Condition,
                    Memory = context.Memory,
                    AnswerMember = context.AnswerMemberAsync,
                    IdentityChanged = changed => identity?.Show(changed),
                    Log = sentence => log.LogWarning(LogEvents.ClusterTrouble, "{Sentence}", sentence),
                    Note = sentence => log.LogInformation(LogEvents.ClusterNote, "{Sentence}", sentence),
                },
                time
            );
        }
        catch (IdentityException wrong)
        {
            throw new ConfigurationException(wrong.Message);
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

    private static RaftConsensus OpenAlone(NodeStore store, StandardErrorLog log) =>
        RaftConsensus.Open(
            store,
            new ConsensusOptions
            {
                IsClockSynchronised = KernelClock.IsSynchronised,
                TroubleFound = trouble => log.LogWarning(LogEvents.ClusterTrouble, "{Trouble}", trouble),
            }
        );

    private static Node OpenNode(
        ServeConfiguration configuration,
        ClusterMember? member,
        ClusterRoutes cluster,
        PosixDisk disk,
        MemoryBudget memory,
        IoTimeline io,
        TimeProvider time,
        StandardErrorLog log
    )
    {
        try
        {
            var options = new NodeOptions
            {
                DataDirectory = configuration.DataDirectory,
                JournalDirectory = configuration.JournalDirectory,
                TroubleFound = trouble => log.LogError(LogEvents.StorageTrouble, "{Trouble}", trouble),
            };
            return !Node.IsDataDirectory(disk, options.DataDirectory) && Node.WhyNotNew(disk, options) is { } foreign
                    ? throw new ConfigurationException(foreign)
                : member is not null
                    ? Node.Open(member.Configure(options), disk, memory, io, time, member.OpenConsensus)
                : Node.Open(
                    options,
                    disk,
                    memory,
                    io,
                    time,
                    store => cluster.BeAlone(OpenAlone(store, log), store.ClusterRecords)
                );
        }
        catch (Exception wrong) when (wrong is DataDirectoryInUseException or ForeignJournalException)
        {
            throw new ConfigurationException(wrong.Message);
        }
        catch (DiskException refused) when (refused.Error is Errno.NotDirectory or Errno.AccessDenied or Errno.Exists)
        {
            throw new ConfigurationException(refused.Message);
        }
    }

    private static IndexHost IndexesOf(
        Node node,
        BackgroundThrottle throttle,
        ServeConfiguration configuration,
        PosixDisk disk,
        MemoryBudget memory,
        IoTimeline io,
        StandardErrorLog log,
        TimeProvider time
    ) =>
        IndexHost.Open(
            node.Databases,
            disk,
            new IndexHostOptions
            {
                DataDirectory = configuration.DataDirectory,
                ShareOfCore = () => throttle.IndexingShare,
                Foreground = new ForegroundDelay(time),
                HasRoom = () => node.HasRoom,
                TroubleFound = trouble => log.LogWarning(LogEvents.IndexTrouble, "{Trouble}", trouble),
                Memory = memory,
                Io = io,
                Feeder = IndexFeederOptions.For(memory.TotalBytes),
            },
            time
        );

    private static void LogSlowSync(StandardErrorLog log, SlowSync slow)
    {
        string before = string.Join(", ", slow.Before.Select(sync => sync.DurationMicroseconds / 1000));
        log.LogWarning(
            LogEvents.SlowSync,
            "A sync of the journal on {Device} took {Milliseconds} ms; those before it took {Before} ms. A "
                + "card that stalls like this is worn or shared.",
            slow.Device,
            slow.Sync.DurationMicroseconds / 1000,
            before.Length > 0 ? before : "no"
        );
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

    private static void Announce(
        Node node,
        ServeConfiguration configuration,
        SystemdNotifier systemd,
        StandardErrorLog log
    )
    {
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

    private static async Task RetireIndexesAsync(ServerContext context)
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
    private static async Task TellStatusAsync(
        SystemdNotifier systemd,
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
                systemd.Tell(
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
