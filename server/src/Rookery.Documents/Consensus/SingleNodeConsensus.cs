using Rookery.Disk;
using Rookery.Documents.Apply;
using Rookery.Documents.Commands;
using Rookery.Journal;
using Rookery.Storage;

namespace Rookery.Documents;

/// <summary>
/// Consensus of one: the journal itself. What queued while the previous journal write was in flight becomes one frame, is made durable by one write and one
/// sync, is applied, and then answered. This class has no thread of its own: <see cref="CommitThreads"/> drives it, or a test step by step.
/// </summary>
internal sealed class SingleNodeConsensus : IConsensus
{
    // A caller with more than this has more to do than to wait for the disk: bulk insert reads on meanwhile.
    private const int LargestCommandToCommitHere = 64 << 10;

    private readonly NodeJournal _journal;
    private readonly Applier _applier;
    private readonly TimeProvider _time;
    private readonly Admission _admission;
    private readonly NodeSpace _space;
    private readonly PreviousVersions _previous;
    private readonly ProposalQueue _queue = new();

    // Of the committing thread: taken from the queue, not yet in a frame.
    private readonly Queue<Proposal> _waiting = new();
    private Rejection? _refusal;
    private long _lastLogTicks;
    private long _appliedIndex;
    private long _frames;
    private long _commands;
    private int _queued;

    public SingleNodeConsensus(
        NodeJournal journal, Applier applier, PreviousVersions previous, Admission admission, NodeSpace space, string nodeTag, TimeProvider time)
    {
        _journal = journal;
        _applier = applier;
        _previous = previous;
        _time = time;
        _admission = admission;
        _space = space;
        _lastLogTicks = applier.LastLogTicks;
        _appliedIndex = journal.LastIndex;
        Term = Math.Max(journal.LastTerm, 1);
        NodeTag = nodeTag;
    }

    /// <inheritdoc/>
    public Rejection? Refusal => Volatile.Read(ref _refusal);

    /// <inheritdoc/>
    public bool IsLeader => Refusal is null;

    /// <inheritdoc/>
    public string NodeTag { get; }

    /// <inheritdoc/>
    public string? LeaderTag => IsLeader ? NodeTag : null;

    /// <inheritdoc/>
    public long Term { get; }

    /// <inheritdoc/>
    public long AppliedIndex => Volatile.Read(ref _appliedIndex);

    /// <summary>Called once, with the sentence, when the journal or apply failed: nothing is acknowledged from then on.</summary>
    public Action<string>? Latched { get; set; }

    /// <summary>Called by a caller who found the writing thread asleep and has its turn now.</summary>
    public Action? CommitHere { get; set; }

    /// <summary>Whether callers go on on the thread that answers them: for tests that drive this class step by step.</summary>
    public bool AnswersInline { get; init; }

    /// <summary>Frames committed since the start.</summary>
    public long Frames => Volatile.Read(ref _frames);

    /// <summary>Commands committed since the start.</summary>
    public long Commands => Volatile.Read(ref _commands);

    /// <summary>Commands admitted and not yet answered.</summary>
    public long Queued => Volatile.Read(ref _queued);

    /// <summary>What bounds the bytes in flight.</summary>
    public Admission Admission => _admission;

    internal ProposalQueue Queue => _queue;

    /// <inheritdoc/>
    public ValueTask<bool> ReadBarrierAsync(CancellationToken cancellationToken) =>
        // Answered means applied here, so any snapshot taken now sees every acknowledged write.
        ValueTask.FromResult(Refusal is not { Kind: RejectionKind.Diagnosis });

    /// <inheritdoc/>
    public ValueTask<CommandOutcome> ProposeAsync(CommandBuffer command, CancellationToken cancellationToken)
    {
        var reader = new CommandReader(command.Written.Span);
        if ((Refusal ?? SpaceRefusal(command)) is { } refusal)
        {
            command.Dispose();
            return ValueTask.FromResult(new CommandOutcome(refusal));
        }

        return _admission.TryEnter(command.Length)
            ? Enqueue(command, reader)
            : ProposeWhenThereIsRoomAsync(command, cancellationToken);
    }

    /// <summary>Takes what waits into a frame and makes it durable.</summary>
    /// <returns>False when nothing waited, or the node latched: then the frame was refused.</returns>
    public bool Write(CommitFrame frame)
    {
        _queue.TakeAll(_waiting);
        if (_waiting.Count == 0)
        {
            return false;
        }

        frame.Fill(_waiting);
        if (Refusal is { Kind: RejectionKind.Diagnosis } refusal)
        {
            Refuse(frame, refusal);
            return false;
        }

        // Log time never falls, whatever the clock does.
        _lastLogTicks = Math.Max(_lastLogTicks + 1, _time.GetUtcNow().UtcTicks);
        JournalFrame entry;
        try
        {
            entry = frame.Build(_journal.LastIndex + 1, Term, _journal.OperationsBeforeNext, _lastLogTicks);
        }
        catch (OutOfMemoryException)
        {
            Refuse(frame, new Rejection(RejectionKind.Overloaded, "There was no memory for this write. Nothing of it was stored; send less at once, or try again in a second."));
            return false;
        }

        try
        {
            _journal.Write([entry]);
            return true;
        }
        catch (Exception failure) when (failure is DiskException or JournalLatchedException)
        {
            Latch($"The journal could not be written, so nothing more is acknowledged: {failure.Message} Restart the node when the cause is removed.");
            Refuse(frame, new Rejection(
                RejectionKind.OutcomeUnknown,
                $"Whether the write is durable is unknown; it may take effect after a restart. {failure.Message}"));
            return false;
        }
    }

