using Rookery.Documents.Attachments;
using Rookery.Platform;
using Rookery.Raft;

namespace Rookery.Cluster.Contents;

/// <summary>Answers other members' requests about contents. Thread-safe.</summary>
public sealed class ContentSource
{
    // As many as a few batches of each member name. Members offer further contents again later.
    private const int MaxTaken = 16 << 10;

    private static readonly TimeSpan LongestOffer = TimeSpan.FromSeconds(1);

    // A sender repeats its offer about once a second. After this pause the content counts as no longer offered.
    private static readonly TimeSpan LongestPause = TimeSpan.FromSeconds(5);

    private readonly RaftHost _host;
    private readonly ReplicatedContents _contents;
    private readonly ContentFetcher _fetcher;
    private readonly TimeProvider _time;
    private readonly Lock _gate = new();
    private readonly Dictionary<ContentName, TakenContent> _taken = []; // being fetched

    internal ContentSource(RaftHost host, ReplicatedContents contents, ContentFetcher fetcher, TimeProvider time)
    {
        _host = host;
        _contents = contents;
        _fetcher = fetcher;
        _time = time;
    }

    /// <inheritdoc cref="ReplicatedContents.Read"/>
    public ContentPiece Read(in ContentName name, long from, Span<byte> buffer) => _contents.Read(name, from, buffer);

    /// <summary>Lists contents that rows name, and the members of the newest configuration.</summary>
    /// <param name="after">The content after which the list begins; null for the first.</param>
    public ContentListing List(ContentName? after)
    {
        var page = _contents.List(after);
        var members = _host.Leadership.Configuration;
        return new ContentListing(page.Names, page.AppliedIndex, [.. members.Voters, .. members.Learners]);
    }

    /// <summary>
    /// Fetches the offered contents that this node lacks. Answers when it has all of them, and otherwise after a
    /// second, while the fetches continue. A repeated offer joins the running fetches.
    /// </summary>
    /// <param name="from">The member that offers the contents.</param>
    /// <param name="names">The contents.</param>
    public async Task<OfferAnswer> OfferAsync(NodeId from, IReadOnlyList<ContentName> names)
    {
        var offer = new Offer(names.Distinct().ToArray(), new TimedSignal(_time));
        foreach (var name in offer.Names)
        {
            if (Join(name, offer))
            {
                _ = TakeAsync(from, name);
            }
            else
            {
                _fetcher.JoinRunning(name, from); // the running fetch may ask a member that is off
            }
        }

        if (offer.Unanswered > 0)
        {
            await offer.Signal.WaitAsync(LongestOffer);
        }

        long received = offer.TakenBytes;
        bool isQueued = false;
        foreach (var name in offer.Names)
        {
            // Contents that are being looked for on the disk count as queued; the search is short.
            bool isTaken = Leave(name, offer);
            long? arrived = isTaken ? _fetcher.ArrivedOf(name) : 0;
            received += arrived ?? 0;
            isQueued |= arrived is null;
        }

        return new OfferAnswer(offer.Missing, received, isQueued ? _fetcher.ReceivedBytes : 0, offer.Trouble);
    }

    // Returns whether the caller must fetch the content.
    private bool Join(ContentName name, Offer offer)
    {
        lock (_gate)
        {
            if (_taken.TryGetValue(name, out var taken))
            {
                taken.Waiting.Add(offer);
                taken.OfferedAt = _time.GetTimestamp();
                return false;
            }

            if (_taken.Count < MaxTaken)
            {
                _taken.Add(name, new TakenContent { Waiting = { offer }, OfferedAt = _time.GetTimestamp() });
                return true;
            }
        }

        offer.End(name, "It already fetches the maximum number of contents.");
        return false;
    }

    // Removes an answered offer: otherwise offers would accumulate, because the sender repeats its offer every second.
    // Returns whether the content is still being fetched.
    private bool Leave(ContentName name, Offer offer)
    {
        lock (_gate)
        {
            return _taken.TryGetValue(name, out var taken) && taken.Waiting.Remove(offer);
        }
    }

    private bool IsOffered(ContentName name)
    {
        lock (_gate)
        {
            return _taken.TryGetValue(name, out var taken) && _time.GetElapsedTime(taken.OfferedAt) < LongestPause;
        }
    }

    private async Task TakeAsync(NodeId from, ContentName name)
    {
        string? trouble = await TryTakeAsync(from, name);
        TakenContent? taken;
        lock (_gate)
        {
            _taken.Remove(name, out taken);
        }

        foreach (var offer in taken!.Waiting)
        {
            offer.End(name, trouble);
        }
    }

    // Returns null when the content is durable here; otherwise why not.
    private async Task<string?> TryTakeAsync(NodeId from, ContentName name)
    {
        try
        {
            if (await _contents.CheckAsync(name))
            {
                return null;
            }

            var end = await _fetcher.FetchOfferedAsync(name, from, () => IsOffered(name));
            return end.IsHere ? null : end.Trouble ?? "The member that offers the content does not have it.";
        }
        catch (Exception failure) when (failure is not (InvariantViolationException or OutOfMemoryException))
        {
            return failure.Message; // any failure: TakeAsync must remove the name
        }
        catch (Exception failure)
        {
            _host.Options.EndProcess(failure); // the task is not awaited
            return failure.Message;
        }
    }

    /// <summary>A content that is being fetched.</summary>
    private sealed class TakenContent
    {
        /// <summary>The offers that wait for it.</summary>
        public HashSet<Offer> Waiting { get; } = [];

        /// <summary>Time stamp of the newest offer.</summary>
        public long OfferedAt { get; set; }
    }

    /// <summary>The contents that a member offers at once.</summary>
    private sealed class Offer(ContentName[] names, TimedSignal signal)
    {
        private readonly Lock _gate = new();
        private int _unanswered = names.Length;
        private int _taken;
        private long _takenBytes;
        private string? _trouble;

        public ContentName[] Names => names;

        public TimedSignal Signal => signal;

        /// <summary>Number of contents that are still being fetched.</summary>
        public int Unanswered => Volatile.Read(ref _unanswered);

        /// <summary>Number of contents that are not durable here.</summary>
        public int Missing => names.Length - Volatile.Read(ref _taken);

        /// <summary>Bytes of the contents that are durable here.</summary>
        public long TakenBytes => Interlocked.Read(ref _takenBytes);

        /// <summary>Why a content was not fetched; null if none failed.</summary>
        public string? Trouble => Volatile.Read(ref _trouble);

        public void End(ContentName name, string? trouble)
        {
            bool isLast;
            lock (_gate)
            {
                _taken += trouble is null ? 1 : 0;
                _takenBytes += trouble is null ? name.Size : 0;
                _trouble ??= trouble;
                isLast = --_unanswered == 0;
            }

            if (isLast)
            {
                signal.Set();
            }
        }
    }
}
