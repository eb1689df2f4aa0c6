using System.Buffers;
using Rookery.Documents.Attachments;
using Rookery.Platform;
using Rookery.Raft;

namespace Rookery.Cluster.Contents;

/// <summary>The result of a fetch of a content.</summary>
/// <param name="IsHere">Whether the content is durable here now.</param>
/// <param name="GoneThrough">The highest applied index at which a member had neither the content nor a row that names
/// it; -1 for none.</param>
/// <param name="IsNowhere">Whether all other members answered, and none has the content.</param>
/// <param name="Trouble">The last failure, in a sentence; null for none.</param>
internal readonly record struct FetchResult(bool IsHere, long GoneThrough, bool IsNowhere, string? Trouble);

/// <summary>
/// One fetch of one content. Asks a member for piece after piece, and asks the next member when that member fails or is
/// silent. The pieces that have arrived are kept meanwhile. Further callers may join, and each may name a member to ask
/// instead of a silent one. <see cref="Join"/> is thread-safe; <see cref="RunAsync"/> is called once.
/// </summary>
internal sealed class ContentFetch(
    RaftHost host,
    ReplicatedContents contents,
    IContentPeers peers,
    TimeProvider time,
    ContentName name,
    Action<int> received,
    CancellationToken stopping
)
{
    // The number of failed requests in a row after which a member counts as not answering.
    private const int MaxFailures = 3;

    private static readonly TimeSpan DelayAfterFailure = TimeSpan.FromMilliseconds(100);

    // Entries wait while a member that is off is asked in vain. So the next member is asked soon, and a slow member is
    // asked again later, with twice this timeout.
    private static readonly TimeSpan FirstPatience = TimeSpan.FromSeconds(5);

    // After this time, a silent member is no longer asked if a caller names the leader, or a member that offers the
    // content.
    private static readonly TimeSpan PatienceBeforeOther = TimeSpan.FromSeconds(1);

    private readonly TaskCompletionSource<FetchResult> _ended = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly Lock _gate = new();
    private readonly List<NodeId> _toAsk = []; // in this order
    private readonly HashSet<NodeId> _known = []; // all members that were or will be asked
    private readonly Dictionary<NodeId, int> _failures = [];
    private NodeId _leader;
    private bool _asksAll;
    private long _askedAt; // since when the asked member is silent
    private Action? _cancelRequest; // to the asked member
    private long _arrived;

    /// <summary>Completes when the fetch has ended. Never fails.</summary>
    public Task<FetchResult> Ended => _ended.Task;

    /// <summary>Bytes that have arrived.</summary>
    public long Arrived => Interlocked.Read(ref _arrived);

    /// <summary>Adds members to ask.</summary>
    /// <param name="first">The member to ask next, which is the leader, or has offered its state; none for any
    /// order. If the fetch asks another member, and that member has been silent for a second, the fetch stops asking
    /// it.</param>
    /// <param name="only">The only member that the caller wants to be asked; none for all members. The fetch stops
    /// asking a silent member, as for <paramref name="first"/>.</param>
    public void Join(NodeId first, NodeId only)
    {
        Action? cancelRequest = null;
        lock (_gate)
        {
            var next = only.IsNone ? first : only;
            Add(next);
            if (only.IsNone)
            {
                AddAll(first);
            }

            // A member that has failed waits for its turn.
            if (!_failures.ContainsKey(next) && _toAsk.Remove(next))
            {
                _toAsk.Insert(0, next);
                cancelRequest = time.GetElapsedTime(_askedAt) > PatienceBeforeOther ? _cancelRequest : null;
            }
        }

        cancelRequest?.Invoke();
    }

    /// <summary>Completes <see cref="Ended"/>.</summary>
    public void End(in FetchResult end) => _ended.SetResult(end);

    /// <summary>Fetches the content unless it is here.</summary>
    public async Task<FetchResult> RunAsync()
    {
        var end = new FetchResult(IsHere: false, GoneThrough: -1, IsNowhere: false, Trouble: null);
        try
        {
            return await contents.CheckAsync(name) ? end with { IsHere = true } : await AskMembersAsync();
        }
        catch (Exception failure) when (failure is not (InvariantViolationException or OutOfMemoryException))
        {
            return end with { Trouble = failure.Message }; // any failure: an entry may wait, and the log says why
        }
        catch (Exception failure)
        {
            host.Options.EndProcess(failure); // the task is not awaited
            return end with { Trouble = failure.Message };
        }
    }

    // Under the lock.
    private void AddAll(NodeId leader)
    {
        _asksAll = true;
        // A repair names no leader; keep the leader that another caller named.
        _leader = leader.IsNone ? _leader : leader;
        var members = host.Leadership.Configuration;
        foreach (var member in members.Voters)
        {
            Add(member);
        }

        foreach (var member in members.Learners)
        {
            Add(member);
        }
    }

    // Under the lock.
    private void Add(NodeId member)
    {
        if (!member.IsNone && member != host.Self && _known.Add(member))
        {
            _toAsk.Add(member);
        }
    }

    private async Task<FetchResult> AskMembersAsync()
    {
        using var arriving = new Arrival(contents, name, CountArrived);
        long gone = -1;
        bool haveAllAnswered = true;
        bool hasListed = false;
        bool isListed = false;
        string? trouble = null;
        while (true)
        {
            while (TryDequeueNext(out var member, out int failures, out var asking))
            {
                try
                {
                    if (failures > 0)
                    {
                        await Task.Delay(DelayAfterFailure * failures, time, stopping);
                    }

                    var answer = await ReadAllAsync(arriving, member, FirstPatience * (1 << failures), asking);
                    if (answer.State == ContentState.Whole)
                    {
                        return new FetchResult(IsHere: true, GoneThrough: -1, IsNowhere: false, Trouble: null);
                    }

                    gone = answer.State == ContentState.Gone ? Math.Max(gone, answer.AppliedIndex) : gone;
                    EndAsking(member, isDone: true);
                }
                catch (OperationCanceledException)
                    when (asking.IsCancellationRequested && !stopping.IsCancellationRequested)
                {
                    EndAsking(member, isDone: false); // Join named another member
                }
                catch (Exception failure) when (failure is IOException or ContentRefusedException)
                {
                    if (failure is ContentRefusedException { Cause: ContentRefusal.NoRoom } or DiskException)
                    {
                        throw; // no other member changes that
                    }

                    // ContentRefusedException: the bytes do not match the hash. This member, or another one that sent
                    // pieces, has a damaged content.
                    bool isLast = CountFailure(member) == MaxFailures || failure is ContentRefusedException;
                    haveAllAnswered &= !isLast;
                    trouble = failure.Message;
                    EndAsking(member, isDone: isLast);
                }
            }

            if (hasListed || !haveAllAnswered)
            {
                break;
            }

            // This node's configuration may be empty or old: a member that it does not know may have the content.
            (hasListed, isListed) = (true, await AddMembersOfLeaderAsync());
        }

        return new FetchResult(IsHere: false, gone, haveAllAnswered && isListed, trouble);
    }

    private bool TryDequeueNext(out NodeId member, out int failures, out CancellationToken asking)
    {
        lock (_gate)
        {
            if (_toAsk.Count == 0)
            {
                (member, failures, asking) = (default, 0, default);
                return false;
            }

            member = _toAsk[0];
            _toAsk.RemoveAt(0);
            failures = _failures.GetValueOrDefault(member);
            _askedAt = time.GetTimestamp();
            var source = new CancellationTokenSource(); // without a timer, so nothing is left to dispose
            _cancelRequest = source.Cancel;
            asking = source.Token;
            return true;
        }
    }

    // Returns the number of the member's failures in a row, with this one.
    private int CountFailure(NodeId member)
    {
        lock (_gate)
        {
            int failures = _failures.GetValueOrDefault(member) + 1;
            _failures[member] = failures;
            return failures;
        }
    }

    private void EndAsking(NodeId member, bool isDone)
    {
        lock (_gate)
        {
            _cancelRequest = null;
            if (!isDone)
            {
                _toAsk.Add(member);
            }
        }
    }

    // Returns whether the leader has listed the members, and this node is one of them.
    private async Task<bool> AddMembersOfLeaderAsync()
    {
        NodeId leader;
        lock (_gate)
        {
            leader = _leader;
            if (!_asksAll || leader.IsNone || leader == host.Self)
            {
                return false;
            }
        }

        try
        {
            var listing = await LimitAsync(
                FirstPatience,
                ended => peers.ListAsync(leader, after: null, ended),
                CancellationToken.None
            );
            lock (_gate)
            {
                foreach (var member in listing.Members)
                {
                    Add(member);
                }
            }

            return listing.Members.Contains(host.Self);
        }
        catch (IOException)
        {
            return false;
        }
    }

    // Returns Whole once the content is durable; otherwise what the member has instead.
    private async Task<ContentPiece> ReadAllAsync(
        Arrival arriving,
        NodeId member,
        TimeSpan patience,
        CancellationToken asking
    )
    {
        byte[] buffer = ArrayPool<byte>.Shared.Rent(ReplicatedContents.PieceBytes);
        try
        {
            while (true)
            {
                var piece = await LimitAsync(
                    patience,
                    ended => peers.ReadAsync(member, name, arriving.Length, buffer, ended),
                    asking
                );
                if (piece.State != ContentState.Whole || await arriving.AddAsync(buffer.AsMemory(0, piece.Bytes)))
                {
                    return piece;
                }

                lock (_gate)
                {
                    // Only failures in a row count: with a large content, a flaky network breaks more than three
                    // requests.
                    _failures.Remove(member);
                    _askedAt = time.GetTimestamp();
                }
            }
        }
        finally
        {
            ArrayPool<byte>.Shared.Return(buffer);
        }
    }

    private async Task<T> LimitAsync<T>(
        TimeSpan patience,
        Func<CancellationToken, Task<T>> ask,
        CancellationToken asking
    )
    {
        using var silent = new CancellationTokenSource(patience, time);
        using var ended = CancellationTokenSource.CreateLinkedTokenSource(silent.Token, asking, stopping);
        try
        {
            return await ask(ended.Token);
        }
        catch (OperationCanceledException cancelled)
            when (!stopping.IsCancellationRequested && !asking.IsCancellationRequested)
        {
            throw new IOException($"A member has been silent for {patience.TotalSeconds:0} s.", cancelled);
        }
    }

    private void CountArrived(int bytes, long length)
    {
        Interlocked.Exchange(ref _arrived, length);
        received(bytes);
    }

    /// <summary>The part of a content that has arrived.</summary>
    private sealed class Arrival(ReplicatedContents contents, ContentName name, Action<int, long> received)
        : IDisposable
    {
        private ContentUpload? _upload;

        public long Length => _upload?.Length ?? 0;

        /// <summary>Adds a piece; returns whether the content is whole and durable.</summary>
        /// <exception cref="ContentRefusedException">The bytes differ from the content's hash; they are
        /// discarded. Or the disk has no room.</exception>
        public async Task<bool> AddAsync(ReadOnlyMemory<byte> piece)
        {
            _upload ??= await contents.ReceiveAsync(name);
            try
            {
                bool isLast = piece.Length < ReplicatedContents.PieceBytes || Length + piece.Length >= name.Size;
                await _upload.WriteAsync(new ReadOnlySequence<byte>(piece));
                received(piece.Length, Length);
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
