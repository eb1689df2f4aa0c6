namespace Rookery.Documents;

/// <summary>Many callers put proposals in, one thread takes all that are there. Putting costs one exchange, and a wake-up only when that thread sleeps.</summary>
internal sealed class ProposalQueue
{
    private readonly object _gate = new();
    private Proposal? _newest;
    private int _count;
    private int _isSleeping;

    /// <summary>Proposals that wait, roughly.</summary>
    public int Count => Volatile.Read(ref _count);

    public void Put(Proposal proposal)
    {
        Interlocked.Increment(ref _count);
        var newest = Volatile.Read(ref _newest);
        while (true)
        {
            proposal.Next = newest;
            var seen = Interlocked.CompareExchange(ref _newest, proposal, newest);
            if (ReferenceEquals(seen, newest))
            {
                break;
            }

            newest = seen;
        }

        if (Volatile.Read(ref _isSleeping) != 0)
        {
            Wake();
        }
    }

    /// <summary>Moves all that wait behind <paramref name="target"/>, oldest first.</summary>
    public void TakeAll(Queue<Proposal> target)
    {
        var newest = Interlocked.Exchange(ref _newest, null);
        Proposal? oldest = null;
        int taken = 0;
        while (newest is not null)
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

    /// <summary>Sleeps until there is a proposal, or <see cref="Wake"/> after <paramref name="isStopping"/> was set.</summary>
    public void Wait(ref bool isStopping)
    {
        Interlocked.Exchange(ref _isSleeping, 1);
        if (Volatile.Read(ref _newest) is not null || Volatile.Read(ref isStopping))
        {
            Volatile.Write(ref _isSleeping, 0);
            return;
        }

        lock (_gate)
        {
            while (Volatile.Read(ref _isSleeping) != 0)
            {
                Monitor.Wait(_gate);
            }
        }
    }

    /// <summary>Ends the sleep of the taking thread.</summary>
    public void Wake()
    {
        if (Interlocked.Exchange(ref _isSleeping, 0) != 0)
        {
            lock (_gate)
            {
                Monitor.Pulse(_gate);
            }
        }
    }
}
