using Rookery.Cluster.Log;
using Rookery.Cluster.Membership;
using Rookery.Documents.Consensus;
using Rookery.Journal;
using Rookery.Raft;

namespace Rookery.Cluster.Commit;

/// <summary>
/// Watches who has made which entry durable, for the entries of clients that asked for it; does nothing for the others.
/// Under the consensus lock.
/// </summary>
internal sealed class ReceiptKeeper(MemberRoster roster)
{
    private readonly List<Watched> _watched = [];

    /// <summary>Whether there is anything to watch.</summary>
    public bool IsIdle => _watched.Count == 0;

    /// <summary>Watches an entry that has just got its place.</summary>
    public void Watch(LogFrame frame, long now) =>
        _watched.Add(new Watched(frame, frame.Position.Index, now, NodeJournal.BytesOf(frame.Entry), frame.Count, []));

    /// <summary>
    /// Notes who has come so far since, and completes the receipts of what is committed. A node that leads no more
    /// forgets them.
    /// </summary>
    public void See(RaftCore core, long now)
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
                watched.Note(core.Self, roster, now);
            }

            foreach (var peer in peers)
            {
                if (peer.Match >= watched.Index)
                {
                    watched.Note(peer.Node, roster, now);
                }
            }
        }

        // They are in the order of the log.
        int committed = 0;
        for (; committed < _watched.Count && _watched[committed].Index <= core.CommitIndex; committed++)
        {
            _watched[committed].Complete();
        }

        _watched.RemoveRange(0, committed);
    }

    private sealed record Watched(
        LogFrame Frame,
        long Index,
        long Begun,
        long Bytes,
        int Commands,
        List<(NodeId Node, SyncedMember Member)> Synced
    )
    {
        public void Note(NodeId node, MemberRoster roster, long now)
        {
            if (!Synced.Exists(synced => synced.Node == node))
            {
                Synced.Add((node, new SyncedMember(roster.TagOf(node), now - Begun)));
            }
        }

        public void Complete() =>
            Frame.Receipt = new CommitReceipt(Bytes, Commands, [.. Synced.Select(static synced => synced.Member)]);
    }
}
