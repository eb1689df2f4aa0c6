namespace Rookery.Server.Raven.BulkInsert;

/// <summary>Where a long operation stands. Names are RavenDB's.</summary>
internal enum OperationStage
{
    InProgress,
    Completed,
    Canceled,
    Faulted,
}

/// <summary>One long operation as others see it: what it did so far, how it ended, and the switch that ends it. Safe for several threads.</summary>
internal sealed class BulkOperation(uint database, long id) : IDisposable
{
    private readonly CancellationTokenSource _killed = new();
    private volatile OperationStage _stage = OperationStage.InProgress;
    private long _total;
    private long _batches;

    /// <summary>The number of the database that it works in: rights are by database.</summary>
    public uint Database => database;

    public long Id => id;

    public OperationStage Stage => _stage;

    /// <summary>Why it failed: type and text of the refusal.</summary>
    public RefusedException? Failure { get; private set; }

    public long Total => Interlocked.Read(ref _total);

    public long Batches => Interlocked.Read(ref _batches);

    /// <summary>The id of a document that was stored in the last batch.</summary>
    public string? LastProcessedId { get; private set; }

    public CancellationToken Killed => _killed.Token;

    public void Kill() => _killed.Cancel();

    public void Progress(int documents, string? lastId)
    {
        Interlocked.Add(ref _total, documents);
        Interlocked.Increment(ref _batches);
        LastProcessedId = lastId ?? LastProcessedId;
    }

    public void Complete() => _stage = OperationStage.Completed;

    public void Cancel() => _stage = OperationStage.Canceled;

    public void Fail(RefusedException failure)
    {
        Failure = failure;
        _stage = OperationStage.Faulted;
    }

    public void Dispose() => _killed.Dispose();
}
