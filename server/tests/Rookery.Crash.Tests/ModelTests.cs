using Rookery.Documents.Consensus;
using Rookery.Simulation;

namespace Rookery.Crash.Tests;

/// <summary>Random commands at a node without threads, compared with a model of what they should do.</summary>
public sealed class ModelTests
{
    /// <summary>The environment variable ROOKERY_SEED replays one seed.</summary>
    private static IEnumerable<int> Seeds(int count) =>
        int.TryParse(Environment.GetEnvironmentVariable("ROOKERY_SEED"), out int seed)
            ? [seed]
            : Enumerable.Range(0, count);

    [Fact]
    public void Random_commands_have_the_results_of_a_model_also_after_restarts()
    {
        foreach (int seed in Seeds(12))
        {
            var time = new SimulatedTimeProvider();
            var commands = new RandomCommands(seed, time, Model.Empty) { WithValues = true };
            var random = new Random(seed);
            var disk = new SimulatedDisk("/data");
            var node = SteppedNode.Open(disk, time);
            // Each round commits up to eight commands, and may do background work and restart.
            for (int round = 0; round < 60; round++)
            {
                string story = $"seed {seed}, round {round} (replay: ROOKERY_SEED={seed})";
                RunSome(node, commands, random.Next(1, 9), story);
                while (random.Next(3) == 0 && node.Core.Background.DoStep()) { }

                if (round % 6 == 0)
                {
                    ModelComparison.Check(node, commands.Model, story);
                }

                if (random.Next(15) == 0)
                {
                    if (random.Next(2) == 0)
                    {
                        node.Core.Journal.StopCleanly();
                    }

                    node.Dispose();
                    node = SteppedNode.Open(disk, time);
                    ModelComparison.Check(node, commands.Model, $"{story}, after a restart");
                }
            }

            ModelComparison.Check(node, commands.Model, $"seed {seed}, at the end");
            node.Dispose();
        }
    }

    [Fact]
    public void The_same_commands_make_the_same_rows_on_two_nodes_with_different_flushes()
    {
        foreach (int seed in Seeds(3))
        {
            Assert.Equal(RowsAfter(seed, doesBackgroundWork: false), RowsAfter(seed, doesBackgroundWork: true));
        }
    }

    private static string RowsAfter(int seed, bool doesBackgroundWork)
    {
        var time = new SimulatedTimeProvider();
        var commands = new RandomCommands(seed, time, Model.Empty) { WithValues = true };
        var disk = new SimulatedDisk("/data");
        var node = SteppedNode.Open(disk, time);
        for (int i = 0; i < 150; i++)
        {
            RunSome(node, commands, count: 1, $"seed {seed}");
            while (doesBackgroundWork && node.Core.Background.DoStep()) { }

            // Each start writes entries, and some rows contain the index of theirs, so both nodes restart at the same
            // places.
            if (i % 40 == 39)
            {
                node.Dispose();
                node = SteppedNode.Open(disk, time);
            }
        }

        using (node)
        {
            return Rows.Text(node.Core.Storage);
        }
    }

    private static void RunSome(SteppedNode node, RandomCommands commands, int count, string story)
    {
        var answers = new List<(Task<CommandOutcome> Outcome, string Expected)>();
        for (int i = 0; i < count; i++)
        {
            var step = commands.Next();
            answers.Add((node.Propose(step.Command), step.Answer));
        }

        node.Commit();
        foreach (var (outcome, expected) in answers)
        {
            Assert.True(outcome.IsCompletedSuccessfully, $"{story}: a command has no outcome after the commit");
            Assert.True(
                string.Equals(expected, Step.Describe(outcome.Result), StringComparison.Ordinal),
                $"{story}: expected {expected}, answered {Step.Describe(outcome.Result)}"
            );
        }
    }
}
