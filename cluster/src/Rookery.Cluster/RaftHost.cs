using Rookery.Cluster.Log;
using Rookery.Documents.Consensus;
using Rookery.Journal;
using Rookery.Raft;

namespace Rookery.Cluster;

/// <summary>
/// Hosts the consensus core of a node: owns the consensus lock, steps the core under it, and passes each step's output
/// to <see cref="Handler"/> before it releases the lock.
/// </summary>
/// <remarks>
/// <para>The fields and properties that a summary marks "under the lock" are touched only while <see cref="Gate"/> is
/// held. No I/O is done under it, except to install a snapshot. Members without such a mark may be called from any
/// thread.</para>
/// <para>Two independent states restrict a node. <see cref="IsHalted"/>: the core takes no more steps, so the node
/// neither votes nor replicates; its tables can still be read. <see cref="IsInDiagnosisMode"/>: every write is refused
/// with the reason. These methods enter them, or shut the node down:</para>
/// <list type="table">
/// <item><term><see cref="BeginShutdown"/></term><description>Refuses writes; consensus continues until the process
/// ends.</description></item>
/// <item><term><see cref="Halt"/></term><description>The node is halted.</description></item>
/// <item><term><see cref="StepDownAndHalt"/></term><description>Steps down, then halts.</description></item>
/// <item><term><see cref="EnterDiagnosisMode"/></term><description>Enters diagnosis mode.</description></item>
/// <item><term><see cref="HaltInDiagnosisMode"/></term><description>Halts and enters diagnosis
/// mode.</description></item>
/// <item><term><see cref="HaltForGood"/></term><description>Halts and enters diagnosis mode, also at every later
/// start.</description></item>
/// </list>
/// </remarks>
internal sealed class RaftHost
{
    private const string OnlyCopy =
        "This node holds acknowledged writes that the other members lost: keep its disk, and export its data with "
        + "`rookery export` before you replace this node with another.";

    // The message does not promise that other members have all of the data: their disks may have lost their last syncs.
    private const string KeepForReport = "Keep its data for a report: other members may lack a part of it.";

    private readonly TimeProvider _time;
    private readonly long _startedAt;
    private Rejection? _refusal;

    /// <summary>Makes a core that continues a store's log.</summary>
    /// <param name="start">The term, vote, log and configuration that the store holds.</param>
    /// <param name="applied">The highest index that the tables contain.</param>
    /// <param name="options">The options of consensus.</param>
    /// <param name="time">The clock that inputs are stamped with.</param>
    public RaftHost(StartingPoint start, long applied, ConsensusOptions options, TimeProvider time)
    {
        _time = time;
        _startedAt = time.GetTimestamp();
        Options = options;
        Self = start.Self;
        Core = new RaftCore(start, options.Core);
        Progress = new ApplyProgress(applied);
        Leadership = new Leadership(this);
        Clock = new PublishedClock(this);
    }

    /// <summary>The options of consensus.</summary>
    public ConsensusOptions Options { get; }

    /// <summary>Executes the core's output. Set once, before the first step.</summary>
    public StepHandler Handler { private get; set; } = null!;

    /// <summary>The lock of consensus.</summary>
    public Lock Gate { get; } = new();

    /// <summary>
    /// The core. Under the lock, except that its term and its election timeout may be read without it.
    /// </summary>
    public RaftCore Core { get; }

    /// <summary>The output of the last step. Under the lock.</summary>
    public Output Output { get; } = new();

    /// <summary>The leader and the configuration, readable without the lock.</summary>
    public Leadership Leadership { get; }

    /// <summary>The cluster's time, readable without the lock.</summary>
    public PublishedClock Clock { get; }

    /// <summary>The applied and the applicable index, readable without the lock.</summary>
    public ApplyProgress Progress { get; }

    /// <summary>This node, as the core knows it.</summary>
    public NodeId Self { get; }

    /// <summary>Microseconds since this host was made: the time that inputs carry.</summary>
    public long Now => (long)_time.GetElapsedTime(_startedAt).TotalMicroseconds;

