using System.Collections.Concurrent;
using System.Globalization;
using System.Text;
using Rookery.Cluster.Tests.Simulation;
using Rookery.Cluster.Tests.Transfer;
using Rookery.Cluster.Transfer;
using Rookery.Documents.Nodes;
using Rookery.Documents.Transfer;
using Rookery.Platform;
using Rookery.Raft;
using Rookery.Simulation;

namespace Rookery.Cluster.Tests.Stress;

/// <summary>
/// A member as in the program: node, consensus, commit threads, maintenance and timers on the machine's clock, on a
/// slow disk in memory. Tables, caches and messages are so small that every limit is reached quickly.
/// </summary>
internal sealed class StressMember
{
    private readonly StressNetwork _network;
    private readonly NodeIds _ids;
    private readonly bool _mayBegin;
    private readonly MemoryBudget _memory = new(32 << 20);
    private SimulatedDisk _disk = new("/data");
    private StressPeers? _peers;
    private NodeStore? _store;
    private Node? _node;
    private StateServer? _states;
    private long _installedBefore;

    public StressMember(StressNetwork network, int number)
    {
        _network = network;
        _mayBegin = number == 0;
        Name = ((char)('A' + number)).ToString();
        _ids = new NodeIds(new string((char)('a' + number), 22), new string('c', 22));
        Id = Members.IdOf(_ids.NodeId);
        Disk = new SlowDisk(_disk);
    }

    /// <summary>A for the first member, B for the second.</summary>
    public string Name { get; }

    public NodeId Id { get; }

    public SlowDisk Disk { get; private set; }

    /// <summary>The store of the last start.</summary>
    public NodeStore Store => _store!;

    /// <summary>The consensus; null while the member is off.</summary>
    public RaftConsensus? Consensus { get; private set; }

    /// <summary>The messages that it reported to the operator.</summary>
    public ConcurrentQueue<string> Troubles { get; } = new();

    /// <summary>The number of installed snapshots, full or changes only.</summary>
    public long StatesInstalled => _installedBefore + (Consensus is null ? 0 : InstalledBy(Store));

    public override string ToString() => Name;

    /// <summary>Starts it from its disk.</summary>
    public async Task OpenAsync()
    {
        _peers = new StressPeers(Id, _network);
        RaftConsensus? opened = null;
        var options = new NodeOptions
        {
            DataDirectory = "/data/node",
            NewIds = _ids,
            SegmentBytes = 64 << 10,
            MemtableBytes = 48 << 10,
            RunBytes = 32 << 10,
            Reserve = new ReserveRule(Bytes: 0, Fraction: 0),
            HasPeers = true,
            TroubleFound = Troubles.Enqueue,
        };
        _node = Node.Open(
            options,
            Disk,
            _memory,
            SilentRecorder.Instance,
            TimeProvider.System,
            store =>
            {
                _store = store;
                return opened = RaftConsensus.Open(
                    store,
                    new ConsensusOptions
                    {
                        Network = _peers,
                        MayFoundCluster = _mayBegin,
                        Core = new CoreOptions
                        {
                            FirstElectionTimeoutMicroseconds = 500_000,
                            ShortestElectionTimeoutMicroseconds = 500_000,
                            LongestElectionTimeoutMicroseconds = 2_000_000,
                            CautionMicroseconds = 500_000,
                            MaxMessageBytes = 8 << 10,
                        },
                        CachedBytes = 8 << 10,
                        RetainedJournalBytes = 128 << 10,
                        TroubleFound = Troubles.Enqueue,
                        EndProcess = _network.Failures.Enqueue,
                        FetchState = FetchStateAsync,
                    }
                );
            }
        );
        Assert.True(_node.Diagnosis is null, $"{this} did not open: {_node.Diagnosis}");
        _states = await StateServer.StartAsync(
            new StateRoutes(Store.Offers, opened!.OfferStateAsync, TimeProvider.System)
        );
        Consensus = opened;
        _network.Up[Id] = this;
    }

