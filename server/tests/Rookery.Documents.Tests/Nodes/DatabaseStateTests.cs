using System.Text;
using Rookery.Documents.Apply;
using Rookery.Simulation;

namespace Rookery.Documents.Tests.Nodes;

/// <summary>The counters of a database's collections, of which only those in use are in memory.</summary>
public sealed class DatabaseStateTests
{
    [Fact]
    public void Collections_without_documents_are_not_kept_in_memory()
    {
        using var node = SteppedNode.Open(new SimulatedDisk(), "/data");
        node.CreateDatabase("db");
        var storage = node.Core.Storage;
        var batch = storage.Begin(storage.AppliedIndex + 1, term: 1);
        var state = new DatabaseState(node.Database("db"), new CollectionMemory());
        state.RecordChange(state.Collection("Refused"u8, batch), "Refused", documents: 1, bytes: 10);
        state.RollBack(1);
        Assert.Equal(0, state.CollectionCount);

        state.RecordChange(state.Collection("Users"u8, batch), "Users", documents: 1, bytes: 10);
        state.Commit(2);
        Assert.Equal(1, state.CollectionCount);
        state.RecordChange(state.Collection("Users"u8, batch), "Users", documents: -1, bytes: -10);
        state.Commit(3);
        state.WriteRows(batch, storage.Sequence + 3);
        storage.Apply(batch, storage.Sequence + 3);
        Assert.Equal(0, state.CollectionCount);
    }

    /// <summary>
    /// Formerly, all names were in memory. 42,000 of 390 bytes ended a node with 128 MiB, and ended it again at each
    /// start.
    /// </summary>
    [Fact]
    public void Collections_that_are_not_in_memory_are_counted_correctly()
    {
        // Each of 4000 collections gets two documents. Then 0-0 moves from collection 0 to 1, and 7 gets a third.
        const int count = 4000;
        var disk = new SimulatedDisk();
        using (var node = SteppedNode.Open(disk, "/data"))
        {
            node.CreateDatabase("db");
            for (int round = 0; round < 2; round++)
            {
                for (int i = 0; i < count; i++)
                {
                    node.Put("db", $"{i}-{round}", Document(i));
                }
            }

            node.Run(node.PutCommand("db", "0-0", Document(1)));
        }

        using var reopened = SteppedNode.Open(disk, "/data");
        reopened.Put("db", "7-2", Document(7));
        using var reader = reopened.Database("db").OpenReader();
        var documents = reader.ReadCollections().ToDictionary(c => c.Name, c => c.Documents, StringComparer.Ordinal);
        Assert.Equal(count, documents.Count);
        Assert.Equal((1, 3, 2, 3), (documents[Name(0)], documents[Name(1)], documents[Name(2)], documents[Name(7)]));
        Assert.Equal((2 * count) + 1, documents.Values.Sum());

        static string Name(int i) => new string('n', 400) + i;
        static string Document(int i) => $$$"""{"@metadata":{"@collection":"{{{Name(i)}}}"}}""";
    }

    [Fact]
    public void The_memory_of_collections_is_bounded()
    {
        using var node = SteppedNode.Open(new SimulatedDisk(), "/data");
        node.CreateDatabase("db");
        var storage = node.Core.Storage;
        var memory = new CollectionMemory();
        var state = new DatabaseState(node.Database("db"), memory);
        for (int entry = 1; entry <= 100; entry++)
        {
            var batch = storage.Begin(storage.AppliedIndex + 1, term: 1);
            for (int i = 0; i < 100; i++)
            {
                byte[] name = Encoding.UTF8.GetBytes(new string('n', 400) + entry + "-" + i);
                state.RecordChange(
                    state.Collection(name, batch),
                    Encoding.UTF8.GetString(name),
                    documents: 1,
                    bytes: 10
                );
            }

            state.Commit(entry);
            state.WriteRows(batch, storage.Sequence + 1);
            storage.Apply(batch, storage.Sequence + 1);
            memory.Relieve();
            // Of 10,000 in the end: the limit of 4 MiB holds about 2300 names of 400 bytes.
            Assert.InRange(state.CollectionCount, 0, 3000);
        }
    }

    /// <summary>
    /// Formerly, a database that held one collection read its counters again in each entry as soon as another database
    /// held all of the memory.
    /// </summary>
    [Fact]
    public void A_database_full_of_collections_leaves_the_memory_of_others_alone()
    {
        using var node = SteppedNode.Open(new SimulatedDisk(), "/data");
        node.CreateDatabase("db");
        node.CreateDatabase("full");
        var storage = node.Core.Storage;
        var memory = new CollectionMemory();
        var small = new DatabaseState(node.Database("db"), memory);
        var full = new DatabaseState(node.Database("full"), memory);
        for (int entry = 1; entry <= 50; entry++)
        {
            var batch = storage.Begin(storage.AppliedIndex + 1, term: 1);
            for (int i = 0; i < 100; i++)
            {
                byte[] name = Encoding.UTF8.GetBytes(new string('n', 400) + entry + "-" + i);
                full.RecordChange(full.Collection(name, batch), Encoding.UTF8.GetString(name), documents: 1, bytes: 10);
            }

            full.Commit(entry);
            full.WriteRows(batch, storage.Sequence + 1);
            small.RecordChange(small.Collection("Users"u8, batch), "Users", documents: 1, bytes: 10);
            small.Commit(entry);
            small.WriteRows(batch, storage.Sequence + 1);
            storage.Apply(batch, storage.Sequence + 1);
            memory.Relieve();
            Assert.Equal(1, small.CollectionCount);
        }
    }
}
