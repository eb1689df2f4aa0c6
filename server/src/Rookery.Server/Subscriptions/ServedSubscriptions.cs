using Rookery.Documents.Databases;
using Rookery.Platform;

namespace Rookery.Server.Subscriptions;

/// <summary>
/// The subscriptions whose workers are connected to this node, and the feeds that workers share. Thread-safe.
/// </summary>
internal sealed class ServedSubscriptions(long memoryBytes)
{
    private const int MaxWaiting = 8;

    private readonly Lock _gate = new();
    private readonly Dictionary<(uint Database, long Number), ServedSubscription> _served = [];
    private readonly int _maxWorkers = (int)Math.Clamp(memoryBytes >> 20, 32, 512);
    private int _workers;
    private long _documents;
    private long _batches;
    private long _acknowledgements;
    private long _refused;

    /// <summary>Workers that are connected or wait for their turn.</summary>
    public int Workers => Volatile.Read(ref _workers);

    /// <summary>Documents sent since the start.</summary>
    public long Documents => Volatile.Read(ref _documents);

    /// <summary>Batches sent since the start.</summary>
    public long Batches => Volatile.Read(ref _batches);

    /// <summary>Acknowledgements stored since the start.</summary>
    public long Acknowledgements => Volatile.Read(ref _acknowledgements);

    /// <summary>Connections closed on arrival or refused, since the start.</summary>
    public long Refused => Volatile.Read(ref _refused);

    /// <summary>Returns the port of the TCP protocol; null before the server listens.</summary>
    public Func<int>? Port { get; set; }

    /// <summary>Counts a batch that was sent.</summary>
    public void CountBatch(int documents)
    {
        Interlocked.Add(ref _documents, documents);
        Interlocked.Increment(ref _batches);
    }

    /// <summary>Counts an acknowledgement that was stored.</summary>
    public void CountAcknowledgement() => Interlocked.Increment(ref _acknowledgements);

    /// <summary>Counts a connection that was closed on arrival or refused.</summary>
    public void CountRefusal() => Interlocked.Increment(ref _refused);

    /// <summary>Returns when the last worker of a subscription connected, in UTC ticks; 0 if none is there.</summary>
    public long ConnectedTicks(Database database, long number)
    {
        lock (_gate)
        {
            return _served.TryGetValue((database.Number, number), out var served)
                ? served.Workers.Max(static worker => worker.ConnectedTicks)
                : 0;
        }
    }

    /// <summary>Opens a subscription for a worker, or enqueues the worker.</summary>
    /// <param name="key">Database and number of the subscription.</param>
    /// <param name="worker">The worker.</param>
    /// <param name="turn">Completes when the worker may begin; null if it is refused.</param>
    /// <returns>Why the worker is refused, or null.</returns>
    public EndOfConnection? Enter((uint Database, long Number) key, Worker worker, out Task? turn)
    {
        turn = null;
        lock (_gate)
        {
            if (_workers >= _maxWorkers)
            {
                CountRefusal();
                return EndOfConnection.Reconnect(
                    $"This node serves {_maxWorkers} workers of subscriptions already, which is the maximum for its "
                        + "memory."
                );
            }

            if (!_served.TryGetValue(key, out var served))
            {
                _served.Add(key, served = new ServedSubscription());
            }

            if (served.Count >= Math.Max(MaxWaiting, _maxWorkers / 4))
            {
                CountRefusal();
                return EndOfConnection.Reconnect(
                    $"The subscription '{worker.SubscriptionName}' has {served.Count} workers already. One has at most "
                        + "a quarter of those that this node has memory for."
                );
            }

            if (!served.Admits(worker))
            {
                if (worker.Strategy is OpeningStrategy.OpenIfFree or OpeningStrategy.Concurrent || served.IsShared)
                {
                    if (worker.Strategy != OpeningStrategy.WaitForFree)
                    {
                        return InUse(worker, "is in use by another worker");
                    }
                }

                if (served.Waiting >= MaxWaiting)
                {
                    CountRefusal();
                    return EndOfConnection.Reconnect(
                        $"{MaxWaiting} workers wait for the subscription '{worker.SubscriptionName}' already."
                    );
                }

                _workers++;
                turn = served.Enqueue(worker);
                if (worker.Strategy == OpeningStrategy.TakeOver)
                {
                    served.EndWorkers(InUse(worker, "was taken over by another worker"));
                }

                return null;
            }

            _workers++;
            served.Workers.Add(worker);
            turn = Task.CompletedTask;
            return null;
        }
    }

