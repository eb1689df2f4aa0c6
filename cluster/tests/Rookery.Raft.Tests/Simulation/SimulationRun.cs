using System.Globalization;

namespace Rookery.Raft.Tests.Simulation;

/// <summary>Many seeds of one profile, with the observed events.</summary>
internal sealed class SimulationRun(string profile)
{
    private readonly FaultProfile _faults = FaultProfile.All.Single(candidate =>
        string.Equals(candidate.Name, profile, StringComparison.Ordinal)
    );
    private long _events;
    private long _operations;
    private long _elections;

    /// <summary>The observed events, and how often each occurred.</summary>
    public Dictionary<string, int> Marks { get; } = new(StringComparer.Ordinal);

    /// <summary>The number of seeds that were run.</summary>
    public int Seeds { get; private set; }

    /// <summary>How often the core took each of its rare branches.</summary>
    public long[] Branches { get; } = new long[Coverage.Counts.Length];

    /// <summary>Returns consecutive seeds, the first at random.</summary>
    public static IEnumerable<int> FreshSeeds(int count) =>
        Enumerable.Range(Random.Shared.Next(1_000, int.MaxValue - count), count);

    /// <summary>Returns a number from an environment variable.</summary>
    public static int Setting(string name, int otherwise = 0) =>
        Environment.GetEnvironmentVariable(name) is { Length: > 0 } text
            ? int.Parse(text, CultureInfo.InvariantCulture)
            : otherwise;

    /// <summary>Runs a cluster for each seed. A failure says how to run its seed again.</summary>
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

    public override string ToString() =>
        $"{profile}: {Seeds} seeds, {_events:n0} events, {_operations:n0} operations of clients, "
        + $"{_elections:n0} elections";

    private void Play(int seed)
    {
        var cluster = new SimulatedCluster(seed, _faults, PlantedBug.None, Marks);
        try
        {
            cluster.Run();
        }
        catch (Exception failure)
        {
            throw new InvalidOperationException(
                $"Profile '{profile}', seed {seed}, after {cluster.Now} µs and {cluster.Events} events: "
                    + $"{failure.Message} Replay: make simulate FIRST={seed} SEEDS=1 PROFILE='{profile}'",
                failure
            );
        }

        Seeds++;
        (_events, _operations, _elections) = (
            _events + cluster.Events,
            _operations + cluster.Operations,
            _elections + cluster.Oracle.Elections
        );
    }
}
