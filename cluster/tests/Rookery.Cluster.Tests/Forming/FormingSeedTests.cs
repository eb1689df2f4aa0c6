using Rookery.Cluster.Forming;
using Xunit.Sdk;

namespace Rookery.Cluster.Tests.Forming;

/// <summary>
/// Nodes that form a cluster (docs/explanation/forming.md), with faults from many seeds. A card is a node that takes
/// part.
/// </summary>
public sealed class FormingSeedTests
{
    private const int Seeds = 300;

    // A planted mistake must be found within this many runs.
    private const int SeedsForMistake = 2_000;

    [Theory]
    [InlineData(2, 1)]
    [InlineData(2, 2)]
    [InlineData(2, 3)]
    [InlineData(3, 2)]
    [InlineData(3, 3)]
    [InlineData(3, 4)]
    [InlineData(3, 5)]
    [InlineData(4, 5)]
    public void Nodes_form_one_cluster_of_the_expected_size_and_fewer_nodes_form_none(int expect, int cards)
    {
        for (int seed = 0; seed < Seeds; seed++)
        {
            // At the end the same number of further nodes is switched on; they must stay outside the cluster.
            bool isEnough = cards >= expect;
            int later = isEnough ? expect : 0;
            var run = PlayOrFail(seed, expect, cards, later: later);
            var endsByStep = run.Ends.ToLookup(static end => end.Step);
            try
            {
                Assert.Equal(isEnough ? 1 : 0, endsByStep[FormingStep.Founded].Count());
                Assert.Equal(isEnough ? expect - 1 : 0, endsByStep[FormingStep.Admitted].Count());
                Assert.Equal(isEnough ? cards - expect + later : 0, endsByStep[FormingStep.Out].Count());
            }
            catch (XunitException failure)
            {
                Assert.Fail(
                    $"seed {seed}: {string.Join(", ", run.Ends.Select(static end => end.Step))}: {failure.Message}"
                );
            }
        }
    }

    [Theory]
    [InlineData(2, 2)]
    [InlineData(2, 3)]
    [InlineData(3, 4)]
    public void A_claimed_node_never_founds_a_cluster(int expect, int cards)
    {
        HashSet<string> seen =
        [
            .. Enumerable.Range(0, Seeds).SelectMany(seed => PlayOrFail(seed, expect, cards, isOneClaimed: true).Seen),
        ];
        Assert.Contains("Candidate to Out", seen);
        Assert.Contains("not answered yet", seen);
    }

    /// <summary>A fault that never happens in the runs tests nothing.</summary>
    [Fact]
    public void The_seeds_contain_every_fault_and_every_transition()
    {
        HashSet<string> seen =
        [
            .. Enumerable.Range(0, Seeds).SelectMany(static seed => PlayOrFail(seed, expect: 3, cards: 5).Seen),
        ];
        foreach (
            string expected in (string[])
                [
                    "power cut",
                    "power cut within a write",
                    "disk refused",
                    "late",
                    "Open to Candidate",
                    "Open to Vowed",
                    "Open to Out",
                    "Candidate to Open",
                    "Candidate to Out",
                    "Vowed to Open",
                    "Vowed to Admitted",
                    "Vowed to Out",
                ]
        )
        {
            Assert.True(seen.Contains(expected), $"{expected} was not seen, only {string.Join(", ", seen)}");
        }
    }

    [Theory]
    [InlineData(FormingMistake.NotDurable)]
    [InlineData(FormingMistake.TwoVows)]
    [InlineData(FormingMistake.SilentFounder)]
    public void The_seeds_find_a_planted_mistake(FormingMistake mistake)
    {
        for (int seed = 0; seed < SeedsForMistake; seed++)
        {
            try
            {
                var run = new FormingRun(seed, expect: 3, cards: 5, mistake, later: 3);
                run.Run();
                Assert.Single(run.Ends, static end => end.Step == FormingStep.Founded);
            }
            catch (XunitException)
            {
                return;
            }
        }

        Assert.Fail($"{SeedsForMistake} seeds did not find {mistake}");
    }

    /// <summary>Executes a run. A failure names the seed.</summary>
    /// <param name="seed">The seed of the faults.</param>
    /// <param name="expect">The number of members that the cluster shall have.</param>
    /// <param name="cards">The number of nodes at the beginning.</param>
    /// <param name="isOneClaimed">Whether one of them is claimed during the run, and must not take part
    /// afterwards.</param>
    /// <param name="later">The number of further nodes, which are switched on after the faults.</param>
    private static FormingRun PlayOrFail(int seed, int expect, int cards, bool isOneClaimed = false, int later = 0)
    {
        var run = new FormingRun(seed, expect, cards, isOneClaimed: isOneClaimed, later: later);
        try
        {
            run.Run();
        }
        catch (XunitException failure)
        {
            Assert.Fail($"seed {seed}: {failure.Message}");
        }

        return run;
    }
}
