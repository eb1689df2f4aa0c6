using System.Threading.Channels;
using Rookery.Documents.Databases;

namespace Rookery.Documents.Changes;

/// <summary>
/// A bounded queue of changes for one subscriber, which reads it on one thread at a time. Publishers never wait. A
/// subscriber that reads too slowly loses changes, which <see cref="TakeLagged"/> reports.
/// </summary>
/// <typeparam name="TChange">The type of a change.</typeparam>
public sealed class ChangeSubscription<TChange> : IDisposable
    where TChange : struct
{
    /// <summary>Default number of unread changes after which further ones are dropped.</summary>
    public const int Capacity = 4096;

    private readonly Channel<TChange> _channel;
    private readonly ChangeHub<TChange> _hub;
    private int _lagged;

    internal ChangeSubscription(ChangeHub<TChange> hub, int capacity)
    {
        _hub = hub;
        _channel = Channel.CreateBounded<TChange>(
            new BoundedChannelOptions(capacity)
            {
                SingleReader = true,
                FullMode = BoundedChannelFullMode.Wait,
                AllowSynchronousContinuations = false,
            }
        );
    }

    /// <summary>Waits for a change or for the end.</summary>
    /// <returns>False if no more changes will follow: the database was deleted or replaced, or the node
    /// stops.</returns>
    public ValueTask<bool> WaitAsync(CancellationToken cancellationToken) =>
        _channel.Reader.WaitToReadAsync(cancellationToken);

    /// <summary>Removes the next change from the queue without waiting.</summary>
    public bool TryRead(out TChange change) => _channel.Reader.TryRead(out change);

    /// <summary>
    /// Returns whether changes were dropped since the last call. A subscriber that needs all changes then continues by
    /// etag (<see cref="DatabaseReader.SeekChanges"/>).
    /// </summary>
    public bool TakeLagged() => Interlocked.Exchange(ref _lagged, 0) != 0;

    /// <summary>Ends the subscription.</summary>
    public void Dispose()
    {
        _hub.Remove(this);
        _channel.Writer.TryComplete();
    }

    internal void Post(in TChange change)
    {
        if (!_channel.Writer.TryWrite(change))
        {
            Volatile.Write(ref _lagged, 1);

            // The subscriber may have emptied the queue meanwhile, and may wait for the next change. This write wakes
            // it, so that it sees the loss.
            _channel.Writer.TryWrite(change);
        }
    }

    internal void Complete() => _channel.Writer.TryComplete();
}
