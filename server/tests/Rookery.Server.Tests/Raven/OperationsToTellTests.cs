using Rookery.Platform;
using Rookery.Server.Raven.Changes;
using Rookery.Server.Raven.SetBased;

namespace Rookery.Server.Tests.Raven;

public sealed class OperationsToTellTests
{
    private readonly MemoryShare _memory = new MemoryBudget(64L << 20).AddShare("details", 1 << 20);

    [Fact]
    public async Task As_many_as_there_is_room_for_are_told_before_the_loss_of_one_more()
    {
        var operations = new OperationsToTell();
        for (int id = 1; id <= OperationsToTell.Capacity + 1; id++)
        {
            operations.Post(NewOperation(id));
        }

        for (int id = 1; id <= OperationsToTell.Capacity; id++)
        {
            Assert.Equal(id, (await operations.ReadAsync(CancellationToken.None))?.Id);
        }

        Assert.Null(await operations.ReadAsync(CancellationToken.None));
    }

    [Fact]
    public async Task One_that_goes_on_again_is_told_once_until_it_was_read()
    {
        var operations = new OperationsToTell();
        var first = NewOperation(1);
        operations.Post(first);
        operations.Post(first);
        operations.Post(NewOperation(2));
        Assert.Equal(1, (await operations.ReadAsync(CancellationToken.None))?.Id);
        operations.Post(first);
        Assert.Equal(2, (await operations.ReadAsync(CancellationToken.None))?.Id);
        Assert.Equal(1, (await operations.ReadAsync(CancellationToken.None))?.Id);
    }

    private SetOperation NewOperation(long id) => new(1, id, "from Users", _memory);
}
