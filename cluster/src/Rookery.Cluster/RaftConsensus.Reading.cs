using Rookery.Raft;

namespace Rookery.Cluster;

/// <summary>
/// Reads that see every write acknowledged before them (thesis 6.4). All that wait share one question, and those that
/// come meanwhile the next.
/// </summary>
public sealed partial class RaftConsensus
{
    // So many election timeouts a read waits for a leader before it says that there is none.
    private const int PatienceInTimeouts = 2;

    private ReadRound? _asking;
    private ReadRound? _next;
    private readonly List<ReadRound> _confirmed = [];
    private long _readNumber;
    private bool _isNextReadDue;
    private long _caughtUpIn;
    private bool _isReadWaitOver;

    /// <summary>
    /// Whether this node has applied all that was committed when it first asked the leader of this term.
    /// </summary>
    internal bool HasCaughtUp => !Leader.IsNone && Volatile.Read(ref _caughtUpIn) == Term;

    /// <inheritdoc/>
    public ValueTask<bool> ReadBarrierAsync()
    {
        if (_host.IsLatched)
        {
            return ValueTask.FromResult(false);
        }

        // Alone, answered means applied here, so any snapshot taken now sees every acknowledged write.
        return _network is null && IsReady ? ValueTask.FromResult(true) : AskAsync();
    }

    /// <inheritdoc/>
    public void EndWaitingReads()
    {
        lock (_host.Gate)
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

    private ValueTask<bool> AskAsync()
    {
        lock (_host.Gate)
        {
            if (_host.IsHalted)
            {
                return ValueTask.FromResult(false);
            }

            _next ??= new ReadRound(_host.Now);
            var mine = _next;
            AskForNext();
            if (_isReadWaitOver)
            {
                mine.End(maySee: false);
            }

            return new ValueTask<bool>(mine.Task);
        }
    }

    /// <summary>Not within a step, because it is one itself.</summary>
    private void AskForNextIfDue()
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
            round.Term = _host.Core.Term;
            _host.Step(Input.Read(_host.Now, round.Number));
        }
    }

    /// <summary>Takes the core's word for how far must have been applied. Under the lock.</summary>
    private void ServeReads()
    {
        bool isAnswered = false;
        foreach (var (number, index) in _host.Output.Reads)
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

        foreach (long number in _host.Output.RefusedReads)
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
            EndReadsThrough(_applied);
            _isNextReadDue = true;
        }
    }

    private void EndReadsThrough(long applied)
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
    /// </summary>
    private void AskWhetherCaughtUp()
    {
        if (!_host.IsHalted && !_host.Core.Leader.IsNone && _caughtUpIn != _host.Core.Term)
        {
            _next ??= new ReadRound(_host.Now);
            AskForNext();
        }
    }

    private void GiveUpLateReads()
    {
        long patience = PatienceInTimeouts * _host.Core.ElectionTimeoutMicroseconds;
        if (_asking is { } asked && _host.Now - asked.Begun > patience)
        {
            _asking = null;
            asked.End(maySee: false);
            AskForNext();
        }

        for (int i = _confirmed.Count - 1; i >= 0; i--)
        {
            if (_host.Now - _confirmed[i].Begun > 2 * patience)
            {
                _confirmed[i].End(maySee: false);
                _confirmed.RemoveAt(i);
            }
        }
    }

    /// <summary>Nobody answers reads any more. Under the lock.</summary>
    private void EndReads()
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
