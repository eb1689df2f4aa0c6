using Rookery.Documents.Nodes;
using Rookery.Simulation;

namespace Rookery.Documents.Tests.Nodes;

/// <summary>Documents expire despite damaged rows of other documents.</summary>
public sealed class ExpiryDamageTests
{
    private const string Directory = "/data/node";

    [Fact]
    public void Other_documents_expire_despite_a_damaged_one()
    {
        var disk = new SimulatedDisk("/data");
        using (var node = SteppedNode.Open(disk, Directory))
        {
            node.CreateDatabase("Shop");
            for (int i = 0; i < 120; i++)
            {
                node.Put(
                    "Shop",
                    $"d/{i:D3}",
                    $$"""{"noise":"{{DamageTests.Noise(i, bytes: 250)}}","@metadata":{"@expires":"2000-01-01T00:00:00Z"} }"""
                );
            }

            node.Flush();
        }

        var counts = new List<int>();
        foreach (
            string path in disk.Files.Where(path =>
                path.EndsWith(".run", StringComparison.Ordinal) && DamageTests.Length(disk, path) > 20_000
            )
        )
        {
            var damaged = disk.AfterPowerLoss(seed: 1);
            damaged.Rot(path, offset: 3000, mask: 1);
            using var node = SteppedNode.Open(damaged, Directory);
            byte[] from = [];
            using var command = Expiration.NextCommand(
                node.Database("Shop"),
                DateTime.MaxValue.Ticks - 1,
                ref from,
                out int found
            );
            counts.Add(found);
        }

        // Some documents cannot be read, and all others are found.
        Assert.Contains(counts, static found => found is > 20 and < 120);
    }

    [Fact]
    public async Task Documents_expire_despite_damaged_expiry_rows_of_another_database()
    {
        const int Count = 600;
        var disk = new SimulatedDisk("/data");
        string[] names = ["One", "Two"];
        using (var node = SteppedNode.Open(disk, Directory))
        {
            foreach (string name in names)
            {
                node.CreateDatabase(name);
                for (int i = 0; i < Count; i++)
                {
                    node.Put(name, $"d/{i:D3}", """{"@metadata":{"@expires":"2000-01-01T00:00:00Z"} }""");
                }
            }

            node.Flush();
        }

        bool hasExpiredOnlyOther = false;
        foreach (string path in disk.Files.Where(path => path.EndsWith(".run", StringComparison.Ordinal)))
        {
            for (long offset = 1500; offset < DamageTests.Length(disk, path); offset += 4_000)
            {
                var damaged = disk.AfterPowerLoss(seed: 1);
                damaged.Rot(path, offset, mask: 1);
                if (DamageTests.OpenUnlessEveryStartReadsIt(damaged) is not { } node)
                {
                    continue;
                }

                using (node)
                {
                    await ExpireAsync(node);
                    int[] left = [.. names.Select(name => CountDocuments(node, name))];
                    hasExpiredOnlyOther |= left[0] == Count && left[1] == 0;
                }
            }
        }

        Assert.True(hasExpiredOnlyOther, "with damage in one database, all documents of the other expire");
    }

    private static int CountDocuments(SteppedNode node, string name)
    {
        using var reader = node.Database(name).OpenReader();
        return (int)reader.ReadStatistics().Documents;
    }

    /// <summary>Deletes expired documents and removes old tombstones, once.</summary>
    // Tasks complete inline. The test's synchronization context would continue on another thread, so the work runs
    // without it.
    private static Task ExpireAsync(SteppedNode node) =>
        Task.Run(() =>
        {
            var time = new SimulatedTimeProvider();
            var done = new Expiration(node.Core.Databases, node.Consensus).RunOnceAsync(CancellationToken.None);
            node.Commit();
            Assert.True(done.IsCompletedSuccessfully, done.Exception?.Message);
            done = new TombstoneCleaning(node.Core, node.Consensus).RunOnceAsync(CancellationToken.None);
            node.Commit();
            Assert.True(done.IsCompletedSuccessfully, done.Exception?.Message);
        });
}
