namespace Rookery.Documents.Changes;

/// <summary>
/// Publishes changes to all subscribers. Thread-safe. Without subscribers, publishing costs one volatile read.
/// </summary>
/// <typeparam name="TChange">The type of a change.</typeparam>
public sealed class ChangeHub<TChange>
    where TChange : struct
{
    private readonly Lock _gate = new();
    private ChangeSubscription<TChange>[] _subscribers = [];
    private bool _isCompleted;

    /// <summary>Whether there are subscribers; check it before building a change.</summary>
    public bool HasSubscribers => Volatile.Read(ref _subscribers).Length > 0;

    /// <summary>Subscribes to all changes published from now on.</summary>
    /// <param name="capacity">Number of unread changes after which further ones are dropped.</param>
    public ChangeSubscription<TChange> Subscribe(int capacity = ChangeSubscription<TChange>.Capacity)
    {
        var subscription = new ChangeSubscription<TChange>(this, capacity);
        lock (_gate)
        {
            if (_isCompleted)
            {
                subscription.Complete();
            }
            else
            {
                _subscribers = [.. _subscribers, subscription];
            }
        }

        return subscription;
    }

    /// <summary>Publishes a change to all subscribers, without waiting.</summary>
    public void Publish(in TChange change)
    {
        foreach (var subscriber in Volatile.Read(ref _subscribers))
        {
            subscriber.Post(change);
        }
    }

    /// <summary>Ends all subscriptions, present and future.</summary>
    public void Complete()
    {
        ChangeSubscription<TChange>[] subscribers;
        lock (_gate)
        {
            _isCompleted = true;
            subscribers = _subscribers;
            _subscribers = [];
        }

        foreach (var subscriber in subscribers)
        {
            subscriber.Complete();
        }
    }

    internal void Remove(ChangeSubscription<TChange> subscription)
    {
        lock (_gate)
        {
            _subscribers = Array.FindAll(_subscribers, other => !ReferenceEquals(other, subscription));
        }
    }
}
