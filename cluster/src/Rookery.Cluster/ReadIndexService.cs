using Rookery.Raft;

namespace Rookery.Cluster;

/// <summary>
/// Implements linearizable reads: they see every write acknowledged before them (thesis 6.4). All waiting reads share
/// one request to the core. Reads that arrive meanwhile share the next request.
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
    private ReadRound? _asking;
    private ReadRound? _next;
    private long _readNumber;
    private bool _isNextReadDue;
    private long _caughtUpIn;
    private bool _isReadWaitOver;

    /// <summary>The last term in which this node applied through a read index of the leader; 0 for none.</summary>
    public long CaughtUpIn => Volatile.Read(ref _caughtUpIn);

    /// <summary>Whether this node has caught up in any term since its start.</summary>
    public bool HasEverCaughtUp => CaughtUpIn != 0;

    /// <summary>Ends all present and future waits with false, because the node is stopping.</summary>
    public void EndWaiting()
    {
        lock (host.Gate)
        {
            _isReadWaitOver = true;
            _asking?.End(maySee: false);
            _next?.End(maySee: false);
            foreach (var round in _confirmed)
            {
                round.End(maySee: false);
            }
        }
    }

    /// <summary>Asks the leader for the read index and waits until this node has applied it.</summary>
    /// <returns>Whether a snapshot taken now sees every acknowledged write; false when this node cannot promise
    /// that.</returns>
    public ValueTask<bool> AskAsync()
    {
        lock (host.Gate)
        {
            if (host.IsHalted)
            {
                return ValueTask.FromResult(false);
            }

            _next ??= new ReadRound(host.Now);
            var mine = _next;
            AskForNext();
            if (_isReadWaitOver)
            {
                mine.End(maySee: false);
            }

            return new ValueTask<bool>(mine.Task);
        }
    }

    /// <summary>
    /// Requests a read index for the reads that arrived meanwhile. Under the lock, but not during a step of the core,
    /// because this method steps the core.
    /// </summary>
    public void AskForNextIfDue()
    {
        if (_isNextReadDue)
        {
            _isNextReadDue = false;
            AskForNext();
        }
    }

    private void AskForNext()
    {
        if (_asking is null && _next is { } round)
        {
            (_asking, _next) = (round, null);
            round.Number = ++_readNumber;
            round.Term = host.Core.Term;
            host.Step(Input.Read(host.Now, round.Number));
        }
    }

    /// <summary>Handles the read indexes and refusals of the last step. Under the lock.</summary>
    public void Serve()
    {
        bool isAnswered = false;
        foreach (var (number, index) in host.Output.Reads)
        {
            // Ignore the answer to a request that has timed out.
            if (_asking is { } round && round.Number == number)
            {
                round.Index = index;
                _confirmed.Add(round);
                _asking = null;
                isAnswered = true;
            }
        }

        foreach (long number in host.Output.RefusedReads)
        {
            if (_asking is { } refused && refused.Number == number)
            {
                _asking = null;
                refused.End(maySee: false);
                _isNextReadDue = true;
            }
        }

        if (isAnswered)
        {
            EndThrough(host.Progress.Applied);
            _isNextReadDue = true;
        }
    }

    /// <summary>Ends the waits whose index is applied. Under the lock.</summary>
    public void EndThrough(long applied)
    {
        for (int i = _confirmed.Count - 1; i >= 0; i--)
        {
            if (_confirmed[i].Index <= applied)
            {
                Volatile.Write(ref _caughtUpIn, Math.Max(_caughtUpIn, _confirmed[i].Term));
                _confirmed[i].End(maySee: true);
                _confirmed.RemoveAt(i);
            }
        }
    }

    /// <summary>
    /// Requests a read index once in each term, even without readers, so that <see cref="CaughtUpIn"/> becomes current.
    /// Under the lock.
    /// </summary>
    public void AskWhetherCaughtUp()
    {
        if (!host.IsHalted && !host.Core.Leader.IsNone && _caughtUpIn != host.Core.Term)
        {
            _next ??= new ReadRound(host.Now);
            AskForNext();
        }
    }

    /// <summary>Ends waits that have timed out. Under the lock.</summary>
    public void GiveUpLate()
    {
        long timeout = WaitInElectionTimeouts * host.Core.ElectionTimeoutMicroseconds;
        if (_asking is { } asked && host.Now - asked.Begun > timeout)
        {
            _asking = null;
            asked.End(maySee: false);
            AskForNext();
        }

        for (int i = _confirmed.Count - 1; i >= 0; i--)
        {
            if (host.Now - _confirmed[i].Begun > 2 * timeout)
            {
                _confirmed[i].End(maySee: false);
                _confirmed.RemoveAt(i);
            }
        }
    }

    /// <summary>
    /// Waits until an entry is applied. Also returns on timeout, and when applying is halted or blocked.
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
            if (host.Progress.Applied >= index || host.IsHalted || host.Progress.IsBlocked)
            {
                return;
            }

            round = new ReadRound(host.Now) { Index = index };
            _confirmed.Add(round);
        }

        await round.Task;
    }

    /// <summary>Ends all waits with false, because the node is halted or disposed.</summary>
    public void End()
    {
        lock (host.Gate)
        {
            _asking?.End(maySee: false);
            _next?.End(maySee: false);
            (_asking, _next) = (null, null);
            foreach (var round in _confirmed)
            {
                round.End(maySee: false);
            }

            _confirmed.Clear();
        }
    }

    /// <summary>The reads that share one request for a read index.</summary>
    private sealed class ReadRound(long begun)
    {
        private readonly TaskCompletionSource<bool> _ended = new(TaskCreationOptions.RunContinuationsAsynchronously);

        public long Begun { get; } = begun;

        public long Number { get; set; }

        /// <summary>The term of the request; 0 for a wait for an entry.</summary>
        public long Term { get; set; }

        public long Index { get; set; }

        public Task<bool> Task => _ended.Task;

        public void End(bool maySee) => _ended.TrySetResult(maySee);
    }
}
