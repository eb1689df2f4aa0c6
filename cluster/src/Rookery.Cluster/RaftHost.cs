using Rookery.Cluster.Log;
using Rookery.Documents.Consensus;
using Rookery.Journal;
using Rookery.Raft;

namespace Rookery.Cluster;

/// <summary>
/// Runs the consensus core of a node: owns the one lock of its consensus, steps the core under it, and has the outputs
/// of each step carried out before the lock is released.
/// </summary>
/// <remarks>
/// <see cref="Core"/>, <see cref="Output"/> and what other types of consensus declare as guarded are touched only while
/// <see cref="Gate"/> is held, but for what their summaries name. No input or output is done under it. Members that say
/// nothing of the lock are callable from any thread.
/// </remarks>
internal sealed class RaftHost
{
    // No promise that others have it: two cards that lied about their last syncs outvote the one that did not.
    private const string OnlyCopy =
        "This node holds acknowledged writes that the others lost: keep its card, and export from it with "
        + "`rookery export`, before another joins in its place.";

    private const string KeepForReport = "Keep its data for a report: others may not have all of it.";

    private readonly TimeProvider _time;
    private readonly long _begun;
    private Rejection? _refusal;

    /// <summary>Runs a core from where a store's log begins.</summary>
    /// <param name="start">Where it begins.</param>
    /// <param name="applied">Entries through here are in the tables.</param>
    /// <param name="options">How consensus runs on the store.</param>
    /// <param name="time">The clock of the steps.</param>
    public RaftHost(StartingPoint start, long applied, ConsensusOptions options, TimeProvider time)
    {
        _time = time;
        _begun = time.GetTimestamp();
        Options = options;
        Self = start.Self;
        Core = new RaftCore(start, options.Core);
        Progress = new ApplyProgress(applied);
        Leadership = new Leadership(this);
    }

    /// <summary>How consensus runs on the store.</summary>
    public ConsensusOptions Options { get; }

    /// <summary>Carries out what the core says. Set once, before the first step.</summary>
    public StepHandler Handler { private get; set; } = null!;

    /// <summary>The lock of consensus.</summary>
    public Lock Gate { get; } = new();

    /// <summary>The core. Under the lock; its term and its time-outs may be read without it.</summary>
    public RaftCore Core { get; }

    /// <summary>What the last step said. Under the lock.</summary>
    public Output Output { get; } = new();

    /// <summary>Who leads and who belongs to the cluster, for reading without the lock.</summary>
    public Leadership Leadership { get; }

    /// <summary>How far the log is applied here, and may be, for reading without the lock.</summary>
    public ApplyProgress Progress { get; }

    /// <summary>This node, as the core knows it.</summary>
    public NodeId Self { get; }

    /// <summary>Microseconds since this was made: the core's time.</summary>
    public long Now => (long)_time.GetElapsedTime(_begun).TotalMicroseconds;

    /// <summary>
    /// Whether the core takes no more steps. Written under the lock; a fetch that goes on for long reads it without.
    /// </summary>
    public bool IsHalted { get; private set; }

    /// <summary>Why this node takes no writes now; null when it does.</summary>
    public Rejection? Refusal => Volatile.Read(ref _refusal);

    /// <summary>Whether this node does nothing any more but say why.</summary>
    public bool IsLatched => Refusal is { Kind: RejectionKind.Diagnosis };

    /// <summary>Told once, in a sentence, when nothing is acknowledged any more.</summary>
    public Action<string>? Latched { get; set; }

    /// <summary>The refusal of a node that is about to stop.</summary>
    public static Rejection Stopping { get; } = new(RejectionKind.Stopping, "The node is stopping.");

    /// <summary>Takes one event to the core and has carried out what it says. Under the lock.</summary>
    /// <param name="input">The event.</param>
    /// <param name="proposed">The frame that <see cref="Input.Propose"/> is about.</param>
    /// <param name="received">The entries that came with a message.</param>
    public void Step(in Input input, LogFrame? proposed = null, ReadOnlySpan<JournalFrame> received = default)
    {
        if (IsHalted)
        {
            return;
        }

        try
        {
            Core.Step(input, Output);
            Handler.CarryOut(proposed, received);
        }
        catch (ConsensusException broken)
        {
            Halt(
                $"A rule of consensus was found broken, so this node stopped taking part: {broken.Rule}. "
                    + $"{(broken.IsCommitLostElsewhere ? OnlyCopy : KeepForReport)}"
            );
        }
        catch (Exception failure)
        {
            // On whose thread it may be, nobody may go on with half a step: a connection's would close the connection,
            // a request's answer 500.
            Options.Broken(failure);
            throw;
        }
    }

    /// <summary>
    /// Begins what the steps made due and is itself a step, or another thread's work. Under the lock.
    /// </summary>
    public void EndStep() => Handler.EndStep();

    /// <summary>Refuses new commands, in order to stop.</summary>
    public void RefuseBecauseStopping() => Interlocked.CompareExchange(ref _refusal, Stopping, null);

    /// <summary>Takes no part any more, because of what other members found wrong.</summary>
    /// <param name="sentence">Why, and what to do.</param>
    public void Retire(string sentence)
    {
        End();
        Latch(sentence);
    }

    /// <summary>Takes no part any more, because of what was found wrong here. Under the lock.</summary>
    public void Halt(string found)
    {
        IsHalted = true;
        Latch(Options.Halted(found));
    }

    /// <summary>
    /// Takes no part any more, because the journal failed or what is committed cannot be applied. Who leads would hold
    /// the others up: the core follows nobody from then on, and lets another become leader.
    /// </summary>
    public void StopTakingPart()
    {
        lock (Gate)
        {
            Step(Input.JournalFailed(Now));
            IsHalted = true;
        }
    }

    /// <summary>Takes no more steps.</summary>
    public void End()
    {
        lock (Gate)
        {
            IsHalted = true;
        }
    }

    /// <summary>Refuses everything from now on with a reason, until the node is started again.</summary>
    public void Latch(string sentence)
    {
        if (
            Interlocked.Exchange(ref _refusal, new Rejection(RejectionKind.Diagnosis, sentence))
            is not { Kind: RejectionKind.Diagnosis }
        )
        {
            Latched?.Invoke(sentence);
        }

        Handler.EndLatched();
    }
}
