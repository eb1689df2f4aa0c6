using System.Text;
using Microsoft.Extensions.Logging;
using Rookery.Documents.Changes;
using Rookery.Documents.Ids;
using Rookery.Documents.Redis;
using Rookery.Platform;
using Rookery.Server.Support;

namespace Rookery.Redis.Changes;

/// <summary>
/// Follows the changes of the database that this node applies: wakes connections that wait for a key or for the stream,
/// and publishes keyspace notifications to subscribers of this node. If notifications may be lost, it disconnects their
/// subscribers, as Redis does with slow ones: they notice it, and read what they need again. It begins when a client
/// first needs it, and runs until the node stops. Thread-safe.
/// </summary>
internal sealed class ChangeWatch(RedisNode node)
{
    private static readonly TimeSpan RetryInterval = TimeSpan.FromSeconds(1);

    private readonly Lock _gate = new();
    private readonly Dictionary<string, LinkedList<ChangeWaiter>> _byId = new(IgnoredCase.OfNames);
    private readonly List<ChangeWaiter> _ofAll = [];
    private ChangeSubscription<DocumentChange>? _subscription;
    private bool _hasBegun;
    private int _waiting;

    /// <summary>Connections that wait.</summary>
    public int Waiting => Volatile.Read(ref _waiting);

    /// <summary>Begins to publish notifications if one of the channels or patterns may be theirs.</summary>
    public void BeginIfWatched(byte[][] names)
    {
        foreach (byte[] name in names)
        {
            if (name.AsSpan().StartsWith("__key"u8) || name.AsSpan().ContainsAny("*?[\\"u8))
            {
                Begin();
                return;
            }
        }
    }

    /// <summary>
    /// Adds a waiter for changes of documents; for all changes if there are no ids. Look at the data after this call:
    /// every later change wakes the waiter. Of the waiters for a document, a change wakes the one that waits longest.
    /// </summary>
    public ChangeWaiter Add(IReadOnlyList<string> ids)
    {
        Begin();
        var waiter = new ChangeWaiter(ids);
        lock (_gate)
        {
            _waiting++;
            if (ids.Count == 0)
            {
                _ofAll.Add(waiter);
            }

            foreach (string id in ids)
            {
                if (!_byId.TryGetValue(id, out var waiters))
                {
                    _byId.Add(id, waiters = []);
                }

                waiters.AddLast(waiter);
            }
        }

        return waiter;
    }

    /// <summary>
    /// Removes a waiter, and wakes the next one for each of its documents, for which it may have left something.
    /// </summary>
    public void Remove(ChangeWaiter waiter)
    {
        lock (_gate)
        {
            _waiting--;
            _ofAll.Remove(waiter);
            foreach (string id in waiter.Ids)
            {
                if (_byId.TryGetValue(id, out var waiters))
                {
                    waiters.Remove(waiter);
                    if (waiters.First is { } next)
                    {
                        next.Value.Wake();
                    }
                    else
                    {
                        _byId.Remove(id);
                    }
                }
            }
        }
    }

    private void Begin()
    {
        lock (_gate)
        {
            if (_hasBegun)
            {
                return;
            }

            _hasBegun = true;
            _subscription = node.TryFindDatabase()?.Subscribe();
        }

        _ = SocketThreads.RunOnPoolAsync(RunAsync);
    }

    private async Task RunAsync()
    {
        var stopping = node.Context.Stopping;
        while (!stopping.IsCancellationRequested)
        {
            try
            {
                if (_subscription is { } subscription)
                {
                    await FollowAsync(subscription, stopping);
                    EndSubscription();
                }

                // The database was deleted or does not exist yet.
                await Task.Delay(RetryInterval, node.Context.Time, stopping);
                _subscription = node.Context.Readiness.Node is null ? null : node.TryFindDatabase()?.Subscribe();
                if (_subscription is null)
                {
                    WakeAll();
                }
                else
                {
                    ReportLoss();
                }
            }
            catch (OperationCanceledException)
            {
                EndSubscription();
                return;
            }
            catch (Exception failure)
            {
                node.Context.FaultLog.LogError(
                    LogEvents.RequestFailed,
                    failure,
                    "Following the changes for Redis clients failed"
                );
                EndSubscription();
            }
        }
    }

    private void EndSubscription()
    {
        _subscription?.Dispose();
        _subscription = null;
    }

    private async Task FollowAsync(ChangeSubscription<DocumentChange> subscription, CancellationToken stopping)
    {
        while (await subscription.WaitAsync(stopping))
        {
            while (subscription.TryRead(out var change))
            {
                // After changes were dropped, at least one more is read, so no loss remains unnoticed.
                if (subscription.TakeLagged())
                {
                    SkipQueued(subscription);
                    ReportLoss();
                }
                else if (change.Kind is DocumentChangeKind.Put or DocumentChangeKind.Delete)
                {
                    Wake(change.Id);
                    Notify(change);
                }
            }
        }
    }

    // Skips what is queued: all waiters are about to read again, and all subscribers to be disconnected. With a report
    // for each change of a full queue, the watch would fall behind more and more.
    private static void SkipQueued(ChangeSubscription<DocumentChange> subscription)
    {
        for (int i = 0; i < ChangeSubscription<DocumentChange>.Capacity && subscription.TryRead(out _); i++)
        {
            _ = subscription.TakeLagged();
        }
    }

    // Any waiter may have missed its change, and any subscriber a notification.
    private void ReportLoss()
    {
        WakeAll();
        foreach (var subscriber in node.Channels.ListNotified())
        {
            node.Metrics.CountLostNotifications();
            subscriber.Disconnect("Keyspace notifications may have been lost.");
        }
    }

    private void Wake(string id)
    {
        if (Waiting == 0)
        {
            return;
        }

        lock (_gate)
        {
            foreach (var waiter in _ofAll)
            {
                waiter.Wake();
            }

            if (_byId.TryGetValue(id, out var waiters))
            {
                waiters.First?.Value.Wake();
            }
        }
    }

    private void WakeAll()
    {
        lock (_gate)
        {
            foreach (var waiter in _ofAll)
            {
                waiter.Wake();
            }

            foreach (var waiters in _byId.Values)
            {
                waiters.First?.Value.Wake();
            }
        }
    }

    private void Notify(in DocumentChange change)
    {
        if (!node.Channels.MayHaveSubscribers("__key"u8))
        {
            return;
        }

        Span<byte> id = stackalloc byte[RedisKey.MaxIdBytes];
        Span<byte> key = stackalloc byte[RedisKey.MaxIdBytes];
        if (
            !Encoding.UTF8.TryGetBytes(change.Id, id, out int idLength)
            || !RedisKey.TryReadKey(id[..idLength], key, out int keyLength)
        )
        {
            return;
        }

        key = key[..keyLength];
        bool isPut = change.Kind == DocumentChangeKind.Put;
        var named = new PooledBytes();
        named.Append(KeyspaceNotification.KeyPrefix);
        named.Append(key);
        node.Channels.Publish(named.Written, isPut ? "set"u8 : "del"u8);
        named.Release();
        node.Channels.Publish(isPut ? KeyspaceNotification.SetChannel : KeyspaceNotification.DeleteChannel, key);
    }
}
