using Rookery.Documents.Nodes;
using Rookery.Documents.Transfer;

namespace Rookery.Cluster.Transfer;

/// <summary>Offers this node's state to lagging members. Callable from any thread, without the lock.</summary>
internal sealed class SnapshotProvider(RaftHost host, NodeStore store)
{
    /// <summary>
    /// Returns an offer of this node's state: the changes since an etag if they are much smaller, otherwise the whole
    /// state.
    /// </summary>
    /// <param name="since">The etag through which the member has all changes; null when it needs the whole
    /// state.</param>
    /// <param name="through">The member's applied index. An older state is useless to the member.</param>
    /// <returns>Null while the offer is being written, or while this leader's tables have not reached
    /// <paramref name="through"/>: ask again.</returns>
    /// <exception cref="IOException">This node offers no state; the message says why.</exception>
    public async Task<SnapshotOffer?> OfferAsync(long? since, long through)
    {
        if (host.Progress.IsBlocked || (store.DurablePosition.Index < through && host.Leadership.Leader != host.Self))
        {
            throw new StateTransferException(
                "This node does not offer its state, because it cannot apply committed entries, or is not a leader "
                    + "and lags behind the member that asks. Ask the leader."
            );
        }

        if (store.DurablePosition.Index < through)
        {
            store.Storage.Memtables.RequestFlush();
            return null;
        }

        Action? writeFiles = null;
        var offer = await store.Background.DoAsync(() =>
            since is { } etag ? store.Offers.MakeSince(etag, out writeFiles, through) : store.Offers.Make(through)
        );
        if (writeFiles is not null)
        {
            host.Options.RunInBackground(writeFiles);
        }

        // Read the term after making the offer, so that all its entries were committed in this term or earlier.
        return offer is null ? null : offer with { CommittedBy = host.Core.Term };
    }
}
