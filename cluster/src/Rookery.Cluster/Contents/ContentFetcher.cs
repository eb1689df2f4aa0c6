using Rookery.Documents.Attachments;
using Rookery.Raft;

namespace Rookery.Cluster.Contents;

/// <summary>
/// Fetches contents from other members. Callers that ask for the same content at once share one
/// <see cref="ContentFetch"/>. Thread-safe.
/// </summary>
internal sealed class ContentFetcher(
    RaftHost host,
    ReplicatedContents contents,
    IContentPeers peers,
    TimeProvider time,
    CancellationToken stopping
)
{
    // The number of offered contents that are fetched at once, which bounds memory, files and connections. Fetches of
    // AppendGate are not limited: it fetches one content at a time.
    private const int MaxOffered = 4;

    private readonly Lock _gate = new();
    private readonly Dictionary<ContentName, ContentFetch> _running = [];
    private readonly Queue<TaskCompletionSource> _waiting = new();
    private int _offered;
    private long _receivedBytes;

    /// <summary>Bytes received since the start.</summary>
    public long ReceivedBytes => Interlocked.Read(ref _receivedBytes);

    /// <summary>
    /// Returns the number of bytes that a running fetch of the content has received; null if no fetch of it runs.
    /// </summary>
    public long? ArrivedOf(in ContentName name)
    {
        lock (_gate)
        {
            return _running.TryGetValue(name, out var running) ? running.Arrived : null;
        }
    }

    /// <summary>Adds a member to ask to the running fetch of a content; does nothing if no fetch of it runs.</summary>
    /// <param name="name">The content.</param>
    /// <param name="from">A member that offers the content.</param>
    public void JoinRunning(in ContentName name, NodeId from)
    {
        ContentFetch? running;
        lock (_gate)
        {
            _running.TryGetValue(name, out running);
        }

        running?.Join(first: default, only: from);
    }

    /// <summary>
    /// Fetches a content that another member offered. Waits while as many offered contents as allowed are fetched.
    /// </summary>
    /// <param name="name">The content.</param>
    /// <param name="from">The member that offers the content.</param>
    /// <param name="isOffered">Returns whether the content is still offered; called when the wait has ended. Asking a
    /// member that is gone would take half a minute.</param>
    public async Task<FetchResult> FetchOfferedAsync(ContentName name, NodeId from, Func<bool> isOffered)
    {
        await EnterAsync();
        try
        {
            return isOffered()
                ? await FetchAsync(name, from, from)
                : new FetchResult(
                    IsHere: false,
                    GoneThrough: -1,
                    IsNowhere: false,
                    Trouble: "It is no longer offered."
                );
        }
        finally
        {
            Leave();
        }
    }

    /// <summary>Fetches a content, or joins a running fetch of it. Ends at once if the content is here.</summary>
    /// <param name="name">The content.</param>
    /// <param name="first">The member to ask first; none for any order.</param>
    /// <param name="only">The only member to ask; none for all members.</param>
    public Task<FetchResult> FetchAsync(ContentName name, NodeId first, NodeId only = default)
    {
        ContentFetch? fetch;
        bool isNew = false;
        lock (_gate)
        {
            if (!_running.TryGetValue(name, out fetch))
            {
                isNew = true;
                fetch = new ContentFetch(host, contents, peers, time, name, CountReceived, stopping);
                _running.Add(name, fetch);
            }
        }

        fetch.Join(first, only);
        if (isNew)
        {
            _ = RunAsync(name, fetch);
        }

        return fetch.Ended;
    }

    private async Task RunAsync(ContentName name, ContentFetch fetch)
    {
        var end = await fetch.RunAsync();
        lock (_gate)
        {
            _running.Remove(name);
        }

        fetch.End(end);
    }

    private void CountReceived(int bytes) => Interlocked.Add(ref _receivedBytes, bytes);

    private async Task EnterAsync()
    {
        TaskCompletionSource turn;
        lock (_gate)
        {
            if (_offered < MaxOffered)
            {
                _offered++;
                return;
            }

            _waiting.Enqueue(turn = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously));
        }

        await turn.Task;
    }

    private void Leave()
    {
        lock (_gate)
        {
            if (_waiting.TryDequeue(out var next))
            {
                next.SetResult(); // it takes the place of this fetch
            }
            else
            {
                _offered--;
            }
        }
    }
}
