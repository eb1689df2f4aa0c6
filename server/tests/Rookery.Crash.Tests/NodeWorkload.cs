using Rookery.Disk;
using Rookery.Documents;
using Rookery.Simulation;

namespace Rookery.Crash.Tests;

/// <summary>
/// Seeded work on a whole node, with a note of what was acknowledged, and when: commands of every kind, flushes, compactions, spare segments, kills and clean stops.
/// </summary>
internal sealed class NodeWorkload
{
    private readonly SimulatedDisk _disk;
    private readonly IDisk _seen;
    private readonly bool _journalElsewhere;
    private readonly SimulatedTimeProvider _time = new();
    private readonly Random _random;
    private readonly RandomCommands _commands;
    private readonly Queue<Model> _proposed = [];

    // By journal index: what a node is when it has applied everything up to there.
    private readonly Dictionary<long, Model> _models;
    private readonly List<(int Operation, long Index)> _begun;
    private readonly List<(int Operation, long Index)> _acknowledged;
    private SteppedNode _node = null!;

    private NodeWorkload(SimulatedDisk disk, IDisk seen, bool journalElsewhere, int seed, long index, Model start)
    {
        _disk = disk;
        _seen = seen;
        _journalElsewhere = journalElsewhere;
        _random = new Random(seed);
        _commands = new RandomCommands(seed, _time, start);
        _models = new Dictionary<long, Model> { [index] = start };
        _begun = [(0, index)];
        _acknowledged = [(0, index)];
    }

    /// <summary>What the work came to on disk, to show that it reaches what it should.</summary>
    public WorkDone Done { get; private set; }

    /// <summary>Runs the work of a seed on a new disk.</summary>
    /// <param name="seed">The seed.</param>
    /// <param name="journalElsewhere">Whether the journal has a device of its own.</param>
    /// <param name="behind">Stands between the node and the disk.</param>
    public static (SimulatedDisk Disk, NodeWorkload Run) Run(int seed, bool journalElsewhere = false, Func<IDisk, IDisk>? behind = null)
    {
        var disk = journalElsewhere ? SimulatedDisk.WithSecondDevice("/data", SteppedNode.OtherDevice) : new SimulatedDisk("/data");
        var run = new NodeWorkload(disk, behind?.Invoke(disk) ?? disk, journalElsewhere, seed, index: 0, Model.Empty);
        run.Work(80);
        return (disk, run);
    }

    /// <summary>
    /// Opens a crash image; fails unless it is the node after all acknowledged frames, or after one more that was being written. Every fourth goes on working
    /// and loses power again, perhaps while it recovers.
    /// </summary>
    public void Check(SimulatedDisk image, int operation)
    {
        var second = CheckOnce(image, operation);
        if (operation % 4 == 0)
        {
            second.Work(5);
            int again = second._random.Next(image.OperationCount + 1);
            second.CheckOnce(image.CrashAt(again, operation), again);
        }
    }

    /// <summary>What a disk holds after the power was cut, as work that can go on.</summary>
    private NodeWorkload CheckOnce(SimulatedDisk image, int operation)
    {
        long least = _acknowledged.FindLast(promise => promise.Operation <= operation).Index;
        long most = _begun.FindLast(attempt => attempt.Operation <= operation).Index;
        using var node = SteppedNode.Open(image, _time, _journalElsewhere);
        long found = node.Core.Journal.LastIndex;
        Assert.True(found >= least && found <= most, $"entries to {least} were acknowledged, to {most} written; found to {found}. {node.Core.Journal.Recovery.Sentence}");
        Assert.Null(node.Core.Storage.Health);
        ModelComparison.Check(node, _models[found], $"entry {found}");
        return new NodeWorkload(image, image, _journalElsewhere, operation, found, _models[found]);
    }

    private void Work(int rounds)
    {
        _node = SteppedNode.Open(_seen, _time, _journalElsewhere);
        for (int i = 0; i < rounds; i++)
        {
            Round();
        }

        Done = Done.With(_node.Core);
        _node.Dispose();
    }

    private void Round()
    {
        var answers = new List<(Task<CommandOutcome> Outcome, string Expected)>();
        int count = _random.Next(1, 7);
        for (int i = 0; i < count; i++)
        {
            var step = _commands.Next();
            _proposed.Enqueue(step.After);
            answers.Add((_node.Propose(step.Command), step.Answer));
        }

        _begun.Add((_disk.OperationCount, _node.Core.Journal.LastIndex + 1));
        _node.Commit(Acknowledge);
        foreach (var (outcome, expected) in answers)
        {
            Assert.True(outcome.IsCompletedSuccessfully);
            Assert.Equal(expected, RandomCommands.Describe(outcome.Result));
        }

        for (int i = _random.Next(4); i > 0 && _node.Core.WorkOnce(); i--)
        {
        }

        if (_random.Next(25) == 0)
        {
            Restart();
        }
    }

    private void Acknowledge(int commands)
    {
        var after = Model.Empty;
        for (int i = 0; i < commands; i++)
        {
            after = _proposed.Dequeue();
        }

        long index = _node.Core.Journal.LastIndex;
        _models.Add(index, after);
        _acknowledged.Add((_disk.OperationCount, index));
        _begun.Add((_disk.OperationCount, index + 1));
    }

    private void Restart()
    {
        Done = Done.With(_node.Core);
        if (_random.Next(2) == 0)
        {
            _node.Core.StopCleanly();
        }

        _node.Dispose();
        _disk.KillProcess();
        _node = SteppedNode.Open(_seen, _time, _journalElsewhere);
    }
}
