using System.Collections.Concurrent;
using System.Diagnostics.CodeAnalysis;
using Rookery.Documents.Databases;
using Rookery.Platform;
using Rookery.Server.Access;

namespace Rookery.Server.Raven.LongOperations;

/// <summary>
/// The running and recently finished long operations of this node. An operation is found only in its own database, so
/// rights in another database do not give access to it. Thread-safe.
/// </summary>
/// <param name="time">The clock.</param>
/// <param name="memory">The share that holds the details of operations. Kept operations hold at most half of it, so
/// that queries have the rest.</param>
internal sealed class OperationRegistry(TimeProvider time, MemoryShare memory)
{
    /// <summary>Number of finished operations to keep. Clients read the state right after the end.</summary>
    private const int MaxFinished = 256;

    /// <summary>
    /// Bytes that kept operations may hold, besides those reserved in the memory share. One query text takes at most an
    /// eighth of these bytes.
    /// </summary>
    private const long MaxFinishedBytes = 4 << 20;

    private readonly long _maxReservedBytes = memory.LimitBytes / 2;
    private readonly ConcurrentDictionary<(uint Database, long Id), LongOperation> _operations = new();
    private readonly ConcurrentQueue<Finished> _finished = new();
    private long _finishedBytes;
    private long _reservedBytes;

    // Numbers start at the clock's milliseconds, so that a number from before a restart does not name a new operation.
    private long _lastId = time.GetUtcNow().ToUnixTimeMilliseconds();

    /// <summary>Raised at each change of an operation's state, on the thread that changed it.</summary>
    public event EventHandler<OperationChangedEventArgs>? Changed;

    /// <summary>Returns a number that no operation has had since the node started.</summary>
    public long NextId() => Interlocked.Increment(ref _lastId);

    /// <summary>Registers an operation under a number from <see cref="NextId"/>.</summary>
    /// <param name="operation">The operation.</param>
    /// <param name="principal">The caller who starts it.</param>
    /// <exception cref="RefusedException">The number is in use, or was never assigned: 400. The operation is
    /// disposed.</exception>
    public T Begin<T>(T operation, Principal principal)
        where T : LongOperation
    {
        if (operation.Id > Interlocked.Read(ref _lastId) || !TryAdd(operation, principal))
        {
            operation.Dispose();
            throw RefusedException.BadRequest(
                $"There is no free operation {operation.Id}: ask for a number with GET "
                    + $"operations/next-operation-id, and use it once."
            );
        }

        return operation;
    }

    /// <summary>
    /// Registers an operation under a number that no operation has had. Between <see cref="NextId"/> and
    /// <see cref="Begin"/>, a request that guesses the number could take it.
    /// </summary>
    /// <param name="create">Creates the operation with its number.</param>
    /// <param name="principal">The caller who starts it.</param>
    public T BeginNext<T>(Func<long, T> create, Principal principal)
        where T : LongOperation
    {
        while (true)
        {
            var operation = create(NextId());
            if (TryAdd(operation, principal))
            {
                return operation;
            }

            operation.Dispose();
        }
    }

    public bool TryGet(Database database, long id, [NotNullWhen(true)] out LongOperation? operation) =>
        TryGet(database.Number, id, out operation);

    /// <summary>Finds an operation by the number of its database, or <see cref="LongOperation.OfServer"/>.</summary>
    public bool TryGet(uint database, long id, [NotNullWhen(true)] out LongOperation? operation) =>
        _operations.TryGetValue((database, id), out operation);

    /// <summary>Raises <see cref="Changed"/>. If the operation has ended, also queues it for removal.</summary>
    public void Announce(LongOperation operation)
    {
        Changed?.Invoke(this, new OperationChangedEventArgs(operation));
        if (operation.Stage != OperationStage.InProgress)
        {
            KeepFinished(operation);
        }
    }

    private bool TryAdd(LongOperation operation, Principal principal)
    {
        operation.BegunBy = principal.Key;
        return _operations.TryAdd(KeyOf(operation), operation);
    }

    private void KeepFinished(LongOperation ended)
    {
        // Counted before the operation is queued: another thread may dequeue and dispose it at once, and disposing sets
        // its bytes to 0.
        var finished = new Finished(ended, ended.HeldBytes, ended.ReservedBytes);
        Interlocked.Add(ref _finishedBytes, finished.HeldBytes);
        Interlocked.Add(ref _reservedBytes, finished.ReservedBytes);
        _finished.Enqueue(finished);
        while (
            (
                _finished.Count > MaxFinished
                || Interlocked.Read(ref _finishedBytes) > MaxFinishedBytes
                || Interlocked.Read(ref _reservedBytes) > _maxReservedBytes
            ) && _finished.TryDequeue(out var oldest)
        )
        {
            Interlocked.Add(ref _finishedBytes, -oldest.HeldBytes);
            Interlocked.Add(ref _reservedBytes, -oldest.ReservedBytes);
            if (_operations.TryRemove(KeyOf(oldest.Operation), out var forgotten))
            {
                forgotten.Dispose();
            }
        }
    }

    private static (uint Database, long Id) KeyOf(LongOperation operation) => (operation.Database, operation.Id);

    /// <summary>An ended operation and the bytes that it was counted with.</summary>
    private readonly record struct Finished(LongOperation Operation, long HeldBytes, long ReservedBytes);
}

/// <summary>The operation that made progress or ended.</summary>
internal sealed class OperationChangedEventArgs(LongOperation operation) : EventArgs
{
    public LongOperation Operation => operation;
}
