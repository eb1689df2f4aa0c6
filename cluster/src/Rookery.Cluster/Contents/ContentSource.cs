using Rookery.Documents.Attachments;
using Rookery.Platform;
using Rookery.Raft;

namespace Rookery.Cluster.Contents;

/// <summary>Answers other members' requests about contents. Thread-safe.</summary>
public sealed class ContentSource
{
    private static readonly TimeSpan LongestOffer = TimeSpan.FromSeconds(1);

    private readonly ReplicatedContents _contents;
    private readonly ContentFetcher _fetcher;
    private readonly TimeProvider _time;

    internal ContentSource(ReplicatedContents contents, ContentFetcher fetcher, TimeProvider time)
    {
        _contents = contents;
        _fetcher = fetcher;
        _time = time;
    }

    /// <inheritdoc cref="ReplicatedContents.Read"/>
    public ContentPiece Read(in ContentName name, long from, Span<byte> buffer) => _contents.Read(name, from, buffer);

    /// <inheritdoc cref="ReplicatedContents.List"/>
    public ContentPage List(ContentName? after) => _contents.List(after);

    /// <summary>
    /// Fetches the offered contents that this node lacks. Answers when it has all, and otherwise after a second; the
    /// fetches go on.
    /// </summary>
    /// <param name="from">The member that offers them.</param>
    /// <param name="names">The contents.</param>
    public async Task<OfferAnswer> OfferAsync(NodeId from, IReadOnlyList<ContentName> names)
    {
        var offer = new Offer(names.Distinct().ToArray(), new TimedSignal(_time));
        foreach (var name in offer.Names)
        {
            _ = TakeAsync(from, name, offer);
        }

        if (offer.Unanswered > 0)
        {
            await offer.Signal.WaitAsync(LongestOffer);
        }

        return new OfferAnswer(offer.Missing, _fetcher.ReceivedBytes, offer.Trouble);
    }

    private async Task TakeAsync(NodeId from, ContentName name, Offer offer) => offer.End(await TakeAsync(from, name));

    // Returns null when the content is durable here; otherwise why not.
    private async Task<string?> TakeAsync(NodeId from, ContentName name)
    {
        try
        {
            if (await _contents.CheckAsync(name))
            {
                return null;
            }

            var end = await _fetcher.FetchOfferedAsync(name, from);
            return end.IsHere ? null : end.Trouble ?? "The member that offers the content does not have it.";
        }
        catch (Exception failure) when (failure is DiskException or OperationCanceledException)
        {
            return failure.Message;
        }
    }

    /// <summary>The contents that a member offers at once.</summary>
    private sealed class Offer(ContentName[] names, TimedSignal signal)
    {
        private readonly Lock _gate = new();
        private int _unanswered = names.Length;
        private int _taken;
        private string? _trouble;

        public ContentName[] Names => names;

        public TimedSignal Signal => signal;

        /// <summary>Number of contents that are still being fetched.</summary>
        public int Unanswered => Volatile.Read(ref _unanswered);

        /// <summary>Number of contents that are not durable here.</summary>
        public int Missing => names.Length - Volatile.Read(ref _taken);

        /// <summary>Why a content was not fetched; null if none failed.</summary>
        public string? Trouble => Volatile.Read(ref _trouble);

        public void End(string? trouble)
        {
            bool isLast;
            lock (_gate)
            {
                _taken += trouble is null ? 1 : 0;
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
