using Microsoft.Extensions.Logging;
using Rookery.Board;
using Rookery.Cluster;
using Rookery.Cluster.Forming;
using Rookery.Cluster.Identity;
using Rookery.Cluster.Joining;
using Rookery.Cluster.Membership;
using Rookery.Documents.Nodes;
using Rookery.Hosting.Logging;
using Rookery.Hosting.Machine;
using Rookery.Indexing.Indexes;
using Rookery.Indexing.Scheduling;
using Rookery.Journal;
using Rookery.Platform;
using Rookery.Redis;
using Rookery.Server;
using Rookery.Server.Configuration;
using Rookery.Server.Operations;
using Rookery.Server.Support;

namespace Rookery.Hosting;

/// <summary>Creates the parts of a node from its configuration.</summary>
internal static class NodeComposition
{
    /// <summary>Creates the watch of the machine's sensors.</summary>
    public static BoardWatch CreateWatch(NodeSetting setting) =>
        new(
            MachineBoard.Open(
                setting.Disk,
                setting.Time,
                setting.Configuration.DataDirectory,
                setting.Configuration.JournalDirectory
            ),
            setting.Time
        );

    /// <summary>
    /// Creates the state that all routes share: the memory budget, the timeline of disk work, the options.
    /// </summary>
    public static ServerContext CreateContext(
        NodeSetting setting,
        ShownIdentity? identity,
        ClusterRoutes cluster,
        BoardWatch watch
    )
    {
        var configuration = setting.Configuration;
        var memory = new MemoryBudget(configuration.MemoryBytes);
        HeapCharge.Follow(memory);
        string dataDevice = MachineBoard.DeviceOf(setting.Disk, configuration.DataDirectory);
        string journalDevice = configuration.JournalDirectory is { } journal
            ? MachineBoard.DeviceOf(setting.Disk, journal)
            : dataDevice;
        var io = new IoTimeline(setting.Time, journalDevice, dataDevice)
        {
            SlowSyncSeen = slow => LogSlowSync(setting.Log, slow),
        };
        var options = OptionsFor(setting, identity, cluster, watch);
        var context = new ServerContext(options, setting.Time, setting.Log, memory, io)
        {
            RecentLog = setting.Log.Recent,
        };
        if (configuration.Redis is { } redis)
        {
            context.Protocols.Add(new RedisProtocol(context, redis));
        }

        return context;
    }

