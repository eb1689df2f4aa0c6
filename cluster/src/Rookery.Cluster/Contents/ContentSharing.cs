using Rookery.Documents.Attachments;
using Rookery.Documents.Consensus;
using Rookery.Raft;

namespace Rookery.Cluster.Contents;

/// <summary>
/// Offers contents to the other members before the command that names them is proposed. So the leader has them when it
/// proposes the command, a majority has them when the entry arrives, and no entry waits for a slow upload. Thread-safe.
/// </summary>
internal sealed class ContentSharing(RaftHost host, IContentPeers peers, TimeProvider time, CancellationToken stopping)
{
    private static readonly TimeSpan DelayAfterFailure = TimeSpan.FromMilliseconds(250);
    private static readonly TimeSpan CheckInterval = TimeSpan.FromSeconds(1);

    // The longest time in which no member receives a byte.
    private static readonly TimeSpan LongestSilence = TimeSpan.FromSeconds(30);

    /// <summary>
    /// Waits until the leader and a majority of the voters have the contents. The other members continue to fetch.
    /// </summary>
    /// <returns>Null when they have; otherwise why not.</returns>
    public async Task<Rejection?> ShareAsync(IReadOnlyList<ContentName> names, CancellationToken cancellationToken)
    {
        var members = host.Leadership.Configuration;
        List<NodeId> others = [.. members.Voters, .. members.Learners];
        others.RemoveAll(member => member == host.Self);
        if (others.Count == 0)
        {
            return null;
        }

        var changed = new TimedSignal(time);
        var offers = others.ConvertAll(member => new Offer(member, changed));
        foreach (var offer in offers)
        {
            // The offer continues after this method returns, because the command may still be proposed. It ends when
            // the member has the contents, or after a long silence.
            _ = OfferAsync(offer, names);
        }

        try
        {
            return await WaitAsync(offers, changed, cancellationToken);
        }
        finally
        {
            // From now on, an offer to a member that does not answer ends at its first failure: that member asks for
            // the contents itself when the entry arrives.
            offers.ForEach(static offer => offer.IsAwaited = false);
        }
    }

    private async Task<Rejection?> WaitAsync(
        List<Offer> offers,
        TimedSignal changed,
        CancellationToken cancellationToken
    )
    {
        long lastProgressAt = time.GetTimestamp();
        long progress = -1;
        while (!IsShared(offers))
        {
            if (stopping.IsCancellationRequested || host.Refusal is not null)
            {
                return host.Refusal ?? RaftHost.Stopping;
            }

            if (cancellationToken.IsCancellationRequested)
            {
                return Canceled;
            }

            long now = offers.Sum(static offer => offer.Progress) + offers.Count(static offer => offer.IsDone);
            if (now != progress)
            {
                (progress, lastProgressAt) = (now, time.GetTimestamp());
            }
            else if (time.GetElapsedTime(lastProgressAt) > LongestSilence)
            {
                return Refuse(offers);
            }

            await changed.WaitAsync(CheckInterval);
        }

        return null;
    }

    private static Rejection Canceled { get; } =
        new(RejectionKind.Canceled, "The request was canceled before its write was queued. Nothing was stored.");

    private static Rejection Refuse(List<Offer> offers)
    {
        string reason = string.Join(
            ' ',
            offers.Select(static offer => offer.Trouble).Where(static trouble => trouble is not null)
        );
        return new Rejection(
            RejectionKind.ContentMissing,
            "The attachment did not reach the leader and a majority of the members, so nothing was stored. "
                + $"Try again when they answer. {reason}".TrimEnd()
        );
    }

    // The configuration and the leader may change meanwhile.
    private bool IsShared(List<Offer> offers)
    {
        var members = host.Leadership.Configuration;
        var leader = host.Leadership.Leader;
        int have = 0;
        foreach (var voter in members.Voters)
        {
            have += voter == host.Self || offers.Exists(offer => offer.Is(voter)) ? 1 : 0;
        }

        return have > members.Voters.Length / 2
            && (leader.IsNone || leader == host.Self || offers.Exists(offer => offer.Is(leader)));
    }

    private async Task OfferAsync(Offer offer, IReadOnlyList<ContentName> names)
    {
        long lastProgressAt = time.GetTimestamp();
        while (!stopping.IsCancellationRequested && time.GetElapsedTime(lastProgressAt) < LongestSilence)
        {
            bool mustDelay = true;
            try
            {
                var answer = await peers.OfferAsync(offer.Member, names, stopping);
                bool hasProgressed = offer.Record(answer);
                if (offer.IsDone)
                {
                    return;
                }

                lastProgressAt = hasProgressed ? time.GetTimestamp() : lastProgressAt;
                mustDelay = !hasProgressed;
            }
            catch (IOException failure)
            {
                offer.Fail(failure.Message);
                if (!offer.IsAwaited)
                {
                    return;
                }
            }
            catch (OperationCanceledException)
            {
                return; // the node is stopping
            }

            if (mustDelay)
            {
                try
                {
                    await Task.Delay(DelayAfterFailure, time, stopping);
                }
                catch (OperationCanceledException)
                {
                    return;
                }
            }
        }
    }

    /// <summary>What one member has of the offered contents.</summary>
    private sealed class Offer(NodeId member, TimedSignal changed)
    {
        private long _bytes;
        private long _queueBytes;
        private long _progress;
        private bool _isDone;
        private bool _isAwaited = true;
        private string? _trouble;

        public NodeId Member => member;

        /// <summary>Whether the upload still waits.</summary>
        public bool IsAwaited
        {
            get => Volatile.Read(ref _isAwaited);
            set => Volatile.Write(ref _isAwaited, value);
        }

        /// <summary>A number that grows with the member's progress.</summary>
        public long Progress => Volatile.Read(ref _progress);

        public bool IsDone => Volatile.Read(ref _isDone);

        public string? Trouble => IsDone ? null : Volatile.Read(ref _trouble);

        public bool Is(NodeId other) => IsDone && member == other;

        /// <summary>
        /// Records an answer. Returns whether the member has made progress since its last answer: the number of its
        /// received bytes has changed (it falls if the transfer began again), or it is receiving the contents that are
        /// queued before these.
        /// </summary>
        public bool Record(OfferAnswer answer)
        {
            bool hasProgressed =
                answer.ReceivedBytes != _bytes || (answer.QueueBytes != 0 && answer.QueueBytes != _queueBytes);
            _bytes = answer.ReceivedBytes;
            _queueBytes = answer.QueueBytes;
            Volatile.Write(ref _progress, _progress + (hasProgressed ? 1 : 0));
            Volatile.Write(ref _trouble, answer.Trouble);
            Volatile.Write(ref _isDone, answer.Missing == 0);
            changed.Set();
            return hasProgressed;
        }

        public void Fail(string trouble)
        {
            Volatile.Write(ref _trouble, trouble);
            changed.Set();
        }
    }
}
