using System.Net;
using System.Text.Json;
using DotNext.Net.Cluster.Consensus.Raft;
using DotNext.Net.Cluster.Consensus.Raft.Membership;
using DotNext.Net.Cluster.Consensus.Raft.StateMachine;

namespace Rookery.StockRaft;

/// <summary>
/// A member of a cluster on the unchanged DotNext.Net.Cluster: its TCP transport, its <see cref="WriteAheadLog"/> with
/// the default options, and a fixed list of members.
/// </summary>
internal sealed class StockMember : IAsyncDisposable
{
    private readonly DocumentMap _documents;
    private readonly WriteAheadLog _log;
    private readonly RaftCluster _cluster;

    private StockMember(DocumentMap documents, WriteAheadLog log, RaftCluster cluster) =>
        (_documents, _log, _cluster) = (documents, log, cluster);

    /// <summary>Opens the log in a directory, applies its entries and joins the cluster.</summary>
    /// <param name="directory">The directory of the log; created if it is missing.</param>
    /// <param name="port">The port of 127.0.0.1 where this member listens for other members.</param>
    /// <param name="ports">The ports of all members, this one included.</param>
    /// <param name="token">Ends the start.</param>
    public static async Task<StockMember> StartAsync(
        string directory,
        int port,
        IEnumerable<int> ports,
        CancellationToken token
    )
    {
        var applied = new DocumentMap(new DirectoryInfo(Path.Combine(directory, "snapshots")));
        await applied.RestoreAsync(token);
        var stockLog = new WriteAheadLog(new() { Location = Path.Combine(directory, "log") }, applied);
        var configuration = new RaftCluster.TcpConfiguration(new IPEndPoint(IPAddress.Loopback, port))
        {
            RequestTimeout = TimeSpan.FromSeconds(1),
            LowerElectionTimeout = 600,
            UpperElectionTimeout = 1_200,
            ColdStart = false,
            ConfigurationStorage = null!, // The library then creates a configuration in memory.
        };
        AddMembers((InMemoryClusterConfigurationStorage<EndPoint>)configuration.ConfigurationStorage, ports);
        var member = new StockMember(applied, stockLog, new RaftCluster(configuration) { AuditTrail = stockLog });
        await stockLog.InitializeAsync(token);
        await member._cluster.StartAsync(token);
        return member;
    }

    /// <summary>Whether this member is the leader.</summary>
    public bool Leads => !_cluster.LeadershipToken.IsCancellationRequested;

    /// <summary>
    /// Stores documents, given as a JSON object by id. Returns when the library reports them committed.
    /// </summary>
    /// <exception cref="InvalidOperationException">This member is not the leader.</exception>
    public ValueTask StoreAsync(IReadOnlyDictionary<string, JsonElement> written, CancellationToken token) =>
        _cluster.ReplicateAsync(JsonSerializer.SerializeToUtf8Bytes(written), context: null, token);

    /// <summary>Returns documents after the library's read barrier; null for an id that has none.</summary>
    public async Task<JsonElement?[]> LoadAsync(IEnumerable<string> ids, CancellationToken token)
    {
        await _cluster.ApplyReadBarrierAsync(token);
        return [.. ids.Select(_documents.Find)];
    }

    public async ValueTask DisposeAsync()
    {
        await _cluster.StopAsync(CancellationToken.None);
        await _cluster.DisposeAsync();
        await _log.DisposeAsync();
        await _documents.DisposeAsync();
    }

    private static void AddMembers(InMemoryClusterConfigurationStorage<EndPoint> storage, IEnumerable<int> ports)
    {
        var builder = storage.CreateInitialConfigurationBuilder();
        foreach (int port in ports)
        {
            builder.Add(new IPEndPoint(IPAddress.Loopback, port));
        }

        builder.Build();
    }
}
