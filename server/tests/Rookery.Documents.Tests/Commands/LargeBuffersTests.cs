using Rookery.Documents.Commands;

namespace Rookery.Documents.Tests.Commands;

public sealed class LargeBuffersTests
{
    [Fact]
    public void Buffers_are_used_again_until_a_trim_forgets_them()
    {
        byte[] first = LargeBuffers.Rent(9 << 20);      // a size that nobody else asks for
        LargeBuffers.Return(first);
        byte[] held = LargeBuffers.Rent(9 << 20);
        Assert.Same(first, held);
        LargeBuffers.Return(held);
        LargeBuffers.Trim();
        byte[] other = LargeBuffers.Rent(9 << 20);
        Assert.NotSame(held, other);
        LargeBuffers.Trim();
        LargeBuffers.Return(other);                     // out while its pool was given up: nothing happens to it
    }
}
