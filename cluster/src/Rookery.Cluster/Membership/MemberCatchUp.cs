using System.Globalization;
using Rookery.Cluster.Transfer;
using Rookery.Documents.Nodes;
using Rookery.Documents.Transfer;
using Rookery.Platform;
using Rookery.Raft;

namespace Rookery.Cluster.Membership;

/// <summary>
/// Fetches from other members what this node lacks: their state, and the rows and contents that are damaged here.
/// </summary>
internal sealed class MemberCatchUp
{
    private readonly RaftConsensus _consensus;
    private readonly NodeStore _store;
    private readonly Func<NodeId, HttpClient?> _clientOf;
    private readonly Action<string> _note;
    private readonly TimeProvider _time;

    /// <summary>Makes an object that fetches over a member's clients.</summary>
    public MemberCatchUp(
        RaftConsensus consensus,
        NodeStore store,
        Func<NodeId, HttpClient?> clientOf,
        Action<string> note,
        TimeProvider time
    )
    {
        _consensus = consensus;
        _store = store;
        _clientOf = clientOf;
        _note = note;
        _time = time;
        consensus.Contents!.Snapshot.Note = note;
    }

    /// <summary>Whether rows or contents are damaged here.</summary>
    public bool HasDamage => _store.Storage.HasDamage || _store.Attachments.Damage.Count > 0;

    /// <summary>Fetches a member's state.</summary>
    public async Task<FetchedState> FetchStateAsync(NodeId from, CancellationToken cancellationToken)
    {
        using var client =
            _clientOf(from)
            ?? throw new StateTransferException($"It is not known where {_consensus.Roster.NameOf(from)} is.");
        return await new StateFetch(client, _store.Inbox, _time)
        {
            Since = () => _store.Installation.ChangesNeededSince,
            Through = () => _store.AppliedIndex,
            Chosen = offer =>
            {
                if (_consensus.Installer.Trouble is null)
                {
                    _note(Describe(offer, from));
                }
            },
        }.RunAsync(cancellationToken);
    }

    /// <summary>Repairs damaged rows and contents with those of a member.</summary>
    /// <returns>The number of repaired files.</returns>
    public async Task<int> RepairAsync(NodeId from, CancellationToken cancellationToken)
    {
        int repaired = await RepairContentsAsync(from, cancellationToken);
        if (!_store.Storage.HasDamage || _clientOf(from) is not { } client)
        {
            return repaired;
        }

        using (client)
        {
            return repaired
                + await new StateRepair(
                    _store,
                    work => _store.Background.DoAsync(() => RunAndReturnTrue(work)),
                    _time
                ).RunAsync(client, cancellationToken);
        }
    }

    private async Task<int> RepairContentsAsync(NodeId from, CancellationToken cancellationToken)
    {
        int repaired = 0;
        foreach (var name in _store.Attachments.Replicated.Damaged)
        {
            cancellationToken.ThrowIfCancellationRequested();
            var end = await _consensus.Contents!.Fetcher.FetchAsync(name, from, only: from);
            repaired += end.IsHere ? 1 : 0;
        }

        return repaired;
    }

    private string Describe(SnapshotOffer offer, NodeId from)
    {
        string member = _consensus.Roster.NameOf(from);
        string because = offer.Why is { } reason ? $", because {reason}" : string.Empty;
        return offer.Since is { } since
            ? string.Create(
                CultureInfo.InvariantCulture,
                $"This node {DescribeCause()}: it fetches what changed since etag {since} from {member}, "
                    + $"{Amount.Bytes(offer.Bytes)} instead of {Amount.Bytes(offer.WholeBytes)} of all files."
            )
            : string.Create(
                CultureInfo.InvariantCulture,
                $"This node {DescribeCause()}: it fetches all files of {member}, {Amount.Bytes(offer.Bytes)}{because}."
            );
    }

    private string DescribeCause() =>
        _consensus.Host.Progress.IsBlocked
            ? "cannot read a part of its data"
            : "lacks entries that other journals no longer hold";

    private static bool RunAndReturnTrue(Action work)
    {
        work();
        return true;
    }
}
