namespace Rookery.Platform.Tests;

/// <summary>Buffers that grow, and that are outside the managed heap if they are large.</summary>
public sealed class PooledMemoryTests
{
    [Theory]
    [InlineData(100, 200)]
    [InlineData(100, 200_000)]
    [InlineData(300_000, 1_500_000)]
    [InlineData(1_500_000, 5_000_000)]
    [InlineData(5_000_000, 40_000_000)]
    public void Written_bytes_are_kept_when_the_buffer_grows(int bytes, int grownBytes)
    {
        var memory = PooledMemory.Rent(bytes);
        new Random(bytes).NextBytes(memory.Span[..bytes]);
        byte[] written = memory.Span[..bytes].ToArray();
        memory.Grow(bytes, grownBytes);
        Assert.True(memory.Length >= grownBytes);
        Assert.True(memory.Span[..bytes].SequenceEqual(written));
        Assert.True(memory.Memory.Span[..bytes].SequenceEqual(written));
        memory.Span[grownBytes - 1] = 1; // the last byte is there
        memory.Return();
        Assert.Equal(0, memory.Length);
        memory.Return(); // a second return does nothing
    }

    [Fact]
    public void Large_memory_is_outside_the_managed_heap()
    {
        long before = GC.GetAllocatedBytesForCurrentThread();
        var memory = PooledMemory.Rent(64 << 20);
        memory.Grow(0, 128 << 20);
        Assert.InRange(GC.GetAllocatedBytesForCurrentThread() - before, 0, 64 << 10);
        memory.Return();
    }

    [Fact]
    public void Buffers_of_ordinary_frames_are_reused_and_larger_ones_are_freed_at_once()
    {
        LargeBuffers.Trim();
        var ordinary = PooledMemory.Rent(2 << 20);
        ordinary.Span[0] = 42;
        ordinary.Return();
        Assert.True(LargeBuffers.IdleBytes >= 2 << 20);
        LargeBuffers.Trim();
        var large = PooledMemory.Rent(9 << 20);
        Assert.Equal(9 << 20, large.Length);
        large.Return();
    }
}