    /// <summary>
    /// Stops it, cleanly or followed by a loss of power. The other members' connections to it end shortly after.
    /// </summary>
    public async Task CloseAsync(bool losesPower)
    {
        if (losesPower)
        {
            _peers!.IsDead = true;
        }

        await Task.Run(losesPower ? _node!.Dispose : _node!.StopCleanly);
        _peers!.IsDead = true;
        _network.Up.TryRemove(Id, out _);
        _network.Break(Id);
        _installedBefore += InstalledBy(_store!);
        Consensus = null;
        await _states!.DisposeAsync();
        if (losesPower)
        {
            _disk = _disk.AfterPowerLoss(Random.Shared.NextInt64());
            Disk = new SlowDisk(_disk) { MaxSyncMilliseconds = Disk.MaxSyncMilliseconds };
        }
    }

    /// <summary>
    /// Returns the value and etag that a local read finds; zeros when the document does not exist. It never returns
    /// null.
    /// </summary>
    public (long Value, long Etag)? Peek(string id)
    {
        if (!Store.Databases.TryGet("db", out var database))
        {
            return (0, 0);
        }

        using var reader = database.OpenReader();
        if (!reader.TryGetDocument(Encoding.UTF8.GetBytes(id), out var document))
        {
            return (0, 0);
        }

        using (document)
        {
            string body = Encoding.UTF8.GetString(document.View.Body);
            int at = body.IndexOf("\"n\":", StringComparison.Ordinal) + 4;
            int end = body.IndexOfAny([',', '}'], at);
            return (
                long.Parse(body.AsSpan(at, (end < 0 ? body.Length : end) - at), CultureInfo.InvariantCulture),
                document.Etag
            );
        }
    }

    /// <summary>Describes the member, even while another thread holds the consensus lock for ever.</summary>
    public async Task<string> DescribeAsync()
    {
        if (Consensus is not { } consensus)
        {
            return $"{this}: off";
        }

        var state = Task.Run(consensus.ReadState);
        string stateText =
            await Task.WhenAny(state, Task.Delay(2_000)) == state ? (await state).ToString() : "THE LOCK IS HELD";
        var text = new StringBuilder();
        text.Append(
            CultureInfo.InvariantCulture,
            $"{this}: {stateText}; refusal {consensus.Refusal?.Message ?? "none"}; "
                + $"queue {consensus.Proposals.Queue.Count}, has work {consensus.Writes.HasWork}, "
                + $"has to apply {consensus.Applies.HasToApply}, "
        );
        text.Append(
            CultureInfo.InvariantCulture,
            $"waits for a flush {consensus.Applies.MayWaitForFlush}; applied {Store.AppliedIndex}, durable "
                + $"{Store.DurablePosition.Index}, journal {Store.Journal.FirstIndex}..{Store.Journal.LastIndex}; "
        );
        text.Append(
            CultureInfo.InvariantCulture,
            $"background steps {_node!.BackgroundSteps}; said: {string.Join(" | ", Troubles.TakeLast(4))}"
        );
        return text.ToString();
    }

    // The number of snapshots that a store has installed since it was opened.
    private static long InstalledBy(NodeStore store) =>
        Enum.GetValues<StateTransferKind>().Sum(store.Transfers.InstalledOf);

    private async Task<FetchedState> FetchStateAsync(NodeId from, CancellationToken cancellationToken)
    {
        if (_network.Between(Id, from).IsCut || !_network.Up.TryGetValue(from, out var member))
        {
            throw new StateTransferException("It is not reached.");
        }

        return await new StateFetch(member._states!.Client, Store.Inbox, TimeProvider.System)
        {
            Since = () => Store.Installation.ChangesNeededSince,
            Through = () => Store.AppliedIndex,
            DelayBetweenRequests = TimeSpan.FromMilliseconds(20),
            DelayPerBreak = TimeSpan.FromMilliseconds(20),
        }.RunAsync(cancellationToken);
    }
}
