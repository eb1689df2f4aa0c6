using Rookery.Raft;

namespace Rookery.Cluster;

/// <summary>
/// Implements linearizable reads: they see every write acknowledged before them (Raft thesis, 6.4). All waiting reads
/// share one request to the core. Reads that arrive meanwhile share the next request.
/// </summary>
/// <remarks>
/// All fields are guarded by the lock of <see cref="RaftHost"/>. Methods take the lock themselves, unless their summary
/// says "under the lock".
/// </remarks>
internal sealed class ReadIndexService(RaftHost host)
{
    /// <summary>
    /// The number of election timeouts that a read, or a forwarded write, waits for a leader before it fails.
    /// </summary>
    public const int WaitInElectionTimeouts = 2;

    private readonly List<ReadRound> _confirmed = [];
    private ReadRound? _requested;
    private ReadRound? _waiting;
    private long _readNumber;
    private bool _isRequestDue;
    private long _caughtUpTerm;
    private bool _isStopping;

    /// <summary>The last term in which this node applied through a read index of the leader; 0 for none.</summary>
    public long CaughtUpTerm => Volatile.Read(ref _caughtUpTerm);

    /// <summary>Whether this node has caught up in any term since its start.</summary>
    public bool HasEverCaughtUp => CaughtUpTerm != 0;

    /// <summary>Ends all present and later waits with false, because the node is stopping.</summary>
    public void RefuseWaitingAndLater()
    {
        lock (host.Gate)
        {
            _isStopping = true;
            _requested?.End(isUpToDate: false);
            _waiting?.End(isUpToDate: false);
            foreach (var round in _confirmed)
            {
                round.End(isUpToDate: false);
            }
        }
    }

    /// <summary>Asks the leader for the read index and waits until this node has applied it.</summary>
    /// <returns>Whether a snapshot taken now sees every acknowledged write; false when this node cannot promise
    /// that.</returns>
    public ValueTask<bool> WaitForReadIndexAsync()
    {
        lock (host.Gate)
        {
            if (host.IsHalted)
            {
                return ValueTask.FromResult(false);
            }

            _waiting ??= new ReadRound(host.Now);
            var round = _waiting;
            RequestIndex();
            if (_isStopping)
            {
                round.End(isUpToDate: false);
            }

            return new ValueTask<bool>(round.Task);
        }
    }

    /// <summary>
    /// Requests a read index for the reads that arrived meanwhile. Under the lock, but not during a step of the core,
    /// because this method steps the core.
    /// </summary>
    public void RequestIndexIfDue()
    {
        if (_isRequestDue)
        {
            _isRequestDue = false;
            RequestIndex();
        }
    }

    private void RequestIndex()
    {
        if (_requested is null && _waiting is { } round)
        {
            _requested = round;
            _waiting = null;
            _readNumber++;
            round.Number = _readNumber;
            round.Term = host.Core.Term;
            host.Step(Input.Read(host.Now, round.Number));
        }
    }

    /// <summary>Handles the read indexes and refusals of the last step. Under the lock.</summary>
    public void HandleReadResults()
    {
        bool isAnswered = false;
        foreach (var (number, index) in host.Output.Reads)
        {
            // Ignore the answer to a request that has timed out.
            if (_requested is { } round && round.Number == number)
            {
                round.Index = index;
                _confirmed.Add(round);
                _requested = null;
                isAnswered = true;
            }
        }

        foreach (long number in host.Output.RefusedReads)
        {
            if (_requested is { } refused && refused.Number == number)
            {
                _requested = null;
                refused.End(isUpToDate: false);
                _isRequestDue = true;
            }
        }

        if (isAnswered)
        {
            EndThrough(host.Progress.Applied);
            _isRequestDue = true;
        }
    }

    /// <summary>Ends the waits whose index is applied. Under the lock.</summary>
    public void EndThrough(long applied)
    {
        for (int i = _confirmed.Count - 1; i >= 0; i--)
        {
            if (_confirmed[i].Index <= applied)
            {
                Volatile.Write(ref _caughtUpTerm, Math.Max(_caughtUpTerm, _confirmed[i].Term));
                _confirmed[i].End(isUpToDate: true);
                _confirmed.RemoveAt(i);
            }
        }
    }

    /// <summary>
    /// Requests a read index once in each term, even without readers, so that <see cref="CaughtUpTerm"/> becomes
    /// current. Under the lock.
    /// </summary>
    public void RequestIndexOncePerTerm()
    {
        if (!host.IsHalted && !host.Core.Leader.IsNone && _caughtUpTerm != host.Core.Term)
        {
            _waiting ??= new ReadRound(host.Now);
            RequestIndex();
        }
    }

    /// <summary>Ends waits that have timed out. Under the lock.</summary>
    public void EndTimedOut()
    {
        long timeout = WaitInElectionTimeouts * host.Core.ElectionTimeoutMicroseconds;
        if (_requested is { } requested && host.Now - requested.StartedAt > timeout)
        {
            _requested = null;
            requested.End(isUpToDate: false);
            RequestIndex();
        }

        for (int i = _confirmed.Count - 1; i >= 0; i--)
        {
            if (host.Now - _confirmed[i].StartedAt > 2 * timeout)
            {
                _confirmed[i].End(isUpToDate: false);
                _confirmed.RemoveAt(i);
            }
        }
    }

    /// <summary>
    /// Waits until an entry is applied. Also returns on timeout, when applying is halted or blocked, and when the node
    /// is stopping.
    /// </summary>
    public async ValueTask WaitUntilAppliedAsync(long index)
    {
        if (host.Progress.Applied >= index)
        {
            return;
        }

        ReadRound round;
        lock (host.Gate)
        {
            if (host.Progress.Applied >= index || host.IsHalted || host.Progress.IsBlocked || _isStopping)
            {
                return;
            }

            round = new ReadRound(host.Now) { Index = index };
            _confirmed.Add(round);
        }

        await round.Task;
    }

    /// <summary>Ends all present waits with false, because the node is halted or disposed.</summary>
    public void RefuseWaiting()
    {
        lock (host.Gate)
        {
            _requested?.End(isUpToDate: false);
            _waiting?.End(isUpToDate: false);
            _requested = null;
            _waiting = null;
            foreach (var round in _confirmed)
            {
                round.End(isUpToDate: false);
            }

            _confirmed.Clear();
        }
    }

    /// <summary>The reads that share one request for a read index.</summary>
    private sealed class ReadRound(long startedAt)
    {
        private readonly TaskCompletionSource<bool> _ended = new(TaskCreationOptions.RunContinuationsAsynchronously);

        public long StartedAt { get; } = startedAt;

        public long Number { get; set; }

        /// <summary>The term of the request; 0 for a wait for an entry.</summary>
        public long Term { get; set; }

        public long Index { get; set; }

        public Task<bool> Task => _ended.Task;

        public void End(bool isUpToDate) => _ended.TrySetResult(isUpToDate);
    }
}
