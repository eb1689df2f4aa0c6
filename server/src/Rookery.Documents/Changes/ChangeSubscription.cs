using System.Threading.Channels;
using Rookery.Documents.Databases;

namespace Rookery.Documents.Changes;

/// <summary>
/// A bounded stream of changes to one subscriber. The writer never waits for it: a subscriber that does not keep up
/// loses changes and is told so. One reader at a time.
/// </summary>
/// <typeparam name="TChange">The kind of change.</typeparam>
public sealed class ChangeSubscription<TChange> : IDisposable
    where TChange : struct
{
    /// <summary>How many changes usually wait for a subscriber before it counts as too slow.</summary>
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

    /// <summary>Waits for a change, or for the end.</summary>
    /// <returns>False when there will be none any more: the database was deleted or the node is stopping.</returns>
    public ValueTask<bool> WaitAsync(CancellationToken cancellationToken) =>
        _channel.Reader.WaitToReadAsync(cancellationToken);

    /// <summary>Takes the next change without waiting.</summary>
    public bool TryRead(out TChange change) => _channel.Reader.TryRead(out change);

    /// <summary>
    /// Whether changes were lost since the last call; whoever needs them all reads on by etag
    /// (<see cref="DatabaseReader.Changes"/>).
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
        }
    }

    internal void Complete() => _channel.Writer.TryComplete();
}
