using System.Text.Json;

namespace Rookery.Server.Raven.LongOperations;

/// <summary>Where a long operation stands. Names are RavenDB's.</summary>
internal enum OperationStage
{
    InProgress,
    Completed,
    Canceled,
    Faulted,
}

/// <summary>
/// One long operation as others see it: how far it is, how it ended, and the switch that ends it. Safe for several
/// threads.
/// </summary>
/// <param name="database">The number of the database that it works in: rights are by database.</param>
/// <param name="id">Its number on this node.</param>
internal abstract class LongOperation(uint database, long id) : IDisposable
{
    private readonly CancellationTokenSource _killed = new();
    private volatile OperationStage _stage = OperationStage.InProgress;
    private volatile bool _isForgotten;

    public uint Database => database;

    public long Id => id;

    /// <summary>The name of whoever began it, as its credential is called.</summary>
    public string BegunBy { get; set; } = "";

    public OperationStage Stage => _stage;

    /// <summary>Why it failed: type and text of the refusal.</summary>
    public RefusedException? Failure { get; private set; }

    /// <summary>Whether its result is no longer kept, or soon will not be.</summary>
    public bool IsForgotten => _isForgotten;

    public CancellationToken Killed => _killed.Token;

    public void Kill() => _killed.Cancel();

    public void Complete() => _stage = OperationStage.Completed;

    public void Cancel() => _stage = OperationStage.Canceled;

    public void Fail(RefusedException failure)
    {
        Failure = failure;
        _stage = OperationStage.Faulted;
    }

    /// <summary>Ends it as one that a fault of the node ended, unless it ended before.</summary>
    public void FailUnlessEnded()
    {
        if (_stage == OperationStage.InProgress)
        {
            Fail(
                new RefusedException(
                    Microsoft.AspNetCore.Http.StatusCodes.Status500InternalServerError,
                    RavenType.RavenException,
                    "The node could not go on because of a fault of its own; its log has the details."
                )
            );
        }
    }

    /// <summary>What it holds for as long as it is remembered, unless it draws that from a memory share.</summary>
    public virtual long HeldBytes => 0;

    /// <summary>Writes how far it is, as members of an object.</summary>
    public abstract void WriteProgress(Utf8JsonWriter json);

    /// <summary>Writes what it came to, as members of an object.</summary>
    public abstract void WriteResult(Utf8JsonWriter json);

    public void Dispose()
    {
        _killed.Dispose();
        _isForgotten = true;
        Forget();
    }

    /// <summary>Gives back what is held for <see cref="WriteResult"/>.</summary>
    protected virtual void Forget() { }
}
