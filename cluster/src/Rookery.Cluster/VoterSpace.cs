using System.Globalization;
using Rookery.Cluster.Membership;
using Rookery.Documents.Consensus;
using Rookery.Documents.Nodes;
using Rookery.Platform;
using Rookery.Raft;

namespace Rookery.Cluster;

/// <summary>
/// Room on the disks of the voters: the leader refuses growth before a voter of the majority that it needs is full.
/// </summary>
/// <remarks>The lock of <see cref="RaftHost"/> guards the fields; <see cref="Capacity"/> is read without it.</remarks>
internal sealed class VoterSpace(RaftHost host, NodeStore store, MemberRoster roster)
{
    // A leader without room goes at once; if nobody takes over, proposals must not stop again and again for it.
    private const int MeasuresBetweenHandOvers = 60;

    private ClusterCapacity? _capacity;
    private int _measuresUntilHandOver;

    /// <summary>Who limits the capacity of the cluster; null where this node does not lead one of several.</summary>
    public ClusterCapacity? Capacity => Volatile.Read(ref _capacity);

    /// <summary>
    /// Why a command that grows the data is refused now: by the space of the voters where there are several, by its own
    /// otherwise. A new leader has not heard yet what room the others have, and does not refuse what a majority
    /// has room for: in its first second it finds out, and hands over when it has none itself.
    /// </summary>
    public Rejection? GrowthRefusal(ReadOnlySpan<byte> command, Configuration configuration) =>
        Capacity?.Refusal is { } reason ? NodeStore.RefuseGrowth(command, reason)
        : configuration.Voters.Length > 1 ? null
        : store.GrowthRefusal(command);

    /// <summary>Sees anew who limits capacity, once a second. Under the lock.</summary>
    public void Measure()
    {
        var configuration = host.Core.Configuration;
        if (host.IsHalted || host.Core.Role != Role.Leader || configuration.Voters.Length < 2)
        {
            Volatile.Write(ref _capacity, null);
            return;
        }

        long own = store.SpareBytes;
        var voters = new List<(long SpareBytes, NodeId Node)>(configuration.Voters.Length);
        var (roomiest, most) = (NodeId.None, 0L);
        foreach (var peer in host.Core.ReadPeers())
        {
            if (configuration.IsVoter(peer.Node) && peer is { IsReachable: true, SpareBytes: { } spare })
            {
                voters.Add((spare, peer.Node));
                if (peer.Match >= host.Core.CommitIndex && spare >= most)
                {
                    (roomiest, most) = (peer.Node, spare);
                }
            }
        }

        HandOverIfFull(own, roomiest);
        voters.Add((own, host.Self));
        voters.Sort();
        voters.Reverse();

        // Of voters in the order of their room the last that a majority needs is the one that limits it.
        int needed = configuration.Majority;
        Volatile.Write(
            ref _capacity,
            voters.Count < needed ? null : CapacityOf(voters[needed - 1], needed, configuration.Voters.Length)
        );
    }

    private ClusterCapacity CapacityOf((long SpareBytes, NodeId Node) limiting, int needed, int voters)
    {
        string? refusal =
            limiting.SpareBytes >= 0
                ? null
                : string.Create(
                    CultureInfo.InvariantCulture,
                    $"{roster.NameAndTagOf(limiting.Node)} has {Amount.Bytes(-limiting.SpareBytes)} less free than "
                        + $"it keeps in reserve, and without it fewer than {needed} of {voters} voters have room: "
                        + $"writes that grow the data are refused. Deletes go on; free some space there, or "
                        + $"replace its card by a larger one."
                );
        return new ClusterCapacity(roster.TagOf(limiting.Node), limiting.SpareBytes, refusal);
    }

    /// <summary>
    /// A leader writes no less than the others, and what it runs out of stops all: one leads instead that has room, and
    /// all that is committed, or proposals would stop for an election timeout and nobody take over.
    /// </summary>
    private void HandOverIfFull(long own, NodeId roomiest)
    {
        if (own >= 0 || roomiest.IsNone || _measuresUntilHandOver-- > 0)
        {
            return;
        }

        _measuresUntilHandOver = MeasuresBetweenHandOvers;
        host.Options.TroubleFound?.Invoke(
            "This node has less room than it keeps in reserve, so it hands leadership over."
        );
        host.Step(Input.Transfer(host.Now, roomiest));
    }
}
