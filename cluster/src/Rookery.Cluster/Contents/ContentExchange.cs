using Rookery.Documents.Nodes;
using Rookery.Journal;
using Rookery.Raft;

namespace Rookery.Cluster.Contents;

/// <summary>
/// Distributes the contents of attachments (their bytes, which the log's entries only name) among the members: no
/// member appends an entry before it has the contents that the entry names. This type only wires its parts.
/// </summary>
internal sealed class ContentExchange : IDisposable
{
    private readonly CancellationTokenSource _stopping = new();
    private readonly AppendGate _gate;

    public ContentExchange(RaftHost host, NodeStore store, IContentPeers peers, DeliverMessage deliver)
    {
        var contents = store.Attachments.Replicated;
        Fetcher = new ContentFetcher(host, contents, peers, store.Time, _stopping.Token);
        Source = new ContentSource(host, contents, Fetcher, store.Time);
        Sharing = new ContentSharing(host, peers, store.Time, _stopping.Token);
        Snapshot = new SnapshotContents(contents, Fetcher, peers, store.Time);
        _gate = new AppendGate(host, contents, Fetcher, deliver, store.Time, _stopping.Token);
    }

    /// <summary>Fetches contents from other members.</summary>
    public ContentFetcher Fetcher { get; }

    /// <summary>Answers other members' requests about contents.</summary>
    public ContentSource Source { get; }

    /// <summary>Offers contents before they are proposed.</summary>
    public ContentSharing Sharing { get; }

    /// <summary>Fetches the contents of a state before it is installed.</summary>
    public SnapshotContents Snapshot { get; }

    /// <summary>The content for which appends wait, in a sentence; null for none.</summary>
    public string? WaitsFor => _gate.WaitsFor;

    /// <inheritdoc cref="AppendGate.TryHold"/>
    public bool TryHold(in Message message, ReadOnlySpan<JournalFrame> frames) => _gate.TryHold(message, frames);

    /// <summary>Cancels all waits and fetches.</summary>
    public void Dispose() => _stopping.Cancel();
}
