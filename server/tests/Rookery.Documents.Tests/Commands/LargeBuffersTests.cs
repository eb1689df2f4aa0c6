using Rookery.Documents.Commands;

namespace Rookery.Documents.Tests.Commands;

public sealed class LargeBuffersTests
{
    [Fact]
    public void Buffers_are_used_again_until_a_trim_forgets_them()
    {
        byte[] first = LargeBuffers.Rent(2 << 20);      // of a size that hardly anybody else asks for
        LargeBuffers.Return(first);
        byte[] held = LargeBuffers.Rent(2 << 20);
        Assert.Same(first, held);
        LargeBuffers.Return(held);
        LargeBuffers.Trim();
        byte[] other = LargeBuffers.Rent(2 << 20);
        Assert.NotSame(held, other);
        LargeBuffers.Trim();
        LargeBuffers.Return(other);                     // out while its pool was given up: nothing happens to it
    }

    [Fact]
    public void The_largest_are_not_kept()
    {
        byte[] first = LargeBuffers.Rent(9 << 20);
        Assert.Equal(9 << 20, first.Length);
        LargeBuffers.Return(first);
        Assert.NotSame(first, LargeBuffers.Rent(9 << 20));
    }
}
