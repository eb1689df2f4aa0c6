using Rookery.Documents.Commands;
using Rookery.Platform;

namespace Rookery.Documents.Tests.Commands;

/// <summary>
/// A buffer rejects a second disposal. Not run in parallel with other tests: disposed buffers return to the process's
/// pool, and if another test has rented the buffer meanwhile, the second disposal returns it undetected.
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
