using System.Text.Json;

namespace Rookery.Server.Raven.LongOperations;

/// <summary>State of a long operation, with RavenDB's names.</summary>
internal enum OperationStage
{
    InProgress,
    Completed,
    Canceled,
    Faulted,
}

/// <summary>One long operation: its progress, its result, and the token that ends it. Thread-safe.</summary>
/// <param name="database">Number of the operation's database; rights are checked by database.</param>
/// <param name="id">The operation's number, unique on this node.</param>
internal abstract class LongOperation(uint database, long id) : IDisposable
{
    /// <summary>Stands for the number of a database if the operation belongs to none.</summary>
    public const uint OfServer = 0;

    private readonly CancellationTokenSource _killed = new();
    private volatile OperationStage _stage = OperationStage.InProgress;
    private volatile bool _isForgotten;

    public uint Database => database;

    public long Id => id;

    /// <summary><see cref="Access.Principal.Key"/> of the caller who started the operation.</summary>
    public string BegunBy { get; set; } = "";

    public OperationStage Stage => _stage;

    /// <summary>Why the operation failed; null if it did not.</summary>
    public RefusedException? Failure { get; private set; }

    /// <summary>
    /// Whether the result is no longer kept. If this is false after a result was written, the written result is
    /// complete.
    /// </summary>
    public bool IsForgotten => _isForgotten;

    public CancellationToken Killed => _killed.Token;

    /// <summary>Asks the operation to end. Does nothing if it has ended.</summary>
    public void Kill()
    {
        try
        {
            _killed.Cancel();
        }
        catch (ObjectDisposedException)
        {
            // It ended and was forgotten meanwhile.
        }
    }

    public void Complete() => _stage = OperationStage.Completed;

    public void Cancel() => _stage = OperationStage.Canceled;

    /// <summary>Ends the operation with an error. Its result is never written, so its memory is released.</summary>
    public void Fail(RefusedException failure)
    {
        Failure = failure;
        _stage = OperationStage.Faulted;
        ReleaseResult();
    }

    /// <summary>Marks the operation as failed by a fault of the node, unless it has ended.</summary>
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

    /// <summary>Bytes that the operation holds while it is kept, besides <see cref="ReservedBytes"/>.</summary>
    public virtual long HeldBytes => 0;

    /// <summary>
    /// Bytes that the operation has reserved in a memory share. The number does not change from the operation's end
    /// until the operation is forgotten.
    /// </summary>
    public virtual long ReservedBytes => 0;

    /// <summary>Writes the progress as members of an object.</summary>
    public abstract void WriteProgress(Utf8JsonWriter json);

    /// <summary>Writes the result as members of an object.</summary>
    public abstract void WriteResult(Utf8JsonWriter json);

    public void Dispose()
    {
        _killed.Dispose();
        _isForgotten = true;
        ReleaseResult();
    }

    /// <summary>Releases the memory held for <see cref="WriteResult"/>.</summary>
    protected virtual void ReleaseResult() { }
}
