using Rookery.Documents.Commands;
using Rookery.Platform;

namespace Rookery.Documents.Tests.Commands;

/// <summary>
/// What a buffer promises to its owner. By itself: what is disposed goes to the process's pool, and a test beside it
/// that rented the same buffer before the second disposal would lose it, and this one would see no fault.
/// </summary>
[Collection(nameof(CommandBufferTests))]
[CollectionDefinition(nameof(CommandBufferTests), DisableParallelization = true)]
public sealed class CommandBufferTests
{
    [Fact]
    public void A_buffer_has_one_owner()
    {
        CommandBuffer buffer = CommandBuffer.Rent();
        buffer.Dispose();
        Assert.Throws<InvariantViolationException>(buffer.Dispose);
        Assert.Throws<InvariantViolationException>(() => buffer.GetSpan(1).Length);
    }
}
