using System.Buffers.Binary;
using System.Threading.Tasks.Sources;
using Rookery.Disk;

namespace Rookery.Cluster.Peers;

/// <summary>
/// What waits for a connection. Callers copy packets in under a short lock; one loop takes all that is there at once, so that many packets become one write. Neither side allocates
/// once the buffers have their size.
/// </summary>
/// <param name="limitBytes">Bytes that may wait, or be in the middle of being written. One longer packet may go alone.</param>
/// <param name="time">The clock, for those who wait for room.</param>
/// <param name="memory">Where its memory is counted; null for nowhere.</param>
internal sealed class OutgoingQueue(long limitBytes, TimeProvider time, MemoryShare? memory = null) : IValueTaskSource<bool>, IThreadPoolWorkItem
{
    /// <summary>Memory that stays with an idle connection; larger memory goes back to its pool.</summary>
    private const int IdleBytes = 16 << 10;

    private readonly Lock gate = new();
    private ManualResetValueTaskSourceCore<bool> signal;
    private PooledMemory filling;
    private int fillingBytes;
    private long fillingCharge;
    private long fillingMark;
    private PooledMemory sending;
    private long sendingCharge;
    private long takenMark;
    private long dropped;
    private bool senderWaits;
    private bool isClosed;
    private CountedBytes counted = new(memory);

    /// <summary>Room in it, charged by each packet from before it is put until it was written.</summary>
    public Admission Room { get; } = new(limitBytes, time);

    /// <summary>Packets that were dropped for want of room.</summary>
    public long Dropped => Volatile.Read(ref dropped);

    /// <summary>The highest mark of what was taken to be written; see <see cref="Put"/>.</summary>
    public long TakenMark => Volatile.Read(ref takenMark);

    /// <summary>Puts a packet, or drops it when there is no room.</summary>
    public bool TryPut<TBody>(in TBody body)
        where TBody : struct, IPacketBody, allows ref struct
    {
        long bytes = body.SizeInBytes + PeerProtocol.PacketHeadBytes;
        if (bytes <= PeerProtocol.MaxBulkPacketBytes && Room.TryEnter(bytes) && Put(body, bytes, mark: 0))
        {
            return true;
        }

        Interlocked.Increment(ref dropped);
        return false;
    }

    /// <summary>Puts a packet whose room was taken before.</summary>
    /// <param name="body">The packet, of at most <see cref="PeerProtocol.MaxBulkPacketBytes"/>.</param>
    /// <param name="charge">Bytes of <see cref="Room"/> that it took: given back when it was written, or when it is refused.</param>
    /// <param name="mark">A number that grows with packets, of which <see cref="TakenMark"/> tells; 0 for none.</param>
    /// <returns>False when the connection is closed or there is no memory.</returns>
    public bool Put<TBody>(in TBody body, long charge, long mark)
        where TBody : struct, IPacketBody, allows ref struct
    {
        int bytes = checked((int)body.SizeInBytes) + PeerProtocol.PacketHeadBytes;
        bool isPut = false;
        bool wakes = false;
        lock (gate)
        {
            if (!isClosed && TryGrow(fillingBytes + bytes))
            {
                var packet = filling.Span.Slice(fillingBytes, bytes);
                BinaryPrimitives.WriteInt32LittleEndian(packet, bytes - sizeof(uint));
                packet[sizeof(uint)] = (byte)body.Kind;
                body.Write(packet[PeerProtocol.PacketHeadBytes..]);
                fillingBytes += bytes;
                fillingCharge += charge;
                fillingMark = Math.Max(fillingMark, mark);
                (wakes, senderWaits, isPut) = (senderWaits, false, true);
            }
        }

        if (wakes)
        {
            ThreadPool.UnsafeQueueUserWorkItem(this, preferLocal: false);
        }
        else if (!isPut && charge > 0)
        {
            Room.Leave(charge);
        }

        return isPut;
    }

    /// <summary>Waits for a packet; for the one loop that sends.</summary>
    /// <returns>False when the queue is closed.</returns>
    public ValueTask<bool> WaitAsync()
    {
        lock (gate)
        {
            if (isClosed || fillingBytes > 0)
            {
                return new ValueTask<bool>(!isClosed);
            }

            signal.Reset();
            senderWaits = true;
            return new ValueTask<bool>(this, signal.Version);
        }
    }

    /// <summary>Takes all that is there, to be written; then <see cref="Written"/> and <see cref="Finished"/> are called.</summary>
    public ReadOnlyMemory<byte> Take()
    {
        lock (gate)
        {
            (filling, sending) = (sending, filling);
            var taken = sending.Memory[..fillingBytes];
            sendingCharge = fillingCharge;
            Volatile.Write(ref takenMark, fillingMark);
            fillingBytes = 0;
            fillingCharge = 0;
            return taken;
        }
    }

    /// <summary>Some of what was taken is written: its room is free. Piece by piece, because a peer confirms the first frames of a long write before its last, and gets more then.</summary>
    public void Written(int bytes)
    {
        long charge = Math.Min(sendingCharge, bytes);
        sendingCharge -= charge;
        Room.Leave(charge);
    }

    /// <summary>All that was taken is written.</summary>
    public void Finished()
    {
        lock (gate)
        {
            if (sending.Length > IdleBytes)
            {
                sending.Return();
                Count();
            }
        }
    }

    /// <summary>Takes nothing more, and ends the wait of the loop.</summary>
    public void Close()
    {
        bool wakes;
        lock (gate)
        {
            isClosed = true;
            (wakes, senderWaits) = (senderWaits, false);
        }

        if (wakes)
        {
            ThreadPool.UnsafeQueueUserWorkItem(this, preferLocal: false);
        }
    }

    /// <summary>Gives the memory back, once it is closed and the loop has ended. Nothing is charged any more.</summary>
    public void Release()
    {
        long charge;
        lock (gate)
        {
            Invariant.Holds(isClosed, "a queue gives its memory back when nobody puts any more");
            charge = fillingCharge + sendingCharge;
            (fillingCharge, sendingCharge, fillingBytes) = (0, 0, 0);
            filling.Return();
            sending.Return();
            Count();
        }

        Room.Leave(charge);
    }

    /// <inheritdoc/>
    void IThreadPoolWorkItem.Execute() => signal.SetResult(!Volatile.Read(ref isClosed));

    /// <inheritdoc/>
    bool IValueTaskSource<bool>.GetResult(short token) => signal.GetResult(token);

    /// <inheritdoc/>
    ValueTaskSourceStatus IValueTaskSource<bool>.GetStatus(short token) => signal.GetStatus(token);

    /// <inheritdoc/>
    void IValueTaskSource<bool>.OnCompleted(Action<object?> continuation, object? state, short token, ValueTaskSourceOnCompletedFlags flags) =>
        signal.OnCompleted(continuation, state, token, flags);

    private void Count() => counted.Set(filling.Length + sending.Length);

    /// <summary>Memory may be short when frames are long: then the packet is dropped, as if it had been lost on the way.</summary>
    private bool TryGrow(int bytes)
    {
        if (bytes <= filling.Length)
        {
            return true;
        }

        try
        {
            filling.Grow(fillingBytes, Math.Max(IdleBytes, Math.Max(bytes, 2 * fillingBytes)));
            Count();
            return true;
        }
        catch (OutOfMemoryException)
        {
            return false;
        }
    }
}
