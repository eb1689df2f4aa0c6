using Rookery.Documents.Databases;
using Rookery.Documents.Tests.Nodes;
using Rookery.Simulation;

namespace Rookery.Documents.Tests.Databases;

/// <summary>The set of databases, which is published again after each change.</summary>
public sealed class DatabaseCatalogTests
{
    [Fact]
    public void A_set_of_databases_is_sorted_only_when_it_is_read()
    {
        const int Databases = 2000;
        // Copying the references takes 16 MiB; sorting each set and making a lookup for it would take 300 MiB.
        const long CopiesOnly = 32 << 20;
        using var node = SteppedNode.Open(new SimulatedDisk("/data"), "/data/node");
        var catalog = new DatabaseCatalog();
        var all = new List<Database>();
        long before = GC.GetAllocatedBytesForCurrentThread();
        for (uint number = 1; number <= Databases; number++)
        {
            // In descending order, so that sorting is needed.
            string name = $"Db-{Databases - number:D4}";
            var record = new DatabaseRecord(number, name, name.ToLowerInvariant(), new string('h', 22), 0);
            all.Add(new Database(record, node.Core.Storage));
            catalog.Publish(all, number);
        }

        Assert.InRange(GC.GetAllocatedBytesForCurrentThread() - before, 0, CopiesOnly);
        Assert.Equal(all.Select(static database => database.Name).Order(), catalog.All.Select(static one => one.Name));
        Assert.True(catalog.TryGet("dB-0007", out var found));
        Assert.Equal("Db-0007", found.Name);
        Assert.False(catalog.TryGet("db-2000", out _));
    }

    /// <summary>A read that sorts many databases would delay the threads that read the sockets.</summary>
    [Fact]
    public void A_set_is_sorted_before_it_is_read_when_all_entries_are_applied()
    {
        using var node = SteppedNode.Open(new SimulatedDisk("/data"), "/data/node");
        var catalog = node.Core.Databases;
        node.CreateDatabase("a");
        // The first calls allocate memory for their compilation.
        new DatabaseCatalog().TryGet("a", out _);
        _ = new DatabaseCatalog().All;
        long before = GC.GetAllocatedBytesForCurrentThread();
        bool isFound = catalog.TryGet("a", out _);
        var all = catalog.All;
        Assert.Equal(0, GC.GetAllocatedBytesForCurrentThread() - before);
        Assert.True(isFound);
        Assert.Single(all);
    }

    [Fact]
    public void Later_changes_of_the_list_do_not_change_the_published_set()
    {
        using var node = SteppedNode.Open(new SimulatedDisk("/data"), "/data/node");
        var catalog = new DatabaseCatalog();
        var record = new DatabaseRecord(1, "a", "a", new string('h', 22), 0);
        var all = new List<Database> { new(record, node.Core.Storage) };
        catalog.Publish(all, 1);
        all.Add(new Database(record with { Number = 2, Name = "b", LowerName = "b" }, node.Core.Storage));
        Assert.Single(catalog.All);
        Assert.False(catalog.TryGet("b", out _));
    }
}
