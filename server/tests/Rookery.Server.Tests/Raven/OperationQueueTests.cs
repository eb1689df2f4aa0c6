using Rookery.Platform;
using Rookery.Server.Raven.Changes;
using Rookery.Server.Raven.SetBased;

namespace Rookery.Server.Tests.Raven;

/// <summary>The changed operations that a connection of the changes feed has not sent yet.</summary>
public sealed class OperationQueueTests
{
    private readonly MemoryShare _memory = new MemoryBudget(64L << 20).AddShare("details", limitBytes: 1 << 20);

    [Fact]
    public async Task A_full_queue_returns_its_operations_before_it_ends()
    {
        var operations = new OperationQueue();
        for (int id = 1; id <= OperationQueue.Capacity + 1; id++)
        {
            operations.Post(CreateOperation(id));
        }

        for (int id = 1; id <= OperationQueue.Capacity; id++)
        {
            Assert.Equal(id, (await operations.ReadAsync(CancellationToken.None))?.Id);
        }

        // The end: one operation did not fit, so the client must connect again.
        Assert.Null(await operations.ReadAsync(CancellationToken.None));
    }

    [Fact]
    public async Task An_operation_is_queued_once_until_it_is_read()
    {
        var operations = new OperationQueue();
        var first = CreateOperation(1);
        operations.Post(first);
        operations.Post(first);
        operations.Post(CreateOperation(2));
        Assert.Equal(1, (await operations.ReadAsync(CancellationToken.None))?.Id);
        operations.Post(first);
        Assert.Equal(2, (await operations.ReadAsync(CancellationToken.None))?.Id);
        Assert.Equal(1, (await operations.ReadAsync(CancellationToken.None))?.Id);
    }

    private SetOperation CreateOperation(long id) => new(1, id, "from Users", _memory);
}
