using Rookery.Server.Raven;

namespace Rookery.Server.Tests.Raven;

/// <summary>Memory of the buffers of many answers.</summary>
public sealed class ResponseMemoryTests
{
    [Fact]
    public void Long_answers_are_sent_in_small_parts_while_buffers_exceed_their_limit()
    {
        // A part of 64 KiB is due in each buffer until all together exceed the limit; then one of 4 KiB.
        var memory = new ResponseMemory(400 << 10);
        var buffers = new List<ResponseBuffer>();
        while (!memory.IsOverLimit)
        {
            var buffer = new ResponseBuffer(memory);
            buffers.Add(buffer);
            for (int piece = 0; !buffer.IsPartDue; piece++)
            {
                Assert.True(piece < 1000, "a part is due before 100 KB");
                buffer.Write(new byte[100]);
            }
        }

        Assert.InRange(buffers.Count, 3, 6);
        using (var late = new ResponseBuffer(memory))
        {
            late.Write(new byte[4000]);
            Assert.False(late.IsPartDue);
            late.Write(new byte[100]);
            Assert.True(late.IsPartDue);
        }

        buffers.ForEach(static buffer => buffer.Dispose());
        Assert.Equal(0, memory.HeldBytes);
    }

    [Fact]
    public void An_empty_buffer_can_release_the_memory_to_which_it_grew()
    {
        var memory = new ResponseMemory(1 << 20);
        using var buffer = new ResponseBuffer(memory);
        long before = memory.HeldBytes;
        buffer.Write(new byte[100_000]);
        buffer.Trim();
        // Trim keeps the written bytes, and releases only the room after them.
        Assert.True(memory.HeldBytes >= 100_000, "an unsent answer stays in memory");
        Assert.Equal(100_000, buffer.Length);
        buffer.Truncate(0);
        buffer.Trim();
        Assert.Equal(before, memory.HeldBytes);
    }
}
