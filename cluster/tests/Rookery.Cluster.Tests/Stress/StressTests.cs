using System.Globalization;
using Xunit.Abstractions;

namespace Rookery.Cluster.Tests.Stress;

/// <summary>
/// The program's own consensus, store and threads under load and faults. STRESS_SECONDS sets the duration, STRESS_SEED
/// repeats the faults.
/// </summary>
[Trait("Effort", "Whole")]
public sealed class StressTests(ITestOutputHelper report)
{
    private const int SecondsOfRun = 8;

    [Fact]
    public async Task Members_on_real_threads_end_equal_with_all_acknowledged_writes()
    {
        int seconds = Setting("STRESS_SECONDS") ?? SecondsOfRun;
        int seed = Setting("STRESS_SEED") ?? Random.Shared.Next(1, 1_000_000);
        SortedDictionary<string, int> marks = new(StringComparer.Ordinal);

        // Several short runs, because simulated disks remember everything ever written.
        for (; seconds > 0; seconds -= SecondsOfRun, seed++)
        {
            await using var run = new StressRun(seed);
            await run.RunAsync(TimeSpan.FromSeconds(SecondsOfRun));
            foreach (var (mark, count) in run.Marks)
            {
                marks[mark] = marks.GetValueOrDefault(mark) + count;
            }

            report.WriteLine(
                $"seed {seed}: "
                    + $"{string.Join(", ", run.Marks.OrderBy(static mark => mark.Key, StringComparer.Ordinal).Select(static mark => $"{mark.Key} {mark.Value}"))}"
            );
        }

        Assert.True(
            marks.GetValueOrDefault("writes") > 0 && marks.GetValueOrDefault("reads") > 0,
            "clients wrote and read"
        );
    }

    // Returns a number from an environment variable; null if it is not set.
    private static int? Setting(string name) =>
        Environment.GetEnvironmentVariable(name) is { Length: > 0 } text
            ? int.Parse(text, CultureInfo.InvariantCulture)
            : null;
}
