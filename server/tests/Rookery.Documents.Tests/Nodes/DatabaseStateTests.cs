using Rookery.Documents.Apply;
using Rookery.Simulation;

namespace Rookery.Documents.Tests.Nodes;

public sealed class DatabaseStateTests
{
    [Fact]
    public void Collections_without_documents_are_not_kept_in_memory()
    {
        using var node = SteppedNode.Open(new SimulatedDisk(), "/data");
        node.CreateDatabase("db");
        var state = new DatabaseState(node.Database("db"));
        state.Change(state.Collection("Refused"u8), "Refused", 1, 10);
        state.RollBack(1);
        Assert.Equal(0, state.CollectionCount);

        state.Change(state.Collection("Users"u8), "Users", 1, 10);
        state.Commit(2);
        Assert.Equal(1, state.CollectionCount);
        state.Change(state.Collection("Users"u8), "Users", -1, -10);
        state.Commit(3);
        var storage = node.Core.Storage;
        var batch = storage.Begin(storage.AppliedIndex + 1, 1);
        state.WriteRows(batch, storage.Sequence + 3);
        storage.Apply(batch, storage.Sequence + 3);
        Assert.Equal(0, state.CollectionCount);
    }
}
