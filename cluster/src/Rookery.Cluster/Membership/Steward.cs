using System.Security.Cryptography;
using Rookery.Cluster.Identity;
using Rookery.Cluster.Joining;
using Rookery.Cluster.Peers;
using Rookery.Raft;

namespace Rookery.Cluster.Membership;

/// <summary>
/// Once a second: connects to whom the records name, notes where they are, says in the records where this node is, renews its certificate, and, on the leader, lets learners that caught up
/// vote. An idle cluster writes nothing for it.
/// </summary>
internal sealed class Steward(
    RaftConsensus consensus, PeerNetwork network, IdentityKeeper keeper, Announcement announcement, AuthorityRotation rotation, MemberFacts facts, Func<NodeId, CancellationToken, Task<int>> repairFrom, Action<string> log, TimeProvider time) : IAsyncDisposable
{
    private const int RoundsBetweenRenewals = 3600;

    // Costs nothing while nothing is damaged.
    private const int RoundsBetweenRepairs = 30;

    private static readonly TimeSpan Interval = TimeSpan.FromSeconds(1);

    private readonly CancellationTokenSource _stopping = new();
    private PeerAddress[] _peers = [];
    private Task? _loop;
    private bool _isAnnounced;
    private int _rounds;

    public void Start() => _loop = RunAsync();

    /// <inheritdoc/>
    public async ValueTask DisposeAsync()
    {
        await _stopping.CancelAsync();
        if (_loop is not null)
        {
            await _loop;
        }

        _stopping.Dispose();
    }

    private async Task RunAsync()
    {
        using var timer = new PeriodicTimer(Interval, time);
        try
        {
            do
            {
                await DoRoundAsync();
            }
            while (await timer.WaitForNextTickAsync(_stopping.Token));
        }
        catch (OperationCanceledException)
        {
            // The node stops.
        }
    }

    private async Task DoRoundAsync()
    {
        try
        {
            KeepPeers();
            if (_rounds++ % RoundsBetweenRenewals == 0 && keeper.RenewIfDue([.. Registrar.AddressesIn(facts.Addresses)]))
            {
                log("This node's certificate was signed anew.");
            }

            _isAnnounced = _isAnnounced || await AnnounceAsync();
            await rotation.StepAsync(_stopping.Token);
            Promote();
            if (_rounds % RoundsBetweenRepairs == 0)
            {
                await RepairAsync();
            }
        }
        catch (Exception failure) when (failure is IOException or CryptographicException)
        {
            log($"What this node keeps of its cluster could not be kept up: {failure.Message}");
        }
    }

    /// <summary>Who just joined has no records yet, and goes by what it was told then.</summary>
    private void KeepPeers()
    {
        KnownPeer[] recorded = [.. consensus.Roster.Entries.Where(entry => entry.Member != consensus.Self).Select(static entry => new KnownPeer(entry.NodeId, entry.Record.Addresses))];
        bool isKnown = consensus.Roster.Of(consensus.Self) is not null;
        if (isKnown && recorded.Length > 0)
        {
            keeper.KeepPeers(recorded);
        }

        PeerAddress[] peers = [.. (isKnown ? recorded : keeper.Current.Peers).Select(static peer => new PeerAddress(Members.IdOf(peer.NodeId), peer.Addresses))];
        if (!Same(peers, _peers))
        {
            _peers = peers;
            network.SetPeers(peers);
        }
    }

    private async Task<bool> AnnounceAsync()
    {
        // A member that just joined is told of its record first.
        bool isKnown = consensus.Roster.Of(consensus.Self) is not null;
        return (isKnown || consensus.IsLeader) && await announcement.AnnounceAsync(facts, _stopping.Token) is null;
    }

    /// <summary>What this node's disk lost of its runs, any member gives back that has it.</summary>
    private async Task RepairAsync()
    {
        foreach (var peer in _peers)
        {
            int repaired = await repairFrom(peer.Node, _stopping.Token);
            if (repaired > 0)
            {
                log($"{repaired} damaged part(s) of this node's data were repaired from member {consensus.Roster.Of(peer.Node)?.Record.Name ?? peer.Node.ToString()}. Look after its card.");
                return;
            }
        }
    }

    private void Promote()
    {
        if (!consensus.IsLeader)
        {
            return;
        }

        var configuration = consensus.ReadState().Configuration;
        if (configuration.Voters.Length >= SeatRule.VotersOf(configuration.Voters.Length + configuration.Learners.Length))
        {
            return;
        }

        foreach (var learner in configuration.Learners)
        {
            if (consensus.ChangeMember(MemberChange.Voter, learner) == ChangeAnswer.Accepted)
            {
                log($"Member {consensus.Roster.Of(learner)?.Record.Name ?? learner.ToString()} has caught up and votes from now on.");
                return;
            }
        }
    }

    private static bool Same(PeerAddress[] one, PeerAddress[] other) =>
        one.Length == other.Length && one.Zip(other).All(static pair => pair.First.Node == pair.Second.Node && pair.First.Addresses.SequenceEqual(pair.Second.Addresses, StringComparer.Ordinal));
}
