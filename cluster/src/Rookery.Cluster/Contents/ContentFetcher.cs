using System.Buffers;
using Rookery.Documents.Attachments;
using Rookery.Platform;
using Rookery.Raft;

namespace Rookery.Cluster.Contents;

/// <summary>What a fetch of a content came to.</summary>
/// <param name="IsHere">Whether the content is durable here now.</param>
/// <param name="GoneThrough">The highest index as of which a member has neither the content nor a row that names it; -1
/// for none.</param>
/// <param name="IsNowhere">Whether all other members answered, and none can give it.</param>
/// <param name="Trouble">The last failure, in a sentence; null for none.</param>
internal readonly record struct FetchEnd(bool IsHere, long GoneThrough, bool IsNowhere, string? Trouble);

/// <summary>
/// Fetches contents from other members, piece by piece. What has arrived is kept when a connection breaks, and the next
/// member continues after it. Callers that ask for the same content at once share one fetch. Thread-safe.
/// </summary>
internal sealed class ContentFetcher(
    RaftHost host,
    ReplicatedContents contents,
    IContentPeers peers,
    TimeProvider time,
    CancellationToken stopping
)
{
    // Requests of one member in a row that fail without a byte, before the next member is asked.
    private const int MaxFailures = 3;

    // Memory, files and connections that other members' offers may take here. The gate of appends is not limited: it
    // fetches one content at a time.
    private const int MaxOffered = 4;

    private static readonly TimeSpan RestAfterFailure = TimeSpan.FromMilliseconds(100);

    private readonly Lock _gate = new();
    private readonly Dictionary<ContentName, Task<FetchEnd>> _running = [];
    private readonly Queue<TaskCompletionSource> _waiting = new();
    private int _offered;
    private long _receivedBytes;

    /// <summary>Bytes received since the start.</summary>
    public long ReceivedBytes => Interlocked.Read(ref _receivedBytes);

    /// <summary>Fetches a content that another member offered, after at most a few others.</summary>
    public async Task<FetchEnd> FetchOfferedAsync(ContentName name, NodeId from)
    {
        await EnterAsync();
        try
        {
            return await FetchAsync(name, from, from);
        }
        finally
        {
            Leave();
        }
    }

    /// <summary>Fetches a content, or joins a running fetch of it.</summary>
    /// <param name="name">The content.</param>
    /// <param name="first">The member to ask first; none for any order.</param>
    /// <param name="only">The only member to ask; none for all members.</param>
    public Task<FetchEnd> FetchAsync(ContentName name, NodeId first, NodeId only = default)
    {
        TaskCompletionSource<FetchEnd> ended;
        lock (_gate)
        {
            if (_running.TryGetValue(name, out var running))
            {
                return running;
            }

            ended = new TaskCompletionSource<FetchEnd>(TaskCreationOptions.RunContinuationsAsynchronously);
            _running.Add(name, ended.Task);
        }

        _ = RunAsync(name, first, only, ended);
        return ended.Task;
    }

    private async Task RunAsync(ContentName name, NodeId first, NodeId only, TaskCompletionSource<FetchEnd> ended)
    {
        var end = new FetchEnd(IsHere: false, GoneThrough: -1, IsNowhere: false, Trouble: null);
        try
        {
            end = await AskMembersAsync(name, first, only);
        }
        catch (Exception failure) when (failure is IOException or ContentRefusedException or OperationCanceledException)
        {
            end = end with { Trouble = failure.Message };
        }
        finally
        {
            lock (_gate)
            {
                _running.Remove(name);
            }

            ended.SetResult(end);
        }
    }

    private async Task<FetchEnd> AskMembersAsync(ContentName name, NodeId first, NodeId only)
    {
        var arriving = new Arrival(contents, name, CountReceived);
        try
        {
            long gone = -1;
            bool haveAllAnswered = true;
            string? trouble = null;
            var order = OrderOf(first, only);
            foreach (var member in order)
            {
                try
                {
                    var answer = await ReadAllAsync(arriving, name, member);
                    if (answer.State == ContentState.Whole)
                    {
                        return new FetchEnd(IsHere: true, GoneThrough: -1, IsNowhere: false, Trouble: null);
                    }

                    gone = answer.State == ContentState.Gone ? Math.Max(gone, answer.AppliedIndex) : gone;
                }
                catch (Exception failure) when (failure is IOException or ContentRefusedException)
                {
                    if (failure is ContentRefusedException { Cause: ContentRefusal.NoRoom } or DiskException)
                    {
                        throw; // no other member changes that
                    }

                    // Bytes that differ from the hash are a damaged source, or one of several that gave pieces.
                    haveAllAnswered = false;
                    trouble = failure.Message;
                }
            }

            return new FetchEnd(IsHere: false, gone, haveAllAnswered && order.Count > 0 && only.IsNone, trouble);
        }
        finally
        {
            arriving.Dispose();
        }
    }

    private List<NodeId> OrderOf(NodeId first, NodeId only)
    {
        if (!only.IsNone)
        {
            return [only];
        }

        var members = host.Leadership.Configuration;
        List<NodeId> order = [.. members.Voters, .. members.Learners];
        order.RemoveAll(member => member == host.Self || member == first);
        if (!first.IsNone && first != host.Self)
        {
            order.Insert(0, first);
        }

        return order;
    }

    // Returns Whole once the content is durable; otherwise what the member has instead.
    private async Task<ContentPiece> ReadAllAsync(Arrival arriving, ContentName name, NodeId member)
    {
        byte[] buffer = ArrayPool<byte>.Shared.Rent(ReplicatedContents.PieceBytes);
        try
        {
            int failures = 0;
            while (true)
            {
                ContentPiece piece;
                try
                {
                    piece = await peers.ReadAsync(member, name, arriving.Length, buffer, stopping);
                }
                catch (IOException) when (++failures < MaxFailures && !stopping.IsCancellationRequested)
                {
                    await Task.Delay(RestAfterFailure * failures, time, stopping);
                    continue;
                }

                if (piece.State != ContentState.Whole)
                {
                    return piece;
                }

                failures = 0;
                if (await arriving.AddAsync(buffer.AsMemory(0, piece.Bytes)))
                {
                    return piece;
                }
            }
        }
        finally
        {
            ArrayPool<byte>.Shared.Return(buffer);
        }
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
                next.SetResult(); // passes the place on
            }
            else
            {
                _offered--;
            }
        }
    }

    /// <summary>The part of a content that has arrived.</summary>
    private sealed class Arrival(ReplicatedContents contents, ContentName name, Action<int> received) : IDisposable
    {
        private ContentUpload? _upload;

        public long Length => _upload?.Length ?? 0;

        /// <summary>Adds a piece; returns whether the content is whole and durable.</summary>
        /// <exception cref="ContentRefusedException">The bytes are not those of the content; they are discarded.
        /// Or the disk has no room.</exception>
        public async Task<bool> AddAsync(ReadOnlyMemory<byte> piece)
        {
            _upload ??= await contents.ReceiveAsync(name);
            try
            {
                bool isLast = piece.Length < ReplicatedContents.PieceBytes || Length + piece.Length >= name.Size;
                await _upload.WriteAsync(new ReadOnlySequence<byte>(piece));
                received(piece.Length);
                if (!isLast)
                {
                    return false;
                }

                contents.EndReceive(name, await _upload.CompleteAsync());
                return true;
            }
            catch (ContentRefusedException)
            {
                Dispose();
                throw;
            }
        }

        public void Dispose()
        {
            _upload?.Dispose();
            _upload = null;
        }
    }
}
