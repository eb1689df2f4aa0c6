using System.Globalization;

namespace Rookery.Raft.Tests.Simulation;

/// <summary>Many seeds of one profile, and what was seen in them.</summary>
internal sealed class SimulationRun(string profile)
{
    private readonly FaultProfile faults = FaultProfile.All.Single(candidate => string.Equals(candidate.Name, profile, StringComparison.Ordinal));
    private long events;
    private long operations;
    private long elections;

    public Dictionary<string, int> Marks { get; } = new(StringComparer.Ordinal);

    public int Seeds { get; private set; }

    /// <summary>How often the core took each of its rare branches.</summary>
    public long[] Branches { get; } = new long[Coverage.Counts.Length];

    public static IEnumerable<int> FreshSeeds(int count) => Enumerable.Range(Random.Shared.Next(1_000, int.MaxValue - count), count);

    public static int Setting(string name, int otherwise = 0) =>
        Environment.GetEnvironmentVariable(name) is { Length: > 0 } text ? int.Parse(text, CultureInfo.InvariantCulture) : otherwise;

    public void Play(IEnumerable<int> seeds)
    {
        long[] before = [.. Coverage.Counts];
        foreach (int seed in seeds)
        {
            Play(seed);
        }

        for (int branch = 0; branch < Branches.Length; branch++)
        {
            Branches[branch] += Coverage.Counts[branch] - before[branch];
        }
    }

    public override string ToString() => $"{profile}: {Seeds} seeds, {events:n0} events, {operations:n0} operations of clients, {elections:n0} elections";

    private void Play(int seed)
    {
        var cluster = new SimulatedCluster(seed, faults, PlantedBug.None, Marks);
        try
        {
            cluster.Run();
        }
        catch (Exception failure)
        {
            throw new InvalidOperationException(
                $"Profile '{profile}', seed {seed}, after {cluster.Now} µs and {cluster.Events} events: {failure.Message} Replay: make simulate FIRST={seed} SEEDS=1 PROFILE='{profile}'", failure);
        }

        Seeds++;
        (events, operations, elections) = (events + cluster.Events, operations + cluster.Operations, elections + cluster.Oracle.Elections);
    }
}
