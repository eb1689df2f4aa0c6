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
/// One fetch of one content. Asks a member for piece after piece, and goes on with the next member when one fails or is
/// silent. What has arrived is kept meanwhile. Further callers may join, and bring a member to ask instead of a silent
/// one. <see cref="Join"/> is thread-safe; <see cref="RunAsync"/> is called once.
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
    // Requests of one member that fail, before it counts as one that did not answer.
    private const int MaxFailures = 3;

    private static readonly TimeSpan RestAfterFailure = TimeSpan.FromMilliseconds(100);

    // A member that is off answers nothing for as long as it is asked, and entries wait meanwhile. So the next member
    // is asked soon, and a slow member is asked again with twice the patience.
    private static readonly TimeSpan FirstPatience = TimeSpan.FromSeconds(5);

    // A silent member is left for the leader, or for another member that offers the content, after this time.
    private static readonly TimeSpan PatienceBesideOther = TimeSpan.FromSeconds(1);

    private readonly TaskCompletionSource<FetchEnd> _ended = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly Lock _gate = new();
    private readonly List<NodeId> _left = []; // to ask, in this order
    private readonly HashSet<NodeId> _known = []; // all members that were or will be asked
    private readonly Dictionary<NodeId, int> _failures = [];
    private NodeId _leader;
    private bool _asksAll;
    private long _askedAt; // since when the asked member is silent
    private Action? _leave; // cancels the request to the asked member
    private long _arrived;

    /// <summary>Completes when the fetch has ended. Never fails.</summary>
    public Task<FetchEnd> Ended => _ended.Task;

    /// <summary>Bytes that have arrived.</summary>
    public long Arrived => Interlocked.Read(ref _arrived);

    /// <summary>Adds members to ask.</summary>
    /// <param name="first">The member to ask next, which is the leader, or has offered its state; none for any
    /// order. A member that is asked now is left for it after a second of silence.</param>
    /// <param name="only">The only member that the caller asks; none for all members. A silent member is left for it,
    /// too.</param>
    public void Join(NodeId first, NodeId only)
    {
        Action? leave = null;
        lock (_gate)
        {
            var next = only.IsNone ? first : only;
            Add(next);
            if (only.IsNone)
            {
                AddAll(first);
            }

            // A member that has failed waits for its turn.
            if (!_failures.ContainsKey(next) && _left.Remove(next))
            {
                _left.Insert(0, next);
                leave = time.GetElapsedTime(_askedAt) > PatienceBesideOther ? _leave : null;
            }
        }

        leave?.Invoke();
    }

    /// <summary>Completes <see cref="Ended"/>.</summary>
    public void End(in FetchEnd end) => _ended.SetResult(end);

    /// <summary>Fetches the content unless it is here.</summary>
    public async Task<FetchEnd> RunAsync()
    {
        var end = new FetchEnd(IsHere: false, GoneThrough: -1, IsNowhere: false, Trouble: null);
        try
        {
            return await contents.CheckAsync(name) ? end with { IsHere = true } : await AskMembersAsync();
        }
        catch (Exception failure) when (failure is not (InvariantViolationException or OutOfMemoryException))
        {
            return end with { Trouble = failure.Message }; // whatever it is, an entry may wait, and its log says why
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
        // A repair knows no leader.
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
            _left.Add(member);
        }
    }

    private async Task<FetchEnd> AskMembersAsync()
    {
        using var arriving = new Arrival(contents, name, CountArrived);
        long gone = -1;
        bool haveAllAnswered = true;
        bool hasListed = false;
        bool isListed = false;
        string? trouble = null;
        while (true)
        {
            while (Next(out var member, out int failures, out var asking))
            {
                try
                {
                    if (failures > 0)
                    {
                        await Task.Delay(RestAfterFailure * failures, time, stopping);
                    }

                    var answer = await ReadAllAsync(arriving, member, FirstPatience * (1 << failures), asking);
                    if (answer.State == ContentState.Whole)
                    {
                        return new FetchEnd(IsHere: true, GoneThrough: -1, IsNowhere: false, Trouble: null);
                    }

                    gone = answer.State == ContentState.Gone ? Math.Max(gone, answer.AppliedIndex) : gone;
                    EndAsking(member, isDone: true);
                }
                catch (OperationCanceledException)
                    when (asking.IsCancellationRequested && !stopping.IsCancellationRequested)
                {
                    EndAsking(member, isDone: false); // left for another member
                }
                catch (Exception failure) when (failure is IOException or ContentRefusedException)
                {
                    if (failure is ContentRefusedException { Cause: ContentRefusal.NoRoom } or DiskException)
                    {
                        throw; // no other member changes that
                    }

                    // Bytes that differ from the hash are a damaged source, or one of several that gave pieces.
                    bool isLast = failure is ContentRefusedException || failures + 1 == MaxFailures;
                    haveAllAnswered &= !isLast;
                    trouble = failure.Message;
                    EndAsking(member, isLast, hasFailed: true);
                }
            }

            if (hasListed || !haveAllAnswered)
            {
                break;
            }

            // This node's configuration may be empty or old: a member that it does not know may have the content.
            (hasListed, isListed) = (true, await AddMembersOfLeaderAsync());
        }

        return new FetchEnd(IsHere: false, gone, haveAllAnswered && isListed, trouble);
    }

    private bool Next(out NodeId member, out int failures, out CancellationToken asking)
    {
        lock (_gate)
        {
            if (_left.Count == 0)
            {
                (member, failures, asking) = (default, 0, default);
                return false;
            }

            member = _left[0];
            _left.RemoveAt(0);
            failures = _failures.GetValueOrDefault(member);
            _askedAt = time.GetTimestamp();
            var source = new CancellationTokenSource(); // without a timer, so nothing is left to dispose
            _leave = source.Cancel;
            asking = source.Token;
            return true;
        }
    }

    private void EndAsking(NodeId member, bool isDone, bool hasFailed = false)
    {
        lock (_gate)
        {
            _leave = null;
            if (hasFailed)
            {
                _failures[member] = _failures.GetValueOrDefault(member) + 1;
            }

            if (!isDone)
            {
                _left.Add(member);
            }
        }
    }

    // Returns whether the leader has said who the members are, and this node is one of them.
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
                    // Failures in a row count: over a large content, a flaky network breaks more than three requests.
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
        /// <exception cref="ContentRefusedException">The bytes are not those of the content; they are discarded.
        /// Or the disk has no room.</exception>
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
