using Rookery.Cluster.Log;
using Rookery.Cluster.Membership;
using Rookery.Documents.Consensus;
using Rookery.Journal;
using Rookery.Raft;

namespace Rookery.Cluster.Commit;

/// <summary>
/// Records when each member synced an entry, for entries whose clients asked for a receipt. All methods are called
/// under the consensus lock.
/// </summary>
internal sealed class ReceiptKeeper(MemberRoster roster)
{
    private readonly List<Watched> _watched = [];

    /// <summary>Whether no entry is watched.</summary>
    public bool IsIdle => _watched.Count == 0;

    /// <summary>Starts watching an entry that was just placed in the log.</summary>
    public void Watch(CachedEntry entry, long nowMicroseconds) =>
        _watched.Add(
            new Watched(
                entry,
                entry.Position.Index,
                nowMicroseconds,
                NodeJournal.BytesOf(entry.Frame),
                entry.ProposalCount,
                []
            )
        );

    /// <summary>
    /// Records which members have synced the watched entries, and completes the receipts of committed entries. A node
    /// that no longer leads drops all watched entries.
    /// </summary>
    public void Update(RaftCore core, long nowMicroseconds)
    {
        if (core.Role != Role.Leader)
        {
            _watched.Clear();
            return;
        }

        var peers = core.ReadPeers();
        foreach (var watched in _watched)
        {
            if (core.DurableIndex >= watched.Index)
            {
                watched.Record(core.Self, roster, nowMicroseconds);
            }

            foreach (var peer in peers)
            {
                if (peer.Match >= watched.Index)
                {
                    watched.Record(peer.Node, roster, nowMicroseconds);
                }
            }
        }

        // Watched entries are in log order.
        int committed = 0;
        while (committed < _watched.Count && _watched[committed].Index <= core.CommitIndex)
        {
            _watched[committed].Complete();
            committed++;
        }

        _watched.RemoveRange(0, committed);
    }

    private sealed record Watched(
        CachedEntry Entry,
        long Index,
        long BegunMicroseconds,
        long Bytes,
        int Commands,
        List<(NodeId Node, SyncedMember Member)> Synced
    )
    {
        public void Record(NodeId node, MemberRoster roster, long nowMicroseconds)
        {
            if (!Synced.Exists(synced => synced.Node == node))
            {
                Synced.Add((node, new SyncedMember(roster.TagOf(node), nowMicroseconds - BegunMicroseconds)));
            }
        }

        public void Complete() =>
            Entry.Receipt = new CommitReceipt(Bytes, Commands, [.. Synced.Select(static synced => synced.Member)]);
    }
}
