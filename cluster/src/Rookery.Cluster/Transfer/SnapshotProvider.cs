using Rookery.Documents.Nodes;
using Rookery.Documents.Transfer;

namespace Rookery.Cluster.Transfer;

/// <summary>Gives this node's state to members that fell behind. From any thread, without the lock.</summary>
internal sealed class SnapshotProvider(RaftHost host, NodeStore store)
{
    /// <summary>
    /// This node's state for a member that fell behind: what changed since an etag, when that is much less, or
    /// everything.
    /// </summary>
    /// <param name="since">The etag through which the member has everything; null when it needs everything.</param>
    /// <param name="through">The index through which the member has applied everything: what ends before is of no use
    /// to it.</param>
    /// <returns>Null while it is being written, or this node leads and its tables have not come to
    /// <paramref name="through"/>: to be asked again.</returns>
    /// <exception cref="IOException">There is none to be had; the message says why.</exception>
    public async Task<StateOffer?> OfferAsync(long? since, long through)
    {
        if (host.Progress.IsBlocked || (store.Durable.Index < through && host.Leadership.Leader != host.Self))
        {
            throw new StateTransferException(
                "This node does not offer its state, because it cannot apply what is committed, or does not "
                    + "lead and is not as far. Ask the member that leads."
            );
        }

        if (store.Durable.Index < through)
        {
            store.Storage.RequestFlush();
            return null;
        }

        var (offer, write) = await store.DoInBackgroundAsync(() =>
            since is { } etag
                ? (store.Offers.MakeSince(etag, out var toWrite, through), toWrite)
                : (store.Offers.Make(through), null)
        );
        if (write is not null)
        {
            host.Options.RunBeside(write);
        }

        // After it was made: all that it holds was committed in this term or before.
        return offer is null ? null : offer with { CommittedBy = host.Core.Term };
    }
}
