using System.Collections.Concurrent;
using System.Diagnostics.CodeAnalysis;

namespace Rookery.Server.Raven.BulkInsert;

/// <summary>The long operations of this node, running and lately finished. Safe for several threads.</summary>
internal sealed class OperationRegistry
{
    /// <summary>How many finished operations are remembered: clients ask for the state right after the end.</summary>
    private const int Remembered = 256;

    private readonly ConcurrentDictionary<long, BulkOperation> _operations = new();
    private readonly ConcurrentQueue<long> _finished = new();
    private long _lastId;

    /// <summary>Told of every change of an operation's state, on the thread that made it.</summary>
    public event EventHandler<OperationChangedEventArgs>? Changed;

    /// <summary>A number no operation had since the node started.</summary>
    public long NextId() => Interlocked.Increment(ref _lastId);

    /// <summary>Begins an operation under a number from <see cref="NextId"/>, or under a new one when the client names none.</summary>
    /// <exception cref="RefusedException">The number is in use, or was never given.</exception>
    public BulkOperation Begin(long id)
    {
        var operation = new BulkOperation(id == 0 ? NextId() : id);
        if (operation.Id > Interlocked.Read(ref _lastId) || !_operations.TryAdd(operation.Id, operation))
        {
            operation.Dispose();
            throw RefusedException.BadRequest($"There is no free operation {id}: ask for a number with GET operations/next-operation-id, and use it once.");
        }

        return operation;
    }

    public bool TryGet(long id, [NotNullWhen(true)] out BulkOperation? operation) => _operations.TryGetValue(id, out operation);

    /// <summary>Tells watchers how an operation stands.</summary>
    public void Announce(BulkOperation operation)
    {
        Changed?.Invoke(this, new OperationChangedEventArgs(operation));
        if (operation.Stage != OperationStage.InProgress)
        {
            Forget(operation);
        }
    }

    private void Forget(BulkOperation ended)
    {
        _finished.Enqueue(ended.Id);
        while (_finished.Count > Remembered && _finished.TryDequeue(out long oldest))
        {
            if (_operations.TryRemove(oldest, out var forgotten))
            {
                forgotten.Dispose();
            }
        }
    }
}

/// <summary>An operation went on, or ended.</summary>
internal sealed class OperationChangedEventArgs(BulkOperation operation) : EventArgs
{
    public BulkOperation Operation => operation;
}