    /// <summary>
    /// Whether the core takes no more steps. Written under the lock. A running fetch of a snapshot reads it without the
    /// lock.
    /// </summary>
    public bool IsHalted { get; private set; }

    /// <summary>Why this node refuses writes now; null when it accepts them.</summary>
    public Rejection? Refusal => Volatile.Read(ref _refusal);

    /// <summary>Whether the node is in diagnosis mode: it refuses every write and reports the reason.</summary>
    public bool IsInDiagnosisMode => Refusal is { Kind: RejectionKind.Diagnosis };

    /// <summary>Invoked once, with the reason, when the node enters diagnosis mode.</summary>
    public Action<string>? DiagnosisModeEntered { get; set; }

    /// <summary>The rejection of a node that is shutting down.</summary>
    public static Rejection Stopping { get; } = new(RejectionKind.Stopping, "The node is stopping.");

    /// <summary>
    /// Steps the core with one input and executes its output. Does nothing once halted. Under the lock.
    /// </summary>
    /// <param name="input">The input.</param>
    /// <param name="proposed">The entry that <see cref="Input.Propose"/> proposes; null for other inputs.</param>
    /// <param name="received">The entries of a received message, as frames; empty for other inputs.</param>
    public void Step(in Input input, CachedEntry? proposed = null, ReadOnlySpan<JournalFrame> received = default)
    {
        if (IsHalted)
        {
            return;
        }

        try
        {
            Core.Step(input, Output);
            Clock.Publish();
            Handler.Execute(proposed, received);
        }
        catch (ConsensusException broken)
        {
            HaltForGood(
                $"A rule of consensus was found broken, so this node stopped taking part: {broken.Rule}. "
                    + $"{(broken.IsCommitLostElsewhere ? OnlyCopy : KeepForReport)}"
            );
        }
        catch (Exception failure)
        {
            // A half-done step leaves the state inconsistent, so the process must end. Otherwise the exception would
            // only close a connection or answer a request with 500.
            Options.EndProcess(failure);
            throw;
        }
    }

    /// <summary>
    /// Requests the next read index and wakes the apply thread, if the steps made either necessary. Call it after the
    /// last step, under the lock.
    /// </summary>
    public void EndStep() => Handler.EndStep();

    /// <summary>Refuses new writes because the node is shutting down.</summary>
    public void BeginShutdown() => Interlocked.CompareExchange(ref _refusal, Stopping, null);

    /// <summary>
    /// Halts and enters diagnosis mode. The node participates again after a restart, unless the caller prevents that.
    /// </summary>
    /// <param name="reason">The reason, and what the operator must do.</param>
    public void HaltInDiagnosisMode(string reason)
    {
        Halt();
        EnterDiagnosisMode(reason);
    }

    /// <summary>
    /// Halts and enters diagnosis mode, in this and every later start, because a rule of consensus is broken
    /// (<see cref="ConsensusOptions.RecordHaltAndExplain"/>). Under the lock.
    /// </summary>
    /// <param name="brokenRule">What is broken.</param>
    public void HaltForGood(string brokenRule)
    {
        IsHalted = true;
        EnterDiagnosisMode(Options.RecordHaltAndExplain(brokenRule));
    }

    /// <summary>
    /// Steps down and halts, because the journal failed or a committed entry cannot be applied. Otherwise a broken
    /// leader would block the cluster.
    /// </summary>
    public void StepDownAndHalt()
    {
        lock (Gate)
        {
            Step(Input.JournalFailed(Now));
            IsHalted = true;
        }
    }

    /// <summary>Halts: the core takes no more steps.</summary>
    public void Halt()
    {
        lock (Gate)
        {
            IsHalted = true;
        }
    }

    /// <summary>Enters diagnosis mode until the process is restarted: refuses every write with the reason.</summary>
    public void EnterDiagnosisMode(string reason)
    {
        var earlier = Interlocked.Exchange(ref _refusal, new Rejection(RejectionKind.Diagnosis, reason));
        if (earlier is not { Kind: RejectionKind.Diagnosis })
        {
            DiagnosisModeEntered?.Invoke(reason);
        }

        Handler.RefuseAllWaiting();
    }
}
