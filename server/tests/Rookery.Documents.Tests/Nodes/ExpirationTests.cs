using Rookery.Documents.Nodes;
using Rookery.Simulation;

namespace Rookery.Documents.Tests.Nodes;

/// <summary>The deletion of documents whose @expires has passed, in commands of at most 1,024 documents.</summary>
public class ExpirationTests
{
    private readonly SimulatedDisk _disk = new("/data");
    private readonly SimulatedTimeProvider _time = new(new DateTimeOffset(2026, 1, 1, 0, 0, 0, TimeSpan.Zero));

    [Fact]
    public async Task Expired_documents_are_deleted_and_leave_tombstones()
    {
        using var node = SteppedNode.Open(_disk, "/data/node", _time);
        node.CreateDatabase("Shop");
        node.Put("Shop", "past", """{"@metadata":{"@expires":"2025-12-31T00:00:00Z"}}""");
        node.Put("Shop", "soon", """{"@metadata":{"@expires":"2026-01-01T00:01:00Z"}}""");
        node.Put("Shop", "later", """{"@metadata":{"@expires":"2026-02-01T00:00:00Z"}}""");
        node.Put("Shop", "kept", """{"@metadata":{"@expires":"2026-01-01T00:01:00Z"}}""");
        node.Put("Shop", "kept", "{}");

        await ExpireAsync(node);
        Assert.Equal(["kept", "later", "soon"], node.Documents("Shop").Keys.Order(StringComparer.Ordinal));

        _time.Advance(TimeSpan.FromMinutes(1));
        await ExpireAsync(node);
        Assert.Equal(["kept", "later"], node.Documents("Shop").Keys.Order(StringComparer.Ordinal));
        using var reader = node.Database("Shop").OpenReader();
        Assert.Equal((2, 2), (reader.ReadStatistics().Documents, reader.ReadStatistics().Tombstones));

        int operations = _disk.OperationCount;
        await ExpireAsync(node);
        Assert.Equal(operations, _disk.OperationCount);
    }

    [Fact]
    public async Task More_expired_documents_than_fit_into_one_command_are_all_deleted()
    {
        using var node = SteppedNode.Open(_disk, "/data/node", _time);
        node.CreateDatabase("Shop");
        for (int i = 0; i < 1030; i++)
        {
            node.Put("Shop", $"d/{i}", """{"@metadata":{"@expires":"2025-12-31T00:00:00Z"}}""");
        }

        await ExpireAsync(node);
        Assert.Empty(node.Documents("Shop"));
    }

    [Fact]
    public void The_next_command_continues_after_the_last_document_of_the_previous_one()
    {
        using var node = SteppedNode.Open(_disk, "/data/node", _time);
        node.CreateDatabase("Shop");
        for (int i = 0; i < 1500; i++)
        {
            node.Put("Shop", $"d/{i}", """{"@metadata":{"@expires":"2025-12-31T00:00:00Z"}}""");
        }

        // The first command is not applied, so all documents still exist. The second command finds only those
        // that the first one does not contain, because it continues after them.
        byte[] from = [];
        long now = _time.GetUtcNow().UtcTicks;
        Expiration.NextCommand(node.Database("Shop"), now, ref from, out int first)!.Dispose();
        Expiration.NextCommand(node.Database("Shop"), now, ref from, out int second)!.Dispose();
        Assert.Equal((1024, 476), (first, second));
    }

    /// <summary>Deletes expired documents once.</summary>
    // Tasks complete inline within Commit. The test's synchronization context would continue on another thread, so the
    // work runs without it.
    private static Task ExpireAsync(SteppedNode node) =>
        Task.Run(() =>
        {
            var done = new Expiration(node.Core.Databases, node.Consensus).RunOnceAsync(CancellationToken.None);
            node.Commit();
            Assert.True(done.IsCompletedSuccessfully);
        });
}