    /// <summary>
    /// Loads the node's membership of its cluster, from the identity beside its data; returns null for a node without a
    /// cluster.
    /// </summary>
    public static ClusterMember? LoadMember(
        NodeSetting setting,
        ShownIdentity? identity,
        FormingOptions? forming,
        ServerContext context,
        BoardWatch watch
    )
    {
        var (configuration, log) = (setting.Configuration, setting.Log);
        if (configuration.Peers.FirstOrDefault(static address => !MemberAddress.IsValid(address)) is { } invalidAddress)
        {
            throw new ConfigurationException(
                $"\"{invalidAddress}\" is not an address of a member. {MemberAddress.Rule}"
            );
        }

        if (configuration.PublicUrl is { } url && !MemberAddress.IsClientUrl(url))
        {
            // Such a URL is allowed, because a node without other members does hand it to clients.
            log.LogWarning(
                LogEvents.ClusterTrouble,
                "The URL by which clients reach this node, {Url}, has a host that is not a host name or IP address, so "
                    + "other members do not hand it to clients.",
                url
            );
        }

        string scheme = configuration.IsSecure ? "https" : "http";
        try
        {
            return ClusterMember.TryLoad(
                setting.Disk,
                new ClusterMemberOptions
                {
                    DataDirectory = configuration.DataDirectory,
                    Listen = configuration.PeerListen,
                    Addresses = () => PeerAddresses.Of(configuration.PeerListen),
                    ClientUrls = () =>
                        [.. PeerAddresses.Of(configuration.Listen).Select(address => $"{scheme}://{address}")],
                    ConfiguredPeers = configuration.Peers,
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
                setting.Time
            );
        }
        catch (IdentityException unusable)
        {
            throw new ConfigurationException(unusable.Message);
        }
    }

    /// <summary>Opens the data.</summary>
    /// <exception cref="ConfigurationException">Another process uses the directory, or it is not a data directory of a
    /// node.</exception>
    public static Node OpenNode(
        NodeSetting setting,
        ClusterMember? member,
        ClusterRoutes cluster,
        ServerContext context
    )
    {
        var (configuration, disk, time) = (setting.Configuration, setting.Disk, setting.Time);
        try
        {
            var options = new NodeOptions
            {
                DataDirectory = configuration.DataDirectory,
                JournalDirectory = configuration.JournalDirectory,
                TroubleFound = trouble => setting.Log.LogError(LogEvents.StorageTrouble, "{Trouble}", trouble),
            };
            if (!Node.IsDataDirectory(disk, options.DataDirectory) && Node.WhyNotNew(disk, options) is { } foreign)
            {
                throw new ConfigurationException(foreign);
            }

            if (member is not null)
            {
                return Node.Open(
                    member.Configure(options),
                    disk,
                    context.Memory,
                    context.Io,
                    time,
                    member.OpenConsensus
                );
            }

            return Node.Open(
                options,
                disk,
                context.Memory,
                context.Io,
                time,
                store => cluster.SetSingleNode(OpenSingleNodeConsensus(store, setting.Log), store.ClusterRecords)
            );
        }
        catch (Exception unusable) when (unusable is DataDirectoryInUseException or ForeignJournalException)
        {
            throw new ConfigurationException(unusable.Message);
        }
        catch (DiskException refused) when (refused.Error is Errno.NotDirectory or Errno.AccessDenied or Errno.Exists)
        {
            throw new ConfigurationException(refused.Message);
        }
    }

    /// <summary>Opens the indexes of the node.</summary>
    public static IndexHost OpenIndexes(
        NodeSetting setting,
        Node node,
        BackgroundThrottle throttle,
        ServerContext context
    ) =>
        IndexHost.Open(
            node.Databases,
            setting.Disk,
            new IndexHostOptions
            {
                DataDirectory = setting.Configuration.DataDirectory,
                ShareOfCore = () => throttle.IndexingShare,
                Foreground = new ForegroundDelay(setting.Time),
                HasRoom = () => node.HasRoom,
                HasReapplied = node.HasReapplied,
                TroubleFound = trouble => setting.Log.LogWarning(LogEvents.IndexTrouble, "{Trouble}", trouble),
                Memory = context.Memory,
                Io = context.Io,
                Feeder = IndexFeederOptions.For(context.Memory.TotalBytes),
            },
            setting.Time
        );

    /// <summary>Creates the part that returns memory to the system after the node has been idle for a while.</summary>
    public static IdleMemory CreateIdleMemory(
        NodeSetting setting,
        ServerContext context,
        Node node,
        IndexHost indexes
    ) =>
        new(
            () => context.Metrics.DocumentRequests + node.BackgroundSteps,
            static () => Environment.WorkingSet,
            () => ReleaseMemory(indexes),
            setting.Time
        );

    private static ServerOptions OptionsFor(
        NodeSetting setting,
        ShownIdentity? identity,
        ClusterRoutes cluster,
        BoardWatch watch
    )
    {
        var (configuration, secrets) = (setting.Configuration, setting.Secrets);
        return new ServerOptions
        {
            Listen = configuration.Listen,
            TcpListen = configuration.TcpListen,
            IsSecure = configuration.IsSecure,
            NodeTag = identity?.Tag ?? "A",
            NodeName = identity?.Name ?? string.Empty,
            ClusterName = identity?.ClusterName ?? string.Empty,
            Identity = identity is null ? null : () => identity.Current,
            MachineMetrics = configuration.MachineMetrics,
            Settings = configuration.Shown,
            LocalKeyHash = configuration.IsSecure ? secrets.LocalTokenHash : default,
            ClaimCode = configuration.IsSecure ? secrets.ClaimCode : null,
            // Several batches and many queries must fit into the memory budget at once.
            BatchBytesLimit = (int)Math.Min(32 << 20, configuration.MemoryBytes / 8),
            QueryBytesLimit = (int)Math.Min(4 << 20, configuration.MemoryBytes / 64),
            // Connections may take a quarter of the memory budget. A connection whose client does not read pins 64 KiB
            // of its response, and about as much in buffers.
            ConnectionsLimit = (int)Math.Clamp(configuration.MemoryBytes / 4 / (128 << 10), 256, 16_384),
            AdminRoutes = cluster.All,
            Board = watch,
            Forming = () => cluster.Member?.FormingStatus,
            IsObserved = true,
            ConnectToMember = identity is null ? null : nodeId => cluster.Member?.ClientOf(nodeId),
            MachineNotes = new MachineFiles(setting.Disk).Read,
            SettingsNotes = new SettingsNotes(setting.Disk).Read,
            DebugParts = setting.DebugParts,
        };
    }

    private static RaftConsensus OpenSingleNodeConsensus(NodeStore store, StandardErrorLog log) =>
        RaftConsensus.Open(
            store,
            new ConsensusOptions
            {
                IsClockSynchronised = KernelClock.IsSynchronised,
                TroubleFound = trouble => log.LogWarning(LogEvents.ClusterTrouble, "{Trouble}", trouble),
            }
        );

    private static void ReleaseMemory(IndexHost indexes)
    {
        indexes.TrimMemory();
        LargeBuffers.Trim();
        ProcessMemory.ReleaseUnused();
    }

    private static void LogSlowSync(StandardErrorLog log, SlowSync slow)
    {
        string before = string.Join(", ", slow.Before.Select(sync => sync.DurationMicroseconds / 1000));
        log.LogWarning(
            LogEvents.SlowSync,
            "A sync of the journal on {Device} took {Milliseconds} ms. Syncs before it, in ms: {Before}. A "
                + "card that stalls like this is worn, or other programs use it heavily.",
            slow.Device,
            slow.Sync.DurationMicroseconds / 1000,
            before.Length > 0 ? before : "none"
        );
    }
}
