namespace Rookery.Platform;

/// <summary>
/// Bounds what requests, or their commands, hold together. Within the bound admission is one addition; beyond it a
/// request waits, first come first served, for
/// <see cref="Patience"/> or as long as it says. One alone is always admitted, however large. Thread-safe.
/// </summary>
/// <param name="limitBytes">The bound, in bytes.</param>
/// <param name="time">The clock.</param>
/// <param name="share">What is charged with the bytes that were admitted; null when something else is.</param>
public sealed class Admission(long limitBytes, TimeProvider time, MemoryShare? share = null)
{
    /// <summary>
    /// How long a request waits for room before it is refused: a card needs a second for each of the largest documents.
    /// </summary>
    public static readonly TimeSpan Patience = TimeSpan.FromSeconds(5);

    private readonly Lock _gate = new();
    private readonly LinkedList<Waiter> _waiters = new();
    private long _bytes;
    private int _waiterCount;
    private long _refused;

    /// <summary>Bytes in flight.</summary>
    public long Bytes => Volatile.Read(ref _bytes);

    /// <summary>The bound.</summary>
    public long LimitBytes => limitBytes;

    /// <summary>How many were refused for want of room.</summary>
    public long Refused => Volatile.Read(ref _refused);

    /// <summary>Takes room at once, if there is and nobody waits for it.</summary>
    public bool TryEnter(long bytes) => Volatile.Read(ref _waiterCount) == 0 && TryTake(bytes, heldBytes: 0);

    /// <summary>Waits for room, for <see cref="Patience"/> at most.</summary>
    /// <returns>False when there was none in time.</returns>
    /// <exception cref="OperationCanceledException">The caller gave up.</exception>
    public ValueTask<bool> EnterAsync(long bytes, CancellationToken cancellationToken) =>
        EnterAsync(bytes, heldBytes: 0, Patience, cancellationToken);

    /// <summary>
    /// Waits for room beside what the caller has already. Who is patient keeps its place among those who wait.
    /// </summary>
    /// <param name="bytes">How many bytes more.</param>
    /// <param name="heldBytes">What it holds meanwhile: when nobody else holds any, it is alone, and is
    /// admitted.</param>
    /// <param name="patience">How long it waits at most.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <returns>False when there was none in time.</returns>
    /// <exception cref="OperationCanceledException">The caller gave up.</exception>
    public async ValueTask<bool> EnterAsync(
        long bytes,
        long heldBytes,
        TimeSpan patience,
        CancellationToken cancellationToken
    )
    {
        var waiter = new Waiter(bytes, heldBytes);
        lock (_gate)
        {
            if (_waiters.Count == 0 && TryTake(bytes, heldBytes))
            {
                return true;
            }

            _waiters.AddLast(waiter.Place);
            Volatile.Write(ref _waiterCount, _waiters.Count);
        }

        // Room may have been given back between the look and the wait.
        Admit();
        try
        {
            await waiter.Admitted.Task.WaitAsync(patience, time, cancellationToken);
            return true;
        }
        catch (Exception refusal) when (refusal is TimeoutException or OperationCanceledException)
        {
            if (!Forget(waiter))
            {
                return true;
            }

            Interlocked.Increment(ref _refused);
            cancellationToken.ThrowIfCancellationRequested();
            return false;
        }
    }

    /// <summary>Gives room back.</summary>
    public void Leave(long bytes)
    {
        Interlocked.Add(ref _bytes, -bytes);
        share?.Release(bytes);
        if (Volatile.Read(ref _waiterCount) > 0)
        {
            Admit();
        }
    }

    private void Admit()
    {
        lock (_gate)
        {
            while (_waiters.First is { } first && TryTake(first.Value.Bytes, first.Value.HeldBytes))
            {
                _waiters.RemoveFirst();
                first.Value.Admitted.SetResult();
            }

            Volatile.Write(ref _waiterCount, _waiters.Count);
        }
    }

    /// <summary>Stops waiting; false when it was admitted at the last moment.</summary>
    private bool Forget(Waiter waiter)
    {
        lock (_gate)
        {
            if (waiter.Place.List is null)
            {
                return false;
            }

            _waiters.Remove(waiter.Place);
            Volatile.Write(ref _waiterCount, _waiters.Count);
        }

        Admit();
        return true;
    }

    private bool TryTake(long bytes, long heldBytes)
    {
        long now = Volatile.Read(ref _bytes);
        while (now == heldBytes || now + bytes <= limitBytes)
        {
            long seen = Interlocked.CompareExchange(ref _bytes, now + bytes, now);
            if (seen == now)
            {
                share?.Reserve(bytes);
                return true;
            }

            now = seen;
        }

        return false;
    }

    private sealed class Waiter
    {
        public Waiter(long bytes, long heldBytes)
        {
            Bytes = bytes;
            HeldBytes = heldBytes;
            Place = new LinkedListNode<Waiter>(this);
        }

        public long Bytes { get; }

        public long HeldBytes { get; }

        public LinkedListNode<Waiter> Place { get; }

        public TaskCompletionSource Admitted { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);
    }
}
