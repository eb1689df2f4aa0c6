using Rookery.Documents.Indexes;
using Rookery.Fixtures;
using Rookery.Indexing.Automatic;

namespace Rookery.Indexing.Tests.Indexes;

/// <summary>Which of several indexes a step of the feeder serves.</summary>
public sealed class IndexFeederTurnsTests
{
    private static readonly AutoIndexDefinition ByName = DefinitionOf("Users", "name");

    [Fact]
    public void An_index_that_is_always_awaited_does_not_keep_another_from_being_built()
    {
        using var node = IndexedNode.New();
        Write(node, from: 0, to: 30);
        node.Define("awaited", ByName);
        node.SettleAll();
        Write(node, from: 30, to: 200);
        node.Define("built", DefinitionOf("Users", "age"));
        for (
            int i = 0;
            i < 300
                && (
                    node.Host.ReadStatus(node.Database())
                        .FirstOrDefault(static status => status.Name.Equals("built", StringComparison.Ordinal))
                        ?.VisibleEtag
                    ?? 0
                ) == 0;
            i++
        )
        {
            node.Put($"more/{i}", "\"name\":1");
            _ = node.Serving("awaited")
                .Waits.WaitAsync(node.Database().LastEtag, TimeSpan.FromHours(1), CancellationToken.None);
            node.Host.Step();
            node.Time.Advance(TimeSpan.FromSeconds(1));
        }

        Assert.True(node.Status("built").VisibleEtag > 0);
    }

    [Fact]
    public void Lagging_indexes_of_higher_priority_get_three_turns_of_four()
    {
        using var node = IndexedNode.New();
        foreach (string name in (string[])["low", "high"])
        {
            node.Define(name, ByName);
        }

        node.SettleAll();
        SetPriorities(node);
        node.Host.SetPaused(node.Database(), "low", isPaused: true);
        Write(node, from: 0, to: 200);
        node.SettleAll();
        node.Host.SetPaused(node.Database(), "high", isPaused: true);
        Write(node, from: 200, to: 600);
        node.Host.SetPaused(node.Database(), false);
        var (low, high) = (node.Serving("low"), node.Serving("high"));
        var (lowBefore, highBefore) = (low.Position, high.Position);
        for (int i = 0; i < 16; i++)
        {
            Assert.True(node.Host.Step());
        }

        int step = IndexedNode.SmallSteps.DocumentsPerStep;
        Assert.InRange(high.Position - highBefore, 11 * step, 13 * step);
        Assert.InRange(low.Position - lowBefore, 3 * step, 5 * step);
        node.SettleAll();
        node.Check("low", ByName);
    }

    [Fact]
    public void A_low_priority_index_that_lags_far_catches_up_while_others_read_every_write()
    {
        using var node = IndexedNode.New();
        foreach (string name in (string[])["low", "high", "last"])
        {
            node.Define(name, ByName);
        }

        node.SettleAll();
        SetPriorities(node);
        node.ChangeIndexes(static writer =>
            writer.Configure("last", new IndexSettingsChange(Priority: IndexPriority.Low))
        );
        node.Host.SetPaused(node.Database(), "last", isPaused: true);
        Write(node, from: 0, to: 600);
        node.SettleAll();
        node.Host.SetPaused(node.Database(), false);
        var last = node.Serving("last");
        long before = last.Position;
        for (int i = 600; i < 1000; i++)
        {
            Write(node, i, i + 1);
            Assert.True(node.Host.Step());
        }

        Assert.True(last.Position >= before + 200, $"It advanced from {before} to {last.Position} in 400 steps.");
        node.SettleAll();
        node.Check("last", ByName);
    }

    [Fact]
    public void Builds_of_higher_priority_get_three_turns_of_four()
    {
        using var node = IndexedNode.New();
        Write(node, from: 0, to: 600);
        node.Define("low", ByName);
        node.Host.Step();
        node.Define("high", DefinitionOf("Users", "age"));
        SetPriorities(node);
        long before = node.Status("low").Progress.Done;
        for (int i = 0; i < 16; i++)
        {
            Assert.True(node.Host.Step());
        }

        int step = IndexedNode.SmallSteps.DocumentsPerStep;
        Assert.InRange(node.Status("high").Progress.Done, 11 * step, 13 * step);
        Assert.InRange(node.Status("low").Progress.Done - before, 3 * step, 5 * step);
    }

    private static AutoIndexDefinition DefinitionOf(string? collection, params string[] fields) =>
        new(collection, fields.Select(static field => new AutoIndexField([field], AutoIndexFieldUses.Exact)));

    private static void SetPriorities(IndexedNode node) =>
        node.ChangeIndexes(static writer =>
        {
            writer.Configure("low", new IndexSettingsChange(Priority: IndexPriority.Low));
            writer.Configure("high", new IndexSettingsChange(Priority: IndexPriority.High));
        });

    private static void Write(IndexedNode node, int from, int to)
    {
        for (int i = from; i < to; i++)
        {
            node.Put($"users/{i}", $"\"name\":\"n{i}\",\"age\":{i}");
        }
    }
}
