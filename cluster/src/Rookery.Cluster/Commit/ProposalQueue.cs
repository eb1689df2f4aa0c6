namespace Rookery.Cluster.Commit;

/// <summary>
/// The proposals that wait for the next journal write. Any thread adds proposals. The holder of the write turn removes
/// them: the journal thread or, while that sleeps, a caller. Adding takes no lock, except to wake the
/// journal thread when the caller does not take the turn.
/// </summary>
internal sealed class ProposalQueue
{
    // Values of _turnHolder: the holder of the write turn. Only the journal thread frees its turn, and only by going to
    // sleep.
    private const int HeldByJournalThread = 0;
    private const int Free = 1;
    private const int HeldByCaller = 2;

    // The newest item of a closed queue.
    private static readonly Proposal ClosedMarker = Proposal.MakeMarker();

    private readonly object _gate = new();
    private Proposal? _newest;
    private int _count;

    // Number of queued proposals at which the journal thread wakes; 0 while it does not wait for proposals.
    private int _wakeAtCount;
    private int _turnHolder;

    /// <summary>
    /// Returns whether the journal thread has work that is not in this queue; called when a turn ends.
    /// </summary>
    public required Func<bool> HasOtherWork { get; init; }

    /// <summary>The approximate number of queued proposals.</summary>
    public int Count => Volatile.Read(ref _count);

    /// <summary>Adds a proposal.</summary>
    /// <param name="proposal">The proposal.</param>
    /// <param name="mayTakeTurn">Whether the caller's thread may commit the queued proposals.</param>
    /// <param name="hasTurn">True when the caller now holds the write turn: it commits the queued proposals, then calls
    /// <see cref="ReleaseTurn"/>.</param>
    /// <returns>False when the queue is closed: the proposal was not added.</returns>
    public bool TryEnqueue(Proposal proposal, bool mayTakeTurn, out bool hasTurn)
    {
        hasTurn = false;
        bool isAwaitedCountReached = Interlocked.Increment(ref _count) == Volatile.Read(ref _wakeAtCount);
        if (isAwaitedCountReached)
        {
            // Wake the journal thread before the push, so that it starts to run while this thread pushes. If the
            // journal thread takes the queue before the push, the next write contains this proposal.
            lock (_gate)
            {
                Monitor.Pulse(_gate);
            }
        }

        if (!TryPush(proposal))
        {
            Interlocked.Decrement(ref _count);
            return false;
        }

        if (Volatile.Read(ref _turnHolder) != Free)
        {
            return true;
        }

        if (mayTakeTurn)
        {
            hasTurn = Interlocked.CompareExchange(ref _turnHolder, HeldByCaller, Free) == Free;
        }
        else
        {
            Wake();
        }

        return true;
    }

    /// <summary>
    /// Releases a caller's turn. Wakes the journal thread when proposals or other work wait, or when it must stop.
    /// </summary>
    /// <param name="isStopping">Set, before <see cref="Wake"/>, by the thread that stops the journal thread.</param>
    public void ReleaseTurn(ref bool isStopping)
    {
        Interlocked.Exchange(ref _turnHolder, Free);
        if (HasOtherWork() || Volatile.Read(ref _newest) is not null || Volatile.Read(ref isStopping))
        {
            Wake();
        }
    }

    /// <summary>Moves all proposals to <paramref name="target"/>, oldest first. Called by the holder of the
    /// turn.</summary>
    public void MoveAllTo(Queue<Proposal> target) => MoveAll(target, replacement: null);

    /// <summary>
    /// Moves all proposals to <paramref name="target"/>, oldest first, and closes the queue: later additions fail.
    /// </summary>
    public void CloseAndMoveAllTo(Queue<Proposal> target) => MoveAll(target, replacement: ClosedMarker);

    /// <summary>
    /// Releases the journal thread's turn and sleeps until it gets the turn again: when a caller queues a proposal and
    /// does not take the turn, when other work is due, or when <see cref="Wake"/> is called after
    /// <paramref name="isStopping"/> was set.
    /// </summary>
    public void WaitForTurn(ref bool isStopping)
    {
        Interlocked.Exchange(ref _turnHolder, Free);
        if (Volatile.Read(ref _newest) is not null || HasOtherWork() || Volatile.Read(ref isStopping))
        {
            Wake();
        }

        lock (_gate)
        {
            while (Volatile.Read(ref _turnHolder) != HeldByJournalThread)
            {
                Monitor.Wait(_gate);
            }
        }
    }

    /// <summary>
    /// Sleeps, keeping the turn, until <paramref name="count"/> proposals are queued, other work waits,
    /// <see cref="Wake"/> is called after <paramref name="isStopping"/> was set, or the timeout passes.
    /// </summary>
    public void WaitForProposals(int count, int milliseconds, ref bool isStopping)
    {
        lock (_gate)
        {
            // Interlocked, because other threads must see the value before the reads below. Otherwise a thread could
            // add a proposal or wake this thread without seeing the value, while this thread does not see the addition
            // either and falls asleep.
            Interlocked.Exchange(ref _wakeAtCount, count);
            if (Count < count && !HasOtherWork() && !Volatile.Read(ref isStopping))
            {
                Monitor.Wait(_gate, milliseconds);
            }

            Volatile.Write(ref _wakeAtCount, 0);
        }
    }

    /// <summary>
    /// Assigns a free turn to the journal thread and wakes it; also ends its <see cref="WaitForProposals"/>. Does
    /// nothing while a caller holds the turn, because its release checks for work.
    /// </summary>
    public void Wake()
    {
        bool wasFree = Interlocked.CompareExchange(ref _turnHolder, HeldByJournalThread, Free) == Free;
        if (wasFree || Volatile.Read(ref _wakeAtCount) > 0)
        {
            lock (_gate)
            {
                Monitor.Pulse(_gate);
            }
        }
    }

    /// <summary>Adds a proposal to the linked list, newest first; returns false if the queue is closed.</summary>
    private bool TryPush(Proposal proposal)
    {
        var newest = Volatile.Read(ref _newest);
        while (!ReferenceEquals(newest, ClosedMarker))
        {
            proposal.Next = newest;
            var seen = Interlocked.CompareExchange(ref _newest, proposal, newest);
            if (ReferenceEquals(seen, newest))
            {
                return true;
            }

            newest = seen;
        }

        return false;
    }

    private void MoveAll(Queue<Proposal> target, Proposal? replacement)
    {
        var newest = Interlocked.Exchange(ref _newest, replacement);
        Proposal? oldest = null;
        int moved = 0;
        while (newest is not null && !ReferenceEquals(newest, ClosedMarker))
        {
            var older = newest.Next;
            newest.Next = oldest;
            oldest = newest;
            newest = older;
            moved++;
        }

        while (oldest is not null)
        {
            var next = oldest.Next;
            oldest.Next = null;
            target.Enqueue(oldest);
            oldest = next;
        }

        Interlocked.Add(ref _count, -moved);
    }
}
