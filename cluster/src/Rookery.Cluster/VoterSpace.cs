using System.Globalization;
using Rookery.Cluster.Membership;
using Rookery.Documents.Consensus;
using Rookery.Documents.Nodes;
using Rookery.Platform;
using Rookery.Raft;

namespace Rookery.Cluster;

/// <summary>
/// The free disk space of the voters. A voter has room if its free space exceeds its reserve. The leader refuses
/// writes that grow the data unless a majority of the voters has room.
/// </summary>
/// <remarks>
/// The fields are guarded by the lock of <see cref="RaftHost"/>; <see cref="Capacity"/> is read without it.
/// </remarks>
internal sealed class VoterSpace(RaftHost host, NodeStore store, MemberRoster roster)
{
    // A leader without space tries to transfer leadership at once, then once a minute, because each attempt pauses
    // proposals.
    private const int MeasurementsBetweenTransfers = 60;

    private ClusterCapacity? _capacity;
    private int _measurementsUntilTransfer;

    /// <summary>
    /// The voter that limits the capacity of the cluster; null unless this node leads several voters and reaches a
    /// majority of them.
    /// </summary>
    public ClusterCapacity? Capacity => Volatile.Read(ref _capacity);

    /// <summary>
    /// Returns why a command that grows the data is refused now; null when it is not. With several voters,
    /// <see cref="Capacity"/> decides; with one, this node's space. A new leader refuses nothing until it first
    /// measures, within a second.
    /// </summary>
    public Rejection? CheckGrowth(ReadOnlySpan<byte> command, Configuration configuration)
    {
        if (Capacity?.Refusal is { } reason)
        {
            return Growth.Check(command, reason, store.Databases);
        }

        if (configuration.Voters.Length > 1)
        {
            return null;
        }

        return store.Space.CheckGrowth(command, store.Databases);
    }

    /// <summary>Determines which voter limits the capacity. Called once a second, under the lock.</summary>
    public void Measure()
    {
        var configuration = host.Core.Configuration;
        if (host.IsHalted || host.Core.Role != Role.Leader || configuration.Voters.Length < 2)
        {
            Volatile.Write(ref _capacity, null);
            return;
        }

        // Free bytes minus the reserve, so negative while the reserve is in use. Each voter reports this of itself.
        long ownSpareBytes = store.Space.SpareBytes;
        var voters = new List<(long SpareBytes, NodeId Node)>(configuration.Voters.Length);
        var roomiest = NodeId.None;
        long roomiestSpareBytes = 0;
        foreach (var peer in host.Core.ReadPeers())
        {
            if (configuration.IsVoter(peer.Node) && peer is { IsReachable: true, SpareBytes: { } spare })
            {
                voters.Add((spare, peer.Node));
                bool hasEveryCommittedEntry = peer.Match >= host.Core.CommitIndex;
                if (hasEveryCommittedEntry && spare >= roomiestSpareBytes)
                {
                    roomiest = peer.Node;
                    roomiestSpareBytes = spare;
                }
            }
        }

        TransferLeadershipIfFull(ownSpareBytes, roomiest);
        voters.Add((ownSpareBytes, host.Self));
        voters.Sort();
        voters.Reverse(); // most spare bytes first

        // Of the majority with the most free space, the fullest voter limits the capacity.
        int majority = configuration.Majority;
        var capacity =
            voters.Count < majority
                ? null
                : CapacityLimitedBy(voters[majority - 1], majority, configuration.Voters.Length);
        Volatile.Write(ref _capacity, capacity);
    }

    private ClusterCapacity CapacityLimitedBy((long SpareBytes, NodeId Node) limiting, int majority, int voterCount)
    {
        string? refusal =
            limiting.SpareBytes >= 0
                ? null
                : string.Create(
                    CultureInfo.InvariantCulture,
                    $"{roster.NameAndTagOf(limiting.Node)} has {Amount.Bytes(-limiting.SpareBytes)} less free space "
                        + $"{DescribePlace(limiting.Node)}than its reserve. Fewer than {majority} of "
                        + $"{voterCount} voters have more than theirs, so writes that grow the data are refused. "
                        + $"Deletes are still possible. Free some space on that node, or replace its SD card (or the "
                        + $"disk of its journal) by a larger one."
                );
        return new ClusterCapacity(roster.TagOf(limiting.Node), limiting.SpareBytes, refusal);
    }

    // Another member reports only how many bytes it lacks, not on which file system.
    private string DescribePlace(NodeId node) =>
        node == host.Self && store.Space.FullJournalDirectory is { } directory
            ? $"on the file system of its journal in {directory} "
            : string.Empty;

    /// <summary>
    /// Transfers leadership when this node lacks space, because a full leader stops all writes. The target must have
    /// space and every committed entry. Otherwise the transfer would fail, after pausing proposals for an election
    /// timeout.
    /// </summary>
    private void TransferLeadershipIfFull(long ownSpareBytes, NodeId target)
    {
        bool isFull = ownSpareBytes < 0;
        if (!isFull || target.IsNone)
        {
            return;
        }

        if (_measurementsUntilTransfer > 0)
        {
            _measurementsUntilTransfer--;
            return;
        }

        _measurementsUntilTransfer = MeasurementsBetweenTransfers;
        host.Options.TroubleFound?.Invoke(
            "This node has less free space than its reserve, so it hands leadership over to a voter with enough."
        );
        host.Step(Input.Transfer(host.Now, target));
    }
}