    /// <summary>Applies a durable frame and answers its callers.</summary>
    public void Apply(CommitFrame frame)
    {
        if (Refusal is { Kind: RejectionKind.Diagnosis })
        {
            // An earlier frame could not be applied, so this one, durable as it is, cannot either before a restart.
            Refuse(frame, DurableButUnapplied);
            return;
        }

        try
        {
            frame.Apply(_applier);
        }
        catch (Exception failure) when (failure is not (InvariantViolationException or OutOfMemoryException))
        {
            string wayOn = failure is DamagedException
                ? "Restore a backup, or stop the node, take what can be read with `rookery export`, and import it into a new node."
                : "The node applies it when it is restarted and the cause is removed.";
            Latch($"A durable write could not be applied: {failure.Message} {wayOn}");
            Refuse(frame, DurableButUnapplied);
            return;
        }

        Volatile.Write(ref _appliedIndex, frame.Index);
        Volatile.Write(ref _frames, _frames + 1);
        Volatile.Write(ref _commands, _commands + frame.Count);
        Interlocked.Add(ref _queued, -frame.Count);
        frame.Answer(_admission, AnswersInline);
    }

    /// <summary>Refuses new commands, in order to stop.</summary>
    public void RefuseBecauseStopping() =>
        Interlocked.CompareExchange(ref _refusal, Stopping, null);

    /// <summary>Answers what still waits when nobody will commit it any more: it was never written. What comes later is refused.</summary>
    public void RefuseWaiting()
    {
        var frame = new CommitFrame();
        var refusal = Refusal ?? Stopping;
        _queue.Close(_waiting);
        while (_waiting.Count > 0)
        {
            frame.Fill(_waiting);
            Refuse(frame, refusal);
        }
    }

    /// <summary>Whether something waits that did not fit into the last frame.</summary>
    public bool HasWaiting => _waiting.Count > 0;

    private static Rejection Stopping { get; } = new(RejectionKind.Stopping, "The node is stopping.");

    private static Rejection DurableButUnapplied { get; } = new(
        RejectionKind.OutcomeUnknown, "The write is durable, but an error kept it from being applied; it takes effect when the node is restarted.");

    private ValueTask<CommandOutcome> Enqueue(CommandBuffer command, scoped CommandReader reader)
    {
        LoadedVersion previous;
        try
        {
            previous = _previous.Load(reader);
        }
        catch (Exception failure)
        {
            _admission.Leave(command.Length);
            command.Dispose();
            return RefusalOf(failure) is { } refusal ? ValueTask.FromResult(new CommandOutcome(refusal)) : ValueTask.FromException<CommandOutcome>(failure);
        }

        var proposal = Proposal.Rent(command, reader.OperationCount, previous);
        var outcome = proposal.Task;
        Interlocked.Increment(ref _queued);
        if (!_queue.TryPut(proposal, mayTakeTurn: command.Length <= LargestCommandToCommitHere, out bool hasTurn))
        {
            // The node stopped while this looked ahead: nobody is left to commit it.
            Interlocked.Decrement(ref _queued);
            _admission.Leave(proposal.Bytes);
            proposal.Complete(new CommandOutcome(Refusal ?? Stopping), AnswersInline);
        }
        else if (hasTurn)
        {
            CommitHere?.Invoke();
        }

        return outcome;
    }

    /// <summary>Why a command is refused when looking ahead failed. Once it is in the journal it has to be applied: what is known not to be possible is refused before.</summary>
    private static Rejection? RefusalOf(Exception failure) => failure switch
    {
        DamagedException => new Rejection(
            RejectionKind.Damaged, $"Nothing was stored, because what the write would replace cannot be read. {failure.Message} Other documents are not affected."),
        OutOfMemoryException => new Rejection(
            RejectionKind.Overloaded, "There was no memory to look up what the write would replace. Nothing was stored; send less at once, or try again in a second."),
        _ => null,
    };

    private async ValueTask<CommandOutcome> ProposeWhenThereIsRoomAsync(CommandBuffer command, CancellationToken cancellationToken)
    {
        try
        {
            if (!await _admission.EnterAsync(command.Length, cancellationToken))
            {
                command.Dispose();
                return new CommandOutcome(new Rejection(
                    RejectionKind.Overloaded,
                    $"{_admission.Bytes} bytes of writes are in flight, of {_admission.LimitBytes} that may be. Nothing was stored; try again in a second."));
            }
        }
        catch (OperationCanceledException)
        {
            command.Dispose();
            return new CommandOutcome(new Rejection(RejectionKind.Canceled, "The request was given up before its write was queued. Nothing was stored."));
        }

        if (Refusal is { } refusal)
        {
            // It came while this waited. Behind it nobody may be left to commit what is queued.
            _admission.Leave(command.Length);
            command.Dispose();
            return new CommandOutcome(refusal);
        }

        return await Enqueue(command, new CommandReader(command.Written.Span));
    }

    private Rejection? SpaceRefusal(CommandBuffer command)
    {
        string? reason = _space.GrowthRefusal(NodeTag);
        return reason is null || !Growth.Grows(command.Written.Span) ? null : new Rejection(RejectionKind.InsufficientSpace, reason);
    }

    private void Latch(string sentence)
    {
        if (Interlocked.Exchange(ref _refusal, new Rejection(RejectionKind.Diagnosis, sentence)) is not { Kind: RejectionKind.Diagnosis })
        {
            Latched?.Invoke(sentence);
        }
    }

    private void Refuse(CommitFrame frame, Rejection rejection)
    {
        Interlocked.Add(ref _queued, -frame.Count);
        frame.Refuse(rejection, _admission, AnswersInline);
    }
}
