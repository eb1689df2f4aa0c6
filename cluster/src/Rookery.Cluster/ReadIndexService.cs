using Rookery.Raft;

namespace Rookery.Cluster;

/// <summary>
/// Reads that see every write acknowledged before them (thesis 6.4). All that wait share one question, and those that
/// come meanwhile the next.
/// </summary>
/// <remarks>
/// The lock of <see cref="RaftHost"/> guards all fields. Methods that begin or end waits for callers take it
/// themselves; those that serve a step are called under it, and say so.
/// </remarks>
internal sealed class ReadIndexService(RaftHost host)
{
    /// <summary>
    /// So many election timeouts a read, or a write for the leader, waits for one before it says that there is none.
    /// </summary>
    public const int PatienceInTimeouts = 2;

    private readonly List<ReadRound> _confirmed = [];
    private ReadRound? _asking;
    private ReadRound? _next;
    private long _readNumber;
    private bool _isNextReadDue;
    private long _caughtUpIn;
    private bool _isReadWaitOver;

    /// <summary>
    /// The last term in which this node had applied all that was committed when it asked; 0 for none.
    /// </summary>
    public long CaughtUpIn => Volatile.Read(ref _caughtUpIn);

    /// <summary>Whether it had since its start.</summary>
    public bool HasEverCaughtUp => CaughtUpIn != 0;

    /// <summary>Ends all waits, from now on: what is not known at once is false. For a node that stops.</summary>
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

    /// <summary>Asks the leader how far must be applied, and waits until that is.</summary>
    /// <returns>
    /// False when this node cannot promise now that a snapshot taken then sees every acknowledged write.
    /// </returns>
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
    /// Asks for those that came meanwhile. Under the lock, not within a step, because it is one itself.
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

    /// <summary>Takes the core's word for how far must have been applied. Under the lock.</summary>
    public void Serve()
    {
        bool isAnswered = false;
        foreach (var (number, index) in host.Output.Reads)
        {
            // The answer to a question that was given up serves nobody.
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

    /// <summary>Ends the waits for what is applied. Under the lock.</summary>
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
    /// Once in each term, whether anybody reads or not: what is known of the members may be old until then.
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

    /// <summary>Ends waits that took too long. Under the lock.</summary>
    public void GiveUpLate()
    {
        long patience = PatienceInTimeouts * host.Core.ElectionTimeoutMicroseconds;
        if (_asking is { } asked && host.Now - asked.Begun > patience)
        {
            _asking = null;
            asked.End(maySee: false);
            AskForNext();
        }

        for (int i = _confirmed.Count - 1; i >= 0; i--)
        {
            if (host.Now - _confirmed[i].Begun > 2 * patience)
            {
                _confirmed[i].End(maySee: false);
                _confirmed.RemoveAt(i);
            }
        }
    }

    /// <summary>Waits until an entry is applied, or nobody can say when it will be.</summary>
    public async ValueTask AppliedAsync(long index)
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

    /// <summary>Nobody answers reads any more.</summary>
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

    /// <summary>Reads that wait for the same answer.</summary>
    private sealed class ReadRound(long begun)
    {
        private readonly TaskCompletionSource<bool> _ended = new(TaskCreationOptions.RunContinuationsAsynchronously);

        public long Begun { get; } = begun;

        public long Number { get; set; }

        /// <summary>The term in which it was asked; 0 for who waits for an entry.</summary>
        public long Term { get; set; }

        public long Index { get; set; }

        public Task<bool> Task => _ended.Task;

        public void End(bool maySee) => _ended.TrySetResult(maySee);
    }
}
