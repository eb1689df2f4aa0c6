namespace Rookery.Cluster.Commit;

/// <summary>
/// Many producers, one consumer at a time: the journal thread or, while it sleeps, a caller that holds its turn. A put
/// costs one exchange, and a wake-up only when the caller does not take the turn.
/// </summary>
internal sealed class ProposalQueue
{
    // Whose turn it is to take. Only the writing thread makes it free, and only by going to sleep.
    private const int OfThread = 0;
    private const int Free = 1;
    private const int OfCaller = 2;

    // In place of the newest proposal once the queue is closed.
    private static readonly Proposal Closed = Proposal.MakeMarker();

    private readonly object _gate = new();
    private Proposal? _newest;
    private int _count;
    private int _wakeAtCount;
    private int _turn;

    /// <summary>
    /// Whether work waits outside this queue; checked when a turn ends.
    /// </summary>
    public required Func<bool> HasOtherWork { get; init; }

    /// <summary>Proposals that wait, roughly.</summary>
    public int Count => Volatile.Read(ref _count);

    /// <summary>Adds a proposal.</summary>
    /// <param name="proposal">The proposal.</param>
    /// <param name="mayTakeTurn">Whether the caller would take what waits itself.</param>
    /// <param name="hasTurn">True when the turn is the caller's now: it takes what waits, and then calls
    /// <see cref="GiveTurnBack"/>.</param>
    /// <returns>False when the queue is closed: nobody takes the proposal any more.</returns>
    public bool TryPut(Proposal proposal, bool mayTakeTurn, out bool hasTurn)
    {
        hasTurn = false;
        if (Interlocked.Increment(ref _count) == Volatile.Read(ref _wakeAtCount))
        {
            lock (_gate)
            {
                Monitor.Pulse(_gate);
            }
        }

        var newest = Volatile.Read(ref _newest);
        while (true)
        {
            if (ReferenceEquals(newest, Closed))
            {
                Interlocked.Decrement(ref _count);
                return false;
            }

            proposal.Next = newest;
            var seen = Interlocked.CompareExchange(ref _newest, proposal, newest);
            if (ReferenceEquals(seen, newest))
            {
                break;
            }

            newest = seen;
        }

        if (Volatile.Read(ref _turn) != Free)
        {
            return true;
        }

        if (mayTakeTurn)
        {
            hasTurn = Interlocked.CompareExchange(ref _turn, OfCaller, Free) == Free;
        }
        else
        {
            Wake();
        }

        return true;
    }

    /// <summary>
    /// Ends a caller's turn. The writing thread wakes when something waits by then, or it is to stop.
    /// </summary>
    /// <param name="isStopping">Set before <see cref="Wake"/> by whoever stops the thread.</param>
    public void GiveTurnBack(ref bool isStopping)
    {
        Interlocked.Exchange(ref _turn, Free);
        if (HasOtherWork() || Volatile.Read(ref _newest) is not null || Volatile.Read(ref isStopping))
        {
            Wake();
        }
    }

    /// <summary>Appends all to <paramref name="target"/>, oldest first.</summary>
    public void TakeAll(Queue<Proposal> target) => Take(target, leave: null);

    /// <summary>
    /// Appends all to <paramref name="target"/>, oldest first, and accepts no more. Nobody may take from the queue
    /// afterwards.
    /// </summary>
    public void Close(Queue<Proposal> target) => Take(target, leave: Closed);

    /// <summary>
    /// Releases the turn and sleeps until there is a proposal that no caller takes, other work, or
    /// <see cref="Wake"/> after <paramref name="isStopping"/> was set.
    /// </summary>
    public void Wait(ref bool isStopping)
    {
        Interlocked.Exchange(ref _turn, Free);
        if (Volatile.Read(ref _newest) is not null || HasOtherWork() || Volatile.Read(ref isStopping))
        {
            Wake();
        }

        lock (_gate)
        {
            while (Volatile.Read(ref _turn) != OfThread)
            {
                Monitor.Wait(_gate);
            }
        }
    }

    /// <summary>Sleeps, keeping its turn, until so many are there, or the time is over.</summary>
    public void WaitFor(int count, int milliseconds)
    {
        lock (_gate)
        {
            Volatile.Write(ref _wakeAtCount, count);
            if (Count < count)
            {
                Monitor.Wait(_gate, milliseconds);
            }

            Volatile.Write(ref _wakeAtCount, 0);
        }
    }

    /// <summary>
    /// Gives a free turn to the writing thread, and ends its sleep. A caller who has the turn does so when he gives it
    /// back.
    /// </summary>
    public void Wake()
    {
        if (Interlocked.CompareExchange(ref _turn, OfThread, Free) == Free)
        {
            lock (_gate)
            {
                Monitor.Pulse(_gate);
            }
        }
    }

    private void Take(Queue<Proposal> target, Proposal? leave)
    {
        var newest = Interlocked.Exchange(ref _newest, leave);
        Proposal? oldest = null;
        int taken = 0;
        while (newest is not null && !ReferenceEquals(newest, Closed))
        {
            var older = newest.Next;
            newest.Next = oldest;
            oldest = newest;
            newest = older;
            taken++;
        }

        while (oldest is not null)
        {
            var next = oldest.Next;
            oldest.Next = null;
            target.Enqueue(oldest);
            oldest = next;
        }

        Interlocked.Add(ref _count, -taken);
    }
}
