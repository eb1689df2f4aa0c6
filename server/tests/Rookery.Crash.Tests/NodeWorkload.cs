using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Nodes;
using Rookery.Platform;
using Rookery.Simulation;

namespace Rookery.Crash.Tests;

/// <summary>
/// Random work on a whole node from a seed: commands of every kind, flushes, merges, spare segments, kills and clean
/// stops. Records what was acknowledged, and after which disk operation.
/// </summary>
internal sealed class NodeWorkload
{
    private readonly SimulatedDisk _disk;
    private readonly IDisk _diskOfNode; // _disk, or a wrapper of it
    private readonly bool _journalElsewhere;
    private readonly bool _withValues;
    private readonly SimulatedTimeProvider _time = new();
    private readonly Random _random;
    private readonly RandomCommands _commands;
    private readonly Queue<Model> _proposed = [];

    // The expected state, by the number of operations in all commands so far. Log indexes cannot be the key, because
    // each start writes entries too.
    private readonly Dictionary<long, Model> _models;

    // For each frame that was begun or acknowledged: the number of disk operations so far, and the number of operations
    // in all commands through the frame.
    private readonly List<(int Operation, long Operations)> _begun;
    private readonly List<(int Operation, long Operations)> _acknowledged;
    private SteppedNode _node = null!;

    private NodeWorkload(
        SimulatedDisk disk,
        IDisk diskOfNode,
        bool journalElsewhere,
        int seed,
        long operations,
        Model start,
        bool withValues = false
    )
    {
        _withValues = withValues;
        _disk = disk;
        _diskOfNode = diskOfNode;
        _journalElsewhere = journalElsewhere;
        _random = new Random(seed);
        _commands = new RandomCommands(seed, _time, start);
        _models = new Dictionary<long, Model> { [operations] = start };
        _begun = [(0, operations)];
        _acknowledged = [(0, operations)];
    }

    /// <summary>Amounts of work, to show that the workload covers enough.</summary>
    public WorkDone Done { get; private set; }

    /// <summary>
    /// The sentence with which the node refused to open, stop or continue writing; null if it refused nothing.
    /// </summary>
    public string? Failure { get; private set; }

    /// <summary>Runs the work of a seed on a new disk.</summary>
    /// <param name="seed">The seed.</param>
    /// <param name="journalElsewhere">Whether the journal has a device of its own.</param>
    /// <param name="wrap">Wraps the disk for the node; null for none.</param>
    /// <param name="withValues">Whether compare-exchange values and cluster-wide transactions are written too.</param>
    public static (SimulatedDisk Disk, NodeWorkload Run) Run(
        int seed,
        bool journalElsewhere = false,
        Func<IDisk, IDisk>? wrap = null,
        bool withValues = false
    )
    {
        var disk = journalElsewhere
            ? SimulatedDisk.WithSecondDevice("/data", SteppedNode.OtherDevice)
            : new SimulatedDisk("/data");
        var run = new NodeWorkload(
            disk,
            wrap?.Invoke(disk) ?? disk,
            journalElsewhere,
            seed,
            operations: 0,
            Model.Empty,
            withValues
        );
        run.RunRounds(80);
        return (disk, run);
    }

    /// <summary>
    /// Runs the work of a seed until its end, or until a failed call makes the node refuse to open or latch. Checks
    /// that a latched node acknowledges no write and changes no file, but still answers reads.
    /// </summary>
    public static (SimulatedDisk Disk, NodeWorkload Run) RunWithFault(int seed, int rounds, DiskFault? fault)
    {
        var disk = new SimulatedDisk("/data");
        if (fault is not null)
        {
            disk.Inject(fault);
        }

        var run = new NodeWorkload(disk, disk, journalElsewhere: false, seed, operations: 0, Model.Empty);
        try
        {
            run.RunRounds(rounds);
        }
        catch (IOException refused)
        {
            run.Failure = refused.Message;
        }

        return (disk, run);
    }

    /// <summary>
    /// Opens a crash image. Fails unless its state is that after all acknowledged frames, or after one more that was
    /// being written. Every fourth image continues the work and loses power again, perhaps during its recovery.
    /// </summary>
    public void Check(SimulatedDisk image, int operation)
    {
        var second = CheckOnce(image, operation);
        if (operation % 4 == 0)
        {
            second.RunRounds(5);
            int again = second._random.Next(image.OperationCount + 1);
            second.CheckOnce(image.CrashAt(again, operation), again);
        }
    }

    /// <summary>Opens and checks a crash image. Returns work that continues on it.</summary>
    public NodeWorkload CheckOnce(SimulatedDisk image, int operation)
    {
        long acknowledged = _acknowledged.FindLast(promise => promise.Operation <= operation).Operations;
        long written = _begun.FindLast(attempt => attempt.Operation <= operation).Operations;
        using var node = SteppedNode.Open(image, _time, _journalElsewhere);
        long operations = node.Core.Journal.OperationsBeforeNext;
        Assert.True(
            operations >= acknowledged && operations <= written,
            $"operations through {acknowledged} were acknowledged, through {written} written, "
                + $"but the image has those through {operations}. "
                + $"{node.Core.Journal.Recovery.Sentence}"
        );
        Assert.Null(node.Core.Storage.Problem);
        ModelComparison.Check(node, _models[operations], $"operation {operations}");
        return new NodeWorkload(
            image,
            image,
            _journalElsewhere,
            operation,
            operations,
            _models[operations],
            _withValues
        );
    }

