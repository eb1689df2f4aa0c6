using System.Collections.Concurrent;
using System.Diagnostics.CodeAnalysis;
using Rookery.Documents.Databases;
using Rookery.Server.Access;

namespace Rookery.Server.Raven.LongOperations;

/// <summary>
/// The long operations of this node, running and lately finished. Each is its database's: whoever has rights in another
/// one does not find it. Safe for several threads.
/// </summary>
/// <param name="time">The clock.</param>
internal sealed class OperationRegistry(TimeProvider time)
{
    /// <summary>How many finished operations are remembered: clients ask for the state right after the end.</summary>
    private const int Remembered = 256;

    /// <summary>
    /// How much they hold at most, beside what is drawn from a memory share. The longest query is an eighth of it.
    /// </summary>
    private const long RememberedBytes = 4 << 20;

    private readonly ConcurrentDictionary<(uint Database, long Id), LongOperation> _operations = new();
    private readonly ConcurrentQueue<LongOperation> _finished = new();
    private long _finishedBytes;

    // Numbers go on from the clock, so that who asks after a restart for an operation from before it does not find
    // another one.
    private long _lastId = time.GetUtcNow().ToUnixTimeMilliseconds();

    /// <summary>Told of every change of an operation's state, on the thread that made it.</summary>
    public event EventHandler<OperationChangedEventArgs>? Changed;

    /// <summary>A number no operation had since the node started.</summary>
    public long NextId() => Interlocked.Increment(ref _lastId);

    /// <summary>Begins an operation under a number from <see cref="NextId"/>.</summary>
    /// <param name="operation">The operation.</param>
    /// <param name="by">Who begins it.</param>
    /// <exception cref="RefusedException">The number is in use, or was never given. The operation is
    /// disposed.</exception>
    public T Begin<T>(T operation, Principal by)
        where T : LongOperation
    {
        operation.BegunBy = by.Name;
        if (operation.Id > Interlocked.Read(ref _lastId) || !_operations.TryAdd(KeyOf(operation), operation))
        {
            operation.Dispose();
            throw RefusedException.BadRequest(
                $"There is no free operation {operation.Id}: ask for a number with GET "
                    + $"operations/next-operation-id, and use it once."
            );
        }

        return operation;
    }

    public bool TryGet(Database database, long id, [NotNullWhen(true)] out LongOperation? operation) =>
        _operations.TryGetValue((database.Number, id), out operation);

    /// <summary>Tells watchers how an operation stands.</summary>
    public void Announce(LongOperation operation)
    {
        Changed?.Invoke(this, new OperationChangedEventArgs(operation));
        if (operation.Stage != OperationStage.InProgress)
        {
            Forget(operation);
        }
    }

    private void Forget(LongOperation ended)
    {
        _finished.Enqueue(ended);
        Interlocked.Add(ref _finishedBytes, ended.HeldBytes);
        while (
            (_finished.Count > Remembered || Interlocked.Read(ref _finishedBytes) > RememberedBytes)
            && _finished.TryDequeue(out var oldest)
        )
        {
            Interlocked.Add(ref _finishedBytes, -oldest.HeldBytes);
            if (_operations.TryRemove(KeyOf(oldest), out var forgotten))
            {
                forgotten.Dispose();
            }
        }
    }

    private static (uint Database, long Id) KeyOf(LongOperation operation) => (operation.Database, operation.Id);
}

/// <summary>An operation went on, or ended.</summary>
internal sealed class OperationChangedEventArgs(LongOperation operation) : EventArgs
{
    public LongOperation Operation => operation;
}