    /// <summary>Returns the feed that the concurrent workers of a subscription share.</summary>
    /// <param name="key">Database and number of the subscription.</param>
    /// <param name="version">The worker's version of the subscription. A feed of another version is not shared, because
    /// its query may leave out other documents. Workers of an earlier version are about to end.</param>
    /// <param name="create">Creates it for the first of them.</param>
    public DocumentFeed ShareFeed((uint Database, long Number) key, long version, Func<DocumentFeed> create)
    {
        lock (_gate)
        {
            var served = _served[key];
            if (served.Feed is null || served.Feed.Version < version)
            {
                served.Feed = create();
            }

            return served.Feed.Version == version ? served.Feed : create();
        }
    }

    /// <summary>Removes a worker, and admits those that waited for it.</summary>
    public void Leave((uint Database, long Number) key, Worker worker)
    {
        lock (_gate)
        {
            _workers--;
            var served = _served[key];
            if (!served.Remove(worker))
            {
                _served.Remove(key);
            }
        }
    }

    private static EndOfConnection InUse(Worker worker, string what) =>
        new("InUse", $"The subscription '{worker.SubscriptionName}' {what}.")
        {
            ExceptionType = "Raven.Client.Exceptions.Documents.Subscriptions.SubscriptionInUseException",
        };

    private sealed class ServedSubscription
    {
        private readonly LinkedList<(Worker Worker, TaskCompletionSource Turn)> _waiting = [];

        public List<Worker> Workers { get; } = [];

        public DocumentFeed? Feed { get; set; }

        public int Waiting => _waiting.Count;

        public int Count => Workers.Count + _waiting.Count;

        public bool IsShared => Workers.Exists(static worker => worker.Strategy == OpeningStrategy.Concurrent);

        /// <summary>Whether a worker may begin at once.</summary>
        public bool Admits(Worker worker) =>
            (Workers.Count == 0 && _waiting.Count == 0)
            || (
                worker.Strategy == OpeningStrategy.Concurrent
                && Workers.TrueForAll(static other => other.Strategy == OpeningStrategy.Concurrent)
            );

        public Task Enqueue(Worker worker)
        {
            var turn = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            if (worker.Strategy == OpeningStrategy.TakeOver)
            {
                _waiting.AddFirst((worker, turn));
            }
            else
            {
                _waiting.AddLast((worker, turn));
            }

            return turn.Task;
        }

        public void EndWorkers(EndOfConnection end)
        {
            foreach (var worker in Workers)
            {
                worker.End(end);
            }
        }

        /// <summary>Removes a worker; returns false if no other one is left.</summary>
        public bool Remove(Worker worker)
        {
            Workers.Remove(worker);
            for (var node = _waiting.First; node is not null; node = node.Next)
            {
                if (ReferenceEquals(node.Value.Worker, worker))
                {
                    _waiting.Remove(node);
                    break;
                }
            }

            if (Workers.Count == 0)
            {
                Feed?.Dispose();
                Feed = null;
                if (_waiting.First is { } next)
                {
                    _waiting.RemoveFirst();
                    Workers.Add(next.Value.Worker);
                    next.Value.Turn.SetResult();
                }
            }

            Invariant.Holds(Workers.Count > 0 || _waiting.Count == 0, "a free subscription has no waiting workers");
            return Workers.Count > 0;
        }
    }
}

/// <summary>A connected worker, as other workers of its subscription see it.</summary>
/// <param name="SubscriptionName">Name of the subscription.</param>
/// <param name="Strategy">How it shares the subscription.</param>
/// <param name="ConnectedTicks">When it connected, in UTC ticks.</param>
/// <param name="End">Ends its connection; may be called on any thread.</param>
internal sealed record Worker(
    string SubscriptionName,
    OpeningStrategy Strategy,
    long ConnectedTicks,
    Action<EndOfConnection> End
)
{
    /// <summary>Two workers are never the same.</summary>
    public bool Equals(Worker? other) => ReferenceEquals(this, other);

    /// <inheritdoc/>
    public override int GetHashCode() => System.Runtime.CompilerServices.RuntimeHelpers.GetHashCode(this);
}
