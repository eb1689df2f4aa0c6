using System.Threading.Channels;
using Rookery.Server.Raven.LongOperations;

namespace Rookery.Server.Raven.Changes;

/// <summary>
/// Queue of the operations whose state one connection still has to send. An operation is queued once, however often it
/// changed; its state is read when it is sent. Thread-safe for many writers and one reader.
/// </summary>
internal sealed class OperationQueue
{
    /// <summary>Maximum number of operations in the queue.</summary>
    public const int Capacity = 256;

    private readonly Lock _gate = new();
    private readonly HashSet<LongOperation> _waiting = [];
    private readonly Channel<LongOperation> _queue = Channel.CreateUnbounded<LongOperation>(
        new UnboundedChannelOptions { SingleReader = true }
    );

    /// <summary>
    /// Queues an operation that changed. If the queue is full, no further operation is accepted: the queue ends after
    /// the operations in it.
    /// </summary>
    public void Post(LongOperation operation)
    {
        lock (_gate)
        {
            if (_waiting.Contains(operation))
            {
                return;
            }

            if (_waiting.Count == Capacity)
            {
                _queue.Writer.TryComplete();
            }
            else if (_queue.Writer.TryWrite(operation))
            {
                _waiting.Add(operation);
            }
        }
    }

    /// <summary>Waits for the next operation.</summary>
    /// <returns>Null if the queue was full and has ended.</returns>
    public async ValueTask<LongOperation?> ReadAsync(CancellationToken cancellation)
    {
        if (!await _queue.Reader.WaitToReadAsync(cancellation) || !_queue.Reader.TryRead(out var operation))
        {
            return null;
        }

        // Remove it before its state is read, so that a later change queues it again.
        lock (_gate)
        {
            _waiting.Remove(operation);
        }

        return operation;
    }
}
