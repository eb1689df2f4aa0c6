namespace Rookery.Platform.Tests;

public sealed unsafe class NativePagesTests
{
    [Theory]
    [InlineData(1)]
    [InlineData(5000)]
    [InlineData(64 << 10)]
    [InlineData(3 << 20)]
    public void Mapped_memory_is_zeroed_also_if_it_was_released_before(int bytes)
    {
        for (int round = 0; round < 40; round++)
        {
            byte* first = NativePages.Map(bytes);
            byte* second = NativePages.Map(bytes);
            Assert.True(first != second);
            Assert.Equal(-1, new Span<byte>(first, bytes).IndexOfAnyExcept((byte)0));
            Assert.Equal(-1, new Span<byte>(second, bytes).IndexOfAnyExcept((byte)0));
            new Span<byte>(first, bytes).Fill(0xA5);
            new Span<byte>(second, bytes).Fill(0x5A);
            NativePages.Unmap(first, bytes);
            NativePages.Unmap(second, bytes);
            if (round % 7 == 0)
            {
                NativePages.Trim();
            }
        }
    }

    [Fact]
    public void Memory_that_grows_after_reuse_is_zeroed_beyond_its_old_end()
    {
        byte* address = NativePages.Map(8000);
        new Span<byte>(address, 8000).Fill(0xA5);
        NativePages.Unmap(address, 8000);

        byte* reused = NativePages.Map(5000);
        byte* grown = NativePages.Resize(reused, 5000, 40_000);
        Assert.Equal(-1, new Span<byte>(grown, 40_000).IndexOfAnyExcept((byte)0));
        NativePages.Unmap(grown, 40_000);
    }
}
