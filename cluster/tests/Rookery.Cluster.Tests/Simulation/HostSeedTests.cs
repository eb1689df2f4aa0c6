using System.Globalization;
using Xunit.Abstractions;

namespace Rookery.Cluster.Tests.Simulation;

/// <summary>
/// Runs the real consensus and store under simulated faults; the seed decides a run. The environment variables
/// SIMULATE_SEEDS and SIMULATE_FIRST set the number of seeds and the first one. Without SIMULATE_FIRST, the known seeds
/// run, and then successive seeds from a random one on.
/// </summary>
public sealed class HostSeedTests(ITestOutputHelper report)
{
    // The seeds 1 to 10 run always, so that a change that breaks them is seen at once.
    private const int KnownSeeds = 10;

    // Enough runs for each event of SeenInManyRuns.
    private const int FreshSeeds = 1_000;

    // Of 30 runs with a planted mistake, one must find it.
    private const int SeedsForMistake = 30;

    // Seeds that found these faults, in this order: segments released without telling the core; a lost message about
    // an installed state; a truncation into a released segment; a log truncated to its very beginning; a late answer
    // that ended the probe of a restarted member; a founder that founded another cluster when the beginning of its
    // journal rotted; a leader that had installed a state and did not offer it to a member that lacked the same
    // entries.
    private static readonly int[] FailedOnce = [1058, 51020, 51145, 62558718, 28291254, 82695159, 11417265];

    /// <summary>
    /// The events that a thousand runs must contain, because a fault that no longer occurs tests nothing. Each event
    /// usually occurs more than 30 times, so none is missing by chance. <see cref="HostRun"/> and
    /// <see cref="FurtherFaults"/> count them. "journal" and a letter is the label of a journal's recovery at a start.
    /// </summary>
    private static readonly string[] SeenInManyRuns =
    [
        "changes fetched",
        "states fetched",
        "journal A",
        "journal B",
        "journal S",
        "rot",
        "rot repaired",
        "rot that stops a member",
        "journal failed",
        "slow disk",
        "killed",
        "stopped",
        "leadership transferred",
        "power lost",
        "power lost in a write",
        "power lost on all members",
        "cut off",
        "cut off in one direction",
        "clock in 1970",
        "clock in 2080",
        "documents deleted",
        "large values",
        "tombstones removed",
        "databases created",
        "databases deleted",
        "documents of the deleted database",
        "paused",
        "disk stalled",
        "power lost in a stall",
        "disk full",
        "disk without spare room",
        "joined",
        "promoted",
        "demoted",
        "removed",
        "removed members shut down",
        "changes with one voter",
    ];

    [Fact]
    public void Acknowledged_writes_are_on_all_members_in_one_order()
    {
        int first = ReadNumber("SIMULATE_FIRST") ?? 0;
        int count = ReadNumber("SIMULATE_SEEDS") ?? FreshSeeds;
        int[] seeds =
            first > 0
                ? [.. Enumerable.Range(first, count)]
                :
                [
                    .. Enumerable.Range(1, KnownSeeds),
                    .. FailedOnce,
                    .. Enumerable.Range(Random.Shared.Next(1_000, 100_000_000), count),
                ];
        SortedDictionary<string, int> marks = new(StringComparer.Ordinal);
        foreach (int seed in seeds)
        {
            foreach (var (mark, times) in CountEvents(seed, PlantedMistake.None))
            {
                marks[mark] = marks.GetValueOrDefault(mark) + times;
            }
        }

        report.WriteLine(
            $"{seeds.Length} seeds: {string.Join(", ", marks.Select(mark => $"{mark.Key} {mark.Value}"))}"
        );
        Assert.True(
            count < FreshSeeds || Array.TrueForAll(SeenInManyRuns, marks.ContainsKey),
            $"No run of {seeds.Length} seeds, the last {seeds[^1]}, contained these events: "
                + $"{string.Join(", ", SeenInManyRuns.Except(marks.Keys))}"
        );
    }

    [Fact]
    public void The_same_seed_repeats_a_run_exactly()
    {
        Assert.Equal(CountEvents(seed: 7, PlantedMistake.None), CountEvents(seed: 7, PlantedMistake.None));
        Assert.NotEqual(CountEvents(seed: 7, PlantedMistake.None), CountEvents(seed: 8, PlantedMistake.None));
    }

    [Theory]
    [InlineData((int)PlantedMistake.JournalSkipsSync, "would be lost", "which was durable", "started again")]
    [InlineData((int)PlantedMistake.ReceiverAcknowledgesUnread, "have on disk")]
    [InlineData((int)PlantedMistake.ReadsWithoutBarrier, "whose etag is lower", "no order explains")]
    [InlineData(
        (int)PlantedMistake.VoterGrantsTwice,
        "voted twice in term",
        "started again with its vote for",
        "has two leaders"
    )]
    [InlineData((int)PlantedMistake.ReceiverChangesTerm, "for committed, another", "have on disk")]
    public void A_planted_mistake_is_found_in_a_run_that_is_sound_without_it(int mistake, params string[] symptoms)
    {
        for (int seed = 1; seed <= SeedsForMistake; seed++)
        {
            try
            {
                CountEvents(seed, (PlantedMistake)mistake);
            }
            catch (InvalidOperationException failure)
            {
                report.WriteLine(failure.Message);
                Assert.Contains(symptoms, symptom => failure.Message.Contains(symptom, StringComparison.Ordinal));
                CountEvents(seed, PlantedMistake.None);
                return;
            }
        }

        Assert.Fail($"{SeedsForMistake} seeds did not find the planted mistake");
    }

    /// <summary>Executes a run, and returns how often each event occurred.</summary>
    /// <exception cref="InvalidOperationException">A check failed. The message says how to repeat the run.</exception>
    private static SortedDictionary<string, int> CountEvents(int seed, PlantedMistake mistake)
    {
        try
        {
            using var run = new HostRun(seed, mistake);
            run.Run();
            run.Marks["events"] = (int)run.Cluster.Events;
            run.Marks["operations"] = run.Report.Operations;
            run.Marks["of unknown outcome"] = run.Report.Unknown;
            return run.Marks;
        }
        catch (Exception failure)
        {
            throw new InvalidOperationException(
                $"Seed {seed}: {failure.Message} Replay: make simulate PROFILE=host FIRST={seed} SEEDS=1",
                failure
            );
        }
    }

    private static int? ReadNumber(string name) =>
        Environment.GetEnvironmentVariable(name) is { Length: > 0 } text
            ? int.Parse(text, CultureInfo.InvariantCulture)
            : null;
}
