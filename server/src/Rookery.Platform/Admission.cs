namespace Rookery.Platform;

/// <summary>
/// Bounds the memory that all requests or commands together hold. Within the bound, a request is admitted at once.
/// Beyond it, or while the memory budget is full, requests wait in order of arrival, for <see cref="WaitTimeout"/> or a
/// given time. While no admitted request holds bytes, the next one is admitted whatever its size. Thread-safe.
/// </summary>
/// <param name="limitBytes">The bound, in bytes.</param>
/// <param name="time">The clock.</param>
/// <param name="share">The share of the memory budget that counts the admitted bytes; null if they are counted
/// elsewhere.</param>
public sealed class Admission(long limitBytes, TimeProvider time, MemoryShare? share = null)
{
    /// <summary>
    /// How long a request waits for admission before it is refused. A Raspberry Pi needs a second to store one of the
    /// largest documents.
    /// </summary>
    public static readonly TimeSpan WaitTimeout = TimeSpan.FromSeconds(5);

    // Interval at which waiting requests are tried again, because other shares release memory without a notification.
    private static readonly TimeSpan RetryInterval = TimeSpan.FromMilliseconds(100);

    private readonly Lock _gate = new();
    private readonly LinkedList<Waiter> _waiters = new();
    private long _bytes;
    private int _waiterCount;
    private long _refused;
    private ITimer? _retry;

    /// <summary>Admitted bytes.</summary>
    public long Bytes => Volatile.Read(ref _bytes);

    /// <summary>The bound, in bytes.</summary>
    public long LimitBytes => limitBytes;

    /// <summary>Number of requests that were refused, or cancelled while they waited.</summary>
    public long Refused => Volatile.Read(ref _refused);

    /// <summary>
    /// Admits a request without waiting. Fails if other requests wait. Also fails if the bound or the memory budget
    /// would be exceeded, unless no admitted request holds bytes.
    /// </summary>
    public bool TryEnter(long bytes) => TryEnter(bytes, heldBytes: 0);

    /// <summary>Waits until a request is admitted, for <see cref="WaitTimeout"/> at most.</summary>
    /// <returns>False when the request was not admitted in time.</returns>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    public ValueTask<bool> EnterAsync(long bytes, CancellationToken cancellationToken) =>
        EnterAsync(bytes, heldBytes: 0, WaitTimeout, cancellationToken);

