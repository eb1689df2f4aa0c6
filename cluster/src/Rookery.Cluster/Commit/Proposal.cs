using System.Buffers;
using System.Collections.Concurrent;
using System.Threading.Tasks.Sources;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;

namespace Rookery.Cluster.Commit;

/// <summary>
/// A command to be committed, and the task that its caller awaits. Proposals are pooled to avoid allocations. A caller
/// that already awaits continues on the thread pool, so that it does not delay the next journal write.
/// </summary>
internal sealed class Proposal : IValueTaskSource<CommandOutcome>, IThreadPoolWorkItem
{
    private const int PoolSize = 4096;
    private static readonly ConcurrentQueue<Proposal> Pool = new();

    private ManualResetValueTaskSourceCore<CommandOutcome> _core;
    private CommandOutcome _outcome;
    private CommandBuffer? _command;
    private LoadedVersion _previous;
    private bool _isAwaited;

    private Proposal() { }

    /// <summary>The encoded command.</summary>
    public ReadOnlyMemory<byte> Command => _command!.Written;

    /// <summary>The command's length in bytes.</summary>
    public int Bytes { get; private set; }

    /// <summary>Whether the caller asked for a receipt.</summary>
    public bool WantsReceipt { get; private set; }

    /// <summary>
    /// The only term in which a forwarded command may be proposed, as named by the forwarding member. 0 for a command
    /// of this node's own client.
    /// </summary>
    public long LeaderTerm { get; private set; }

    /// <summary>The number of etags that the command uses.</summary>
    public int OperationCount { get; private set; }

    /// <summary>The next proposal in a <see cref="ProposalQueue"/>.</summary>
    public Proposal? Next { get; set; }

    /// <summary>The task of the outcome; to be awaited once.</summary>
    public ValueTask<CommandOutcome> Task => new(this, _core.Version);

    /// <summary>
    /// Takes a proposal from the pool. The proposal owns the command, and owns <paramref name="previous"/> until it is
    /// answered.
    /// </summary>
    public static Proposal Rent(CommandBuffer command, int operationCount, in LoadedVersion previous = default)
    {
        if (!Pool.TryDequeue(out var proposal))
        {
            proposal = new Proposal();
        }

        proposal._command = command;
        proposal._previous = previous;
        proposal.Bytes = command.Length;
        proposal.WantsReceipt = command.WantsReceipt;
        proposal.LeaderTerm = command.LeaderTerm;
        proposal.OperationCount = operationCount;
        return proposal;
    }

    /// <summary>Makes a proposal without a command, as a sentinel of a queue.</summary>
    public static Proposal MakeMarker() => new();

    /// <summary>Returns the command and gives up its ownership, so that it can be forwarded to the leader.</summary>
    public CommandBuffer TakeCommand()
    {
        var command = _command!;
        _command = null;
        return command;
    }

    /// <summary>Restores the command from an entry that was not placed in the log.</summary>
    public void RestoreCommand(ReadOnlySpan<byte> command)
    {
        _command = CommandBuffer.Rent(command.Length);
        _command.Write(command);
        _command.WantsReceipt = WantsReceipt;
    }

    /// <summary>Releases the command's buffer, because the entry holds a copy.</summary>
    public void ReleaseCommand()
    {
        _command?.Dispose();
        _command = null;
    }

    /// <summary>Answers the caller. The proposal must not be used afterwards.</summary>
    /// <param name="outcome">The outcome of the command.</param>
    /// <param name="continuesInline">Whether the caller continues on this thread, within this call.</param>
    public void Complete(in CommandOutcome outcome, bool continuesInline)
    {
        ReleaseCommand();
        _previous.Dispose();
        _previous = default;
        if (continuesInline || !Volatile.Read(ref _isAwaited))
        {
            // A caller that starts to await at this moment must not continue on this thread, which may hold the
            // consensus lock.
            _core.RunContinuationsAsynchronously = !continuesInline;
            _core.SetResult(outcome);
            return;
        }

        _outcome = outcome;
        ThreadPool.UnsafeQueueUserWorkItem(this, preferLocal: false);
    }

    /// <inheritdoc/>
    void IThreadPoolWorkItem.Execute()
    {
        _core.RunContinuationsAsynchronously = false;
        _core.SetResult(_outcome);
    }

    /// <inheritdoc/>
    CommandOutcome IValueTaskSource<CommandOutcome>.GetResult(short token)
    {
        var outcome = _core.GetResult(token);
        _core.Reset();
        _outcome = default;
        _isAwaited = false;
        Next = null;
        if (Pool.Count < PoolSize)
        {
            Pool.Enqueue(this);
        }

        return outcome;
    }

    /// <inheritdoc/>
    ValueTaskSourceStatus IValueTaskSource<CommandOutcome>.GetStatus(short token) => _core.GetStatus(token);

    /// <inheritdoc/>
    void IValueTaskSource<CommandOutcome>.OnCompleted(
        Action<object?> continuation,
        object? state,
        short token,
        ValueTaskSourceOnCompletedFlags flags
    )
    {
        Volatile.Write(ref _isAwaited, true);
        _core.OnCompleted(continuation, state, token, flags);
    }
}
