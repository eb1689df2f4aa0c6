using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;
using Rookery.Documents.Tests.Backups;
using Rookery.Documents.Tests.Nodes;
using Rookery.Simulation;

namespace Rookery.Documents.Tests.Configurations;

/// <summary>Databases that are disabled, and databases that must not be deleted, as apply treats them.</summary>
public sealed class DisabledDatabaseTests : IDisposable
{
    private readonly SimulatedDisk _disk = new("/data");
    private SteppedNode _node;

    public DisabledDatabaseTests()
    {
        _node = SteppedNode.Open(_disk, BackedUp.Node);
        _node.CreateDatabase("Shop");
        _node.CreateDatabase("Other");
        _node.Put("Shop", "a", """{"n":1}""");
    }

    public void Dispose() => _node.Dispose();

    [Fact]
    public async Task A_disabled_database_refuses_writes_and_keeps_its_documents()
    {
        var before = _node.Database("Shop");
        using var changes = before.Subscribe();
        Disable("true"u8);
        Assert.True(_node.Database("Shop").Configurations.IsDisabled);
        Assert.Throws<DatabaseGoneException>(() => before.OpenReader().Dispose());
        Assert.False(await changes.WaitAsync(CancellationToken.None));
        Assert.Equal(
            RejectionKind.DatabaseDisabled,
            _node.Propose(_node.PutCommand("Shop", "b", "{}")).Rejection!.Kind
        );
        _node.Put("Other", "b", "{}");

        Restart();
        Assert.Equal(
            RejectionKind.DatabaseDisabled,
            _node.Propose(_node.PutCommand("Shop", "b", "{}")).Rejection!.Kind
        );
        Disable("false"u8);
        _node.Put("Shop", "b", """{"n":2}""");
        Assert.Equal(["a", "b"], _node.Documents("Shop").Keys);
    }

    [Fact]
    public void A_restored_database_is_disabled_like_the_one_in_the_backup()
    {
        Disable("true"u8);
        BackedUp.Take(_node, _disk);
        BackedUp.Restore(_disk);
        using var restored = SteppedNode.Open(_disk, BackedUp.Restored);
        Assert.True(restored.Database("Shop").Configurations.IsDisabled);
        Assert.False(restored.Database("Other").Configurations.IsDisabled);
    }

    [Fact]
    public void A_disabled_database_can_be_deleted()
    {
        Disable("true"u8);
        _node.Run(CommandEncoder.DeleteDatabases(["shop"]));
        Assert.False(_node.Core.Databases.TryGet("Shop", out _));
    }

    [Fact]
    public void A_lock_mode_prevents_the_deletion_of_all_databases_that_a_command_names()
    {
        Lock("\"PreventDeletesError\""u8);
        Restart();
        var refused = _node.Propose(CommandEncoder.DeleteDatabases(["Other", "Shop"])).Rejection!;
        Assert.Equal(RejectionKind.DatabaseLocked, refused.Kind);
        Assert.Contains("cannot be deleted because of the set lock mode", refused.Message, StringComparison.Ordinal);
        Assert.Equal(["Other", "Shop"], _node.Core.Databases.All.Select(static database => database.Name));
    }

    [Fact]
    public void A_deletion_leaves_out_a_database_whose_lock_mode_ignores_it()
    {
        Lock("\"PreventDeletesIgnore\""u8);
        var outcome = _node.Propose(CommandEncoder.DeleteDatabases(["Other", "Shop"]));
        Assert.Equal((OperationStatus.Deleted, OperationStatus.NotFound), (outcome[0].Status, outcome[1].Status));
        Assert.Equal(["Shop"], _node.Core.Databases.All.Select(static database => database.Name));

        Lock("\"Unlock\""u8);
        _node.Run(CommandEncoder.DeleteDatabases(["Shop"]));
        Assert.Empty(_node.Core.Databases.All);
    }

    private void Disable(ReadOnlySpan<byte> json) => Set(ConfigurationName.Disabled, json);

    private void Lock(ReadOnlySpan<byte> json) => Set(ConfigurationName.LockMode, json);

    private void Set(string name, ReadOnlySpan<byte> json) =>
        _node.Run(CommandEncoder.SetConfiguration(_node.Database("Shop").Number, name, json));

    private void Restart()
    {
        _node.Dispose();
        _node = SteppedNode.Open(_disk, BackedUp.Node);
    }
}