    /// <summary>
    /// Waits until a request of a caller that already holds bytes is admitted. Waiters are admitted in order of
    /// arrival.
    /// </summary>
    /// <param name="bytes">The additional bytes.</param>
    /// <param name="heldBytes">Bytes that the caller holds already. If no other caller holds any, the request is
    /// admitted whatever its size.</param>
    /// <param name="timeout">The longest wait.</param>
    /// <param name="cancellationToken">Cancels the wait.</param>
    /// <returns>False when the request was not admitted in time.</returns>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    public async ValueTask<bool> EnterAsync(
        long bytes,
        long heldBytes,
        TimeSpan timeout,
        CancellationToken cancellationToken
    )
    {
        if (TryEnter(bytes, heldBytes))
        {
            return true;
        }

        var waiter = new Waiter(bytes, heldBytes);
        lock (_gate)
        {
            _waiters.AddLast(waiter.Node);
            UpdateWaiterCount();
        }

        // Bytes may have been released between the check and the wait.
        AdmitWaiters();
        try
        {
            await waiter.Admitted.Task.WaitAsync(timeout, time, cancellationToken);
            return true;
        }
        catch (Exception refusal) when (refusal is TimeoutException or OperationCanceledException)
        {
            if (!TryRemove(waiter))
            {
                return true;
            }

            Interlocked.Increment(ref _refused);
            cancellationToken.ThrowIfCancellationRequested();
            return false;
        }
    }

    /// <summary>Releases admitted bytes.</summary>
    public void Leave(long bytes)
    {
        Interlocked.Add(ref _bytes, -bytes);
        share?.Release(bytes);
        if (Volatile.Read(ref _waiterCount) > 0)
        {
            AdmitWaiters();
        }
    }

    private bool TryEnter(long bytes, long heldBytes)
    {
        if (Volatile.Read(ref _waiterCount) > 0)
        {
            return false;
        }

        bool isAdmitted = TryAdd(bytes, heldBytes) || (TryMakeRoom(bytes) && TryAdd(bytes, heldBytes));
        share?.RelieveExcess(); // shrinks caches if the request was charged beyond the budget
        return isAdmitted;
    }

    /// <summary>Admits waiters in order. Shrinks caches outside the lock, because unmapping takes long.</summary>
    private void AdmitWaiters()
    {
        // Room is made once for each waiter, so that the loop ends. If the waiter still does not fit, because other
        // threads took the room, the timer tries again.
        Waiter? last = null;
        while (AdmitWaitersThatFit() is { } first && first != last && TryMakeRoom(first.Bytes))
        {
            last = first;
        }

        share?.RelieveExcess();
    }

    /// <summary>Admits waiters in order while there is room; returns the first that still waits.</summary>
    private Waiter? AdmitWaitersThatFit()
    {
        lock (_gate)
        {
            while (_waiters.First is { } first && TryAdd(first.Value.Bytes, first.Value.HeldBytes))
            {
                _waiters.RemoveFirst();
                first.Value.Admitted.SetResult();
            }

            UpdateWaiterCount();
            return _waiters.First?.Value;
        }
    }

    /// <summary>
    /// Shrinks caches until the request fits into the memory budget. Fails if the request exceeds the bound, if the
    /// caches hold too little, or without a budget.
    /// </summary>
    private bool TryMakeRoom(long bytes) =>
        share is not null && Bytes + bytes <= limitBytes && share.TryMakeRoom(bytes);

    // Called under the lock. The timer runs only while requests wait.
    private void UpdateWaiterCount()
    {
        Volatile.Write(ref _waiterCount, _waiters.Count);
        if (_waiters.Count == 0)
        {
            _retry?.Dispose();
            _retry = null;
        }
        else if (share is not null)
        {
            _retry ??= time.CreateTimer(
                static admission => ((Admission)admission!).AdmitWaiters(),
                this,
                RetryInterval,
                RetryInterval
            );
        }
    }

    /// <summary>Removes a waiter; returns false if it was admitted just before.</summary>
    private bool TryRemove(Waiter waiter)
    {
        lock (_gate)
        {
            if (waiter.Node.List is null)
            {
                return false;
            }

            _waiters.Remove(waiter.Node);
            UpdateWaiterCount();
        }

        AdmitWaiters();
        return true;
    }

    private bool TryAdd(long bytes, long heldBytes)
    {
        bool isCharged = share is null;
        while (true)
        {
            long admitted = Volatile.Read(ref _bytes);
            bool isAlone = admitted == heldBytes; // no other caller holds bytes
            bool fits = admitted + bytes <= limitBytes;
            if (!isAlone && !fits)
            {
                break;
            }

            // The share is charged first, so that other threads never see admitted bytes of a request that is then
            // refused.
            if (!isCharged && !TryCharge(bytes, isAlone))
            {
                return false;
            }

            isCharged = true;
            if (Interlocked.CompareExchange(ref _bytes, admitted + bytes, admitted) == admitted)
            {
                return true;
            }
        }

        if (isCharged)
        {
            share?.Release(bytes);
        }

        return false;
    }

    // A request that is alone is charged even beyond the bounds; caches shrink afterwards.
    private bool TryCharge(long bytes, bool isAlone)
    {
        if (share!.TryReserve(bytes))
        {
            return true;
        }

        if (isAlone)
        {
            share.Reserve(bytes);
        }

        return isAlone;
    }

    private sealed class Waiter
    {
        public Waiter(long bytes, long heldBytes)
        {
            Bytes = bytes;
            HeldBytes = heldBytes;
            Node = new LinkedListNode<Waiter>(this);
        }

        public long Bytes { get; }

        public long HeldBytes { get; }

        public LinkedListNode<Waiter> Node { get; }

        public TaskCompletionSource Admitted { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);
    }
}
