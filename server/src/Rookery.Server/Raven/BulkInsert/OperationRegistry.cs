using System.Collections.Concurrent;
using System.Diagnostics.CodeAnalysis;
using Rookery.Documents;

namespace Rookery.Server.Raven.BulkInsert;

/// <summary>The long operations of this node, running and lately finished. Each is its database's: whoever has rights in another one does not find it. Safe for several threads.</summary>
internal sealed class OperationRegistry
{
    /// <summary>How many finished operations are remembered: clients ask for the state right after the end.</summary>
    private const int Remembered = 256;

    private readonly ConcurrentDictionary<(uint Database, long Id), BulkOperation> _operations = new();
    private readonly ConcurrentQueue<(uint Database, long Id)> _finished = new();
    private long _lastId;

    /// <summary>Told of every change of an operation's state, on the thread that made it.</summary>
    public event EventHandler<OperationChangedEventArgs>? Changed;

    /// <summary>A number no operation had since the node started.</summary>
    public long NextId() => Interlocked.Increment(ref _lastId);

    /// <summary>Begins an operation under a number from <see cref="NextId"/>, or under a new one when the client names none.</summary>
    /// <exception cref="RefusedException">The number is in use, or was never given.</exception>
    public BulkOperation Begin(Database database, long id)
    {
        var operation = new BulkOperation(database.Number, id == 0 ? NextId() : id);
        if (operation.Id > Interlocked.Read(ref _lastId) || !_operations.TryAdd(KeyOf(operation), operation))
        {
            operation.Dispose();
            throw RefusedException.BadRequest($"There is no free operation {id}: ask for a number with GET operations/next-operation-id, and use it once.");
        }

        return operation;
    }

    public bool TryGet(Database database, long id, [NotNullWhen(true)] out BulkOperation? operation) => _operations.TryGetValue((database.Number, id), out operation);

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
        _finished.Enqueue(KeyOf(ended));
        while (_finished.Count > Remembered && _finished.TryDequeue(out var oldest))
        {
            if (_operations.TryRemove(oldest, out var forgotten))
            {
                forgotten.Dispose();
            }
        }
    }

    private static (uint Database, long Id) KeyOf(BulkOperation operation) => (operation.Database, operation.Id);
}

/// <summary>An operation went on, or ended.</summary>
internal sealed class OperationChangedEventArgs(BulkOperation operation) : EventArgs
{
    public BulkOperation Operation => operation;
}
