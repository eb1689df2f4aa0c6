namespace Rookery.Documents.Changes;

/// <summary>Hands every change to all subscribers. Publishing costs one volatile read when nobody listens.</summary>
/// <typeparam name="TChange">The kind of change.</typeparam>
public sealed class ChangeHub<TChange>
    where TChange : struct
{
    private readonly Lock _gate = new();
    private ChangeSubscription<TChange>[] _subscribers = [];
    private bool _completed;

    /// <summary>Whether anybody listens; asked before a change is put together.</summary>
    public bool HasSubscribers => Volatile.Read(ref _subscribers).Length > 0;

    /// <summary>A new subscriber, that sees the changes published from now on.</summary>
    /// <param name="capacity">How many wait for it before further ones are lost.</param>
    public ChangeSubscription<TChange> Subscribe(int capacity = ChangeSubscription<TChange>.Capacity)
    {
        var subscription = new ChangeSubscription<TChange>(this, capacity);
        lock (_gate)
        {
            if (_completed)
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

    /// <summary>Hands a change to all; never waits.</summary>
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
            _completed = true;
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
