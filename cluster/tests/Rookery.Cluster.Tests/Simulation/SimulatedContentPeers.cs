using Rookery.Cluster.Contents;
using Rookery.Documents.Attachments;
using Rookery.Raft;

namespace Rookery.Cluster.Tests.Simulation;

/// <summary>The requests of one start of one member about contents. They take time, and break with the wire.</summary>
internal sealed class SimulatedContentPeers(SteppedMember self, SteppedCluster cluster) : IContentPeers
{
    private readonly int _start = self.Starts;

    public async Task<ContentPiece> ReadAsync(
        NodeId member,
        ContentName name,
        long from,
        Memory<byte> buffer,
        CancellationToken cancellationToken
    )
    {
        var source = await ReachAsync(member, cancellationToken);
        if (cluster.Wire.BreaksContent())
        {
            throw new IOException("The connection broke.");
        }

        var piece = source.Read(name, from, buffer.Span);
        cluster.Wire.CountContent(piece);
        await ReachAsync(member, cancellationToken);
        return piece;
    }

    public async Task<ContentListing> ListAsync(NodeId member, ContentName? after, CancellationToken cancellationToken)
    {
        var page = (await ReachAsync(member, cancellationToken)).List(after);
        await ReachAsync(member, cancellationToken);
        return page;
    }

    public async Task<OfferAnswer> OfferAsync(
        NodeId member,
        IReadOnlyList<ContentName> names,
        CancellationToken cancellationToken
    )
    {
        if (cluster.Wire.LosesOffers)
        {
            await cluster.Pause(milliseconds: 50);
            throw new IOException("The offer was lost.");
        }

        var source = await ReachAsync(member, cancellationToken);
        var answer = await source.OfferAsync(self.Id, names);
        await ReachAsync(member, cancellationToken);
        return answer;
    }

    // Ends at once when the caller cancels, and otherwise after 30 s at most, as a request to a silent member does.
    private async Task PauseAsync(double milliseconds, CancellationToken cancellationToken)
    {
        var ended = new TaskCompletionSource();
        cluster.After(Math.Min(milliseconds, 30_000), () => ended.TrySetResult());
        await using (cancellationToken.Register(() => ended.TrySetCanceled(cancellationToken)))
        {
            await ended.Task;
        }

        if (milliseconds > 30_000)
        {
            throw new IOException("The member has been silent for 30 s.");
        }
    }

    // Waits while a request or its answer is under way. Returns the member's contents.
    private async Task<ContentSource> ReachAsync(NodeId member, CancellationToken cancellationToken)
    {
        await PauseAsync(0.2 + (cluster.Random.NextDouble() * cluster.Wire.ContentMilliseconds), cancellationToken);
        cluster.Wire.ContentsAsked.Add((self.Id, member));
        while (cluster.Wire.SilentContents.Contains(member))
        {
            await PauseAsync(milliseconds: 1e9, cancellationToken);
        }

        var other = cluster.Find(member);
        while (other is { PausedMilliseconds: > 0 and var paused })
        {
            await cluster.Pause(paused);
        }

        cancellationToken.ThrowIfCancellationRequested();
        if (!self.IsUp || self.Starts != _start || !cluster.Wire.Connects(self.Id, member))
        {
            throw new IOException("The connection broke.");
        }

        return other?.Consensus?.Contents?.Source ?? throw new IOException("The member is down.");
    }
}
