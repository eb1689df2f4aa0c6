using Rookery.Cluster.Peers;
using Rookery.Journal;
using Rookery.Platform;
using Rookery.Raft;

namespace Rookery.Cluster.Tests.Peers;

/// <summary>The queue of packets to one member.</summary>
public sealed class OutgoingQueueTests
{
    private static readonly NodeId From = new(1);
    private static readonly NodeId To = new(2);

    [Fact]
    public void Queued_packets_are_taken_together_and_in_order()
    {
        var queue = new OutgoingQueue(limitBytes: 1 << 16, TimeProvider.System);
        for (int i = 0; i < 3; i++)
        {
            Assert.True(queue.TryPut(new PingBody((PacketKind)(10 + i))));
        }

        // Three packets of five bytes: the length of the rest in four bytes, and the kind.
        Assert.Equal(new byte[] { 1, 0, 0, 0, 10, 1, 0, 0, 0, 11, 1, 0, 0, 0, 12 }, queue.Take().ToArray());
        queue.RecordWritten(bytes: 15);
        queue.FinishWrite();
        Assert.Equal(0, queue.Room.Bytes);
        Assert.True(queue.Take().IsEmpty);
    }

    [Fact]
    public void A_packet_that_does_not_fit_is_dropped_unless_the_queue_is_empty()
    {
        var queue = new OutgoingQueue(limitBytes: 1_000, TimeProvider.System);
        var frame = Samples.Frame(
            FrameType.Batch,
            index: 1,
            term: 1,
            operationsBefore: 0,
            operationCount: 1,
            new byte[2_000]
        );
        var message = Samples.Message(new Random(1), MessageKind.Append, From, To);
        Assert.True(queue.TryPut(new MessageBody(message, [frame])));
        Assert.False(queue.TryPut(new MessageBody(message, frames: [])));
        Assert.Equal(1, queue.Dropped);
        // Once most of the first packet is written, the next one fits.
        int bytes = queue.Take().Length;
        queue.RecordWritten(bytes - 500);
        Assert.True(queue.TryPut(new MessageBody(message, frames: [])));
        queue.RecordWritten(500);
        queue.FinishWrite();
        queue.Close();
        Assert.False(queue.TryPut(new MessageBody(message, frames: [])));
        queue.Release();
        Assert.Equal(0, queue.Room.Bytes);
    }

    [Fact]
    public void The_buffers_of_a_queue_count_against_the_memory_budget()
    {
        var budget = new MemoryBudget(64 << 20);
        var queue = new OutgoingQueue(
            limitBytes: 1 << 20,
            TimeProvider.System,
            budget.AddShare("peers", limitBytes: 16 << 20)
        );
        byte[] incompressible = new byte[100_000];
        new Random(1).NextBytes(incompressible);
        var frame = Samples.Frame(
            FrameType.Batch,
            index: 1,
            term: 1,
            operationsBefore: 0,
            operationCount: 1,
            incompressible
        );
        Assert.True(
            queue.TryPut(new MessageBody(Samples.Message(new Random(1), MessageKind.Append, From, To), [frame]))
        );
        Assert.InRange(budget.UsedBytes, 100_000, 1 << 20);
        queue.RecordWritten(queue.Take().Length);
        queue.FinishWrite();
        Assert.Equal(0, budget.UsedBytes);

        Assert.True(queue.TryPut(new PingBody(PacketKind.Ping)));
        Assert.InRange(budget.UsedBytes, 1, 1 << 17);
        queue.Close();
        queue.Release();
        Assert.Equal(0, budget.UsedBytes);
    }

    [Fact]
    public async Task A_wait_ends_when_a_packet_is_put_or_the_queue_is_closed()
    {
        var queue = new OutgoingQueue(limitBytes: 1_000, TimeProvider.System);
        for (int i = 0; i < 100; i++)
        {
            var waiting = queue.WaitAsync();
            Assert.False(waiting.IsCompleted);
            queue.TryPut(new PingBody(PacketKind.Ping));
            Assert.True(await waiting);
            queue.RecordWritten(queue.Take().Length);
            queue.FinishWrite();
        }

        var last = queue.WaitAsync();
        queue.Close();
        Assert.False(await last);
        Assert.False(await queue.WaitAsync());
    }

    [Fact]
    public void Neither_putting_nor_taking_allocates_once_the_buffers_have_their_size()
    {
        var queue = new OutgoingQueue(limitBytes: 1 << 16, TimeProvider.System);
        var message = Samples.Message(new Random(1), MessageKind.Heartbeat, From, To);
        var frames = new List<JournalFrame>();
        long before = 0;
        for (int i = 0; i < 2_000; i++)
        {
            // The first half grows the buffers.
            if (i == 1_000)
            {
                before = GC.GetAllocatedBytesForCurrentThread();
            }

            queue.TryPut(new MessageBody(message, frames: []));
            queue.TryPut(new MessageBody(message, frames: []));
            var bytes = queue.Take();
            MessageCodec.Read(bytes[PeerProtocol.PacketHeadBytes..][..MessageCodec.HeadBytes], From, To, frames);
            queue.RecordWritten(bytes.Length);
            queue.FinishWrite();
        }

        // One object for each message would allocate at least 24,000 bytes. The runtime sometimes allocates a few
        // hundred bytes when it recompiles a method.
        Assert.InRange(GC.GetAllocatedBytesForCurrentThread() - before, 0, 1_000);
    }
}
