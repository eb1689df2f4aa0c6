using System.Buffers;
using System.Collections.Concurrent;
using System.Threading.Tasks.Sources;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;

namespace Rookery.Cluster.Commit;

/// <summary>
/// A command on its way, and what its caller awaits. Pooled: a proposal costs no allocation once as many exist as are
/// ever in flight together. A caller who already awaits goes on on the thread pool, because what it does next must not
/// delay the next journal write.
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

    /// <summary>Its length in bytes.</summary>
    public int Bytes { get; private set; }

    /// <summary>Whether its caller asked for a receipt.</summary>
    public bool WantsReceipt { get; private set; }

    /// <summary>
    /// The term of the leader that a member sent it to: no other may propose it. 0 for one of a client here.
    /// </summary>
    public long LeaderTerm { get; private set; }

    /// <summary>Etags it uses.</summary>
    public int OperationCount { get; private set; }

    /// <summary>The next in a <see cref="ProposalQueue"/>.</summary>
    public Proposal? Next { get; set; }

    /// <summary>What the caller awaits, once.</summary>
    public ValueTask<CommandOutcome> Task => new(this, _core.Version);

    /// <summary>Takes the command over, and what was loaded for it until it is answered.</summary>
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

    /// <summary>One that is no proposal, for a place to be recognised by.</summary>
    public static Proposal MakeMarker() => new();

    /// <summary>Gives the command back to who proposes it elsewhere.</summary>
    public CommandBuffer TakeCommand()
    {
        var command = _command!;
        _command = null;
        return command;
    }

    /// <summary>Takes the command over again: it did not come into the log.</summary>
    public void TakeBack(ReadOnlySpan<byte> command)
    {
        _command = CommandBuffer.Rent(command.Length);
        _command.Write(command);
        _command.WantsReceipt = WantsReceipt;
    }

    /// <summary>The command's bytes are in the frame now.</summary>
    public void ReleaseCommand()
    {
        _command?.Dispose();
        _command = null;
    }

    /// <summary>Answers the caller. The proposal is not to be touched afterwards.</summary>
    /// <param name="outcome">What became of the command.</param>
    /// <param name="inline">Whether the caller goes on here and now, on this thread.</param>
    public void Complete(in CommandOutcome outcome, bool inline)
    {
        ReleaseCommand();
        _previous.Dispose();
        _previous = default;
        if (inline || !Volatile.Read(ref _isAwaited))
        {
            // One who begins to await just now must not go on on this thread: it may hold the lock of consensus.
            _core.RunContinuationsAsynchronously = !inline;
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
