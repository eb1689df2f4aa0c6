using System.Threading.Channels;
using Rookery.Server.Raven.LongOperations;

namespace Rookery.Server.Raven.Changes;

/// <summary>
/// The operations of which one connection is still to be told. Each waits once, however often it went on meanwhile: how
/// it stands is read when it is told. Safe for several threads that post, and one that reads.
/// </summary>
internal sealed class OperationsToTell
{
    /// <summary>Operations that wait at most.</summary>
    public const int Capacity = 256;

    private readonly Lock _gate = new();
    private readonly HashSet<LongOperation> _waiting = [];
    private readonly Channel<LongOperation> _queue = Channel.CreateUnbounded<LongOperation>(
        new UnboundedChannelOptions { SingleReader = true }
    );

    /// <summary>
    /// Takes an operation that went on or ended. One that finds no room ends the queue behind the others.
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
    /// <returns>Null when one was lost behind those that were read.</returns>
    public async ValueTask<LongOperation?> ReadAsync(CancellationToken cancellation)
    {
        if (!await _queue.Reader.WaitToReadAsync(cancellation) || !_queue.Reader.TryRead(out var operation))
        {
            return null;
        }

        // Before its state is read: what changes from now on has to be told again.
        lock (_gate)
        {
            _waiting.Remove(operation);
        }

        return operation;
    }
}