    /// <summary>Stops the node cleanly, so that a file shows that the last write was durable too.</summary>
    public void StopCleanly()
    {
        using var node = SteppedNode.Open(_disk, _time, _journalElsewhere);
        node.Core.Journal.StopCleanly();
    }

    /// <summary>Fails unless the disk has every acknowledged write, before and after background work.</summary>
    /// <exception cref="IOException">Something is damaged; the message says what.</exception>
    public void CheckAll(SimulatedDisk disk, string story)
    {
        using var node = SteppedNode.Open(disk, _time, _journalElsewhere);
        long operations = _acknowledged[^1].Operations;
        Assert.Equal(operations, node.Core.Journal.OperationsBeforeNext);
        try
        {
            ModelComparison.Check(node, _models[operations], story);
        }
        finally
        {
            DoBackgroundWorkBesideDamage(node, story);
        }

        ModelComparison.Check(node, _models[operations], $"{story}, after background work");
    }

    private void RunRounds(int rounds)
    {
        Open();
        for (int i = 0; i < rounds && Failure is null; i++)
        {
            DoRound();
        }

        Done = Done.With(_node.Core);
        _node.Dispose();
    }

    /// <summary>Commits up to six commands, checks their outcomes, and does some background work.</summary>
    private void DoRound()
    {
        var answers = new List<(Task<CommandOutcome> Outcome, string Expected)>();
        int count = _random.Next(1, 7);
        long proposedOperations = 0;
        for (int i = 0; i < count; i++)
        {
            var step = _commands.Next();
            _proposed.Enqueue(step.After);
            int stepOperations = new CommandReader(step.Command.Written.Span).OperationCount;
            var proposed = _node.Propose(step.Command);
            if (proposed is { IsCompleted: true, Result.Rejection: { Kind: RejectionKind.Damaged } damaged })
            {
                // The command could not read the rows that it needs. The model contains the command, but no frame does,
                // so nothing of this round is written.
                Failure = damaged.Message;
                return;
            }

            answers.Add((proposed, step.Answer));
            proposedOperations += stepOperations;
        }

        long operations = _node.Core.Journal.OperationsBeforeNext + proposedOperations;
        _models[operations] = _commands.Model;
        _begun.Add((_disk.OperationCount, operations));
        _node.Commit(Acknowledge);
        if (_node.Consensus.Refusal is { } refusal)
        {
            Failure = refusal.Message;
            AssertLatched(answers.Select(answer => answer.Outcome));
            return;
        }

        foreach (var (outcome, expected) in answers)
        {
            Assert.True(outcome.IsCompletedSuccessfully, "a committed command has no outcome");
            Assert.Equal(expected, Step.Describe(outcome.Result));
        }

        DoBackgroundWork(_random.Next(4));
        if (_random.Next(25) == 0)
        {
            Restart();
        }
    }

    /// <summary>Records that commands were acknowledged, and the state after them.</summary>
    private void Acknowledge(int commands)
    {
        var after = Model.Empty;
        for (int i = 0; i < commands; i++)
        {
            after = _proposed.Dequeue();
        }

        long operations = _node.Core.Journal.OperationsBeforeNext;
        _models[operations] = after;
        _acknowledged.Add((_disk.OperationCount, operations));
    }

    /// <summary>Continues after disk errors and fails on all others, like the maintenance thread.</summary>
    private void DoBackgroundWork(int steps)
    {
        try
        {
            for (int i = steps; i > 0 && _node.Core.Background.DoStep(); i--) { }
        }
        catch (DiskException)
        {
            // The next round tries the step again.
        }
    }

    /// <summary>Background work reports damage, and must not end because of it.</summary>
    private static void DoBackgroundWorkBesideDamage(SteppedNode node, string story)
    {
        try
        {
            node.Core.Storage.Memtables.RequestFlush();
            for (int i = 0; i < 20 && node.Core.Background.DoStep(); i++) { }

            node.Core.Storage.ScrubOnce(long.MaxValue);
        }
        catch (IOException escaped)
        {
            Assert.Fail($"{story}: background work ended with {escaped}");
        }
    }

    /// <summary>
    /// Fails unless a latched node refuses the commands in flight and later ones, changes no file, and still answers
    /// reads.
    /// </summary>
    private void AssertLatched(IEnumerable<Task<CommandOutcome>> inFlight)
    {
        foreach (var outcome in inFlight)
        {
            Assert.Equal(RejectionKind.OutcomeUnknown, outcome.Result.Rejection?.Kind);
        }

        long changes = _disk.CallCount(DiskCalls.Changing);
        var late = _node.Propose(_commands.Next().Command);
        _node.Commit();
        Assert.Equal(RejectionKind.Diagnosis, late.Result.Rejection?.Kind);
        Assert.Equal(changes, _disk.CallCount(DiskCalls.Changing));
        ModelComparison.Check(_node, _models[_acknowledged[^1].Operations], $"latched: {Failure}");
    }

    private void Restart()
    {
        Done = Done.With(_node.Core);
        if (_random.Next(2) == 0)
        {
            _node.Core.Journal.StopCleanly();
        }

        _node.Dispose();
        _disk.KillProcess();
        Open();
    }

    private void Open()
    {
        _node = SteppedNode.Open(_diskOfNode, _time, _journalElsewhere);
        // A node that lost power before its first entry was durable starts at the first level.
        _commands.WithValues = _withValues && _node.Core.FormatLevel.Level >= FormatLevel.CompareExchange;
    }
}
