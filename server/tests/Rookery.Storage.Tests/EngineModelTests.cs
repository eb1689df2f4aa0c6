using Rookery.Simulation;

namespace Rookery.Storage.Tests;

/// <summary>Random work on the storage engine, compared with a model in memory.</summary>
public sealed class EngineModelTests
{
    [Fact]
    public void An_engine_equals_its_model_through_flushes_merges_and_reopenings()
    {
        for (int seed = 0; seed < 8; seed++)
        {
            var disk = new SimulatedDisk("/data");
            var work = new EngineWorkload(seed);
            StorageEngine engine = EngineWorkload.Open(disk);
            var random = new Random(seed);
            var openSnapshots = new List<(Snapshot Snapshot, EngineModel Model)>();
            for (int step = 0; step < 400; step++)
            {
                work.Step(engine);
                string story = $"seed {seed}, step {step}";
                if (random.Next(20) == 0)
                {
                    openSnapshots.Add((engine.OpenSnapshot(), work.Model));
                }

                if (random.Next(10) == 0)
                {
                    engine.Memtables.RequestFlush();
                    engine.Memtables.Flush();
                }

                if (random.Next(4) == 0)
                {
                    engine.MergeOnce();
                }

                if (random.Next(25) == 0)
                {
                    CheckAndClose(openSnapshots, story);
                    using Snapshot snapshot = engine.OpenSnapshot();
                    work.Model.Check(snapshot, story);
                }

                if (random.Next(60) == 0)
                {
                    // A reopened engine has lost the writes that were not flushed.
                    CheckAndClose(openSnapshots, story);
                    engine.Dispose();
                    engine = EngineWorkload.Open(disk);
                    work.GoBackTo(engine.Durable);
                    using Snapshot snapshot = engine.OpenSnapshot();
                    work.Model.Check(snapshot, $"{story}, reopened");
                }

                Assert.Null(engine.Problem);
            }

            CheckAndClose(openSnapshots, $"seed {seed}, end");
            StorageStatistics statistics = engine.Statistics();
            Assert.True(
                statistics.Compactions > 0 && statistics.Groups.Count >= 3,
                $"seed {seed}: runs were merged, and there are three groups of them"
            );
            engine.Dispose();
        }
    }

    private static void CheckAndClose(List<(Snapshot Snapshot, EngineModel Model)> openSnapshots, string story)
    {
        foreach (var (snapshot, model) in openSnapshots)
        {
            model.Check(snapshot, $"{story}, snapshot of {snapshot.AppliedIndex}");
            snapshot.Dispose();
        }

        openSnapshots.Clear();
    }
}
