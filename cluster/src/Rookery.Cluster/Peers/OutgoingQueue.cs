using System.Buffers.Binary;
using System.Threading.Tasks.Sources;
using Rookery.Platform;

namespace Rookery.Cluster.Peers;

/// <summary>
/// What waits for a connection. Callers copy packets in under a short lock; one loop takes all that is there at once,
/// so that many packets become one write. Neither side allocates once the buffers have their size.
/// </summary>
/// <param name="limitBytes">Bytes that may wait, or be in the middle of being written. One longer packet may go
/// alone.</param>
/// <param name="time">The clock, for those who wait for room.</param>
/// <param name="memory">Where its memory is counted; null for nowhere.</param>
internal sealed class OutgoingQueue(long limitBytes, TimeProvider time, MemoryShare? memory = null)
    : IValueTaskSource<bool>,
        IThreadPoolWorkItem
{
    /// <summary>Memory that stays with an idle connection; larger memory goes back to its pool.</summary>
    private const int IdleBytes = 16 << 10;

    private readonly Lock _gate = new();
    private ManualResetValueTaskSourceCore<bool> _signal;
    private PooledMemory _filling;
    private int _fillingBytes;
    private long _fillingCharge;
    private long _fillingMark;
    private PooledMemory _sending;
    private long _sendingCharge;
    private long _takenMark;
    private long _dropped;
    private bool _senderWaits;
    private bool _isClosed;
    private CountedBytes _counted = new(memory);

    /// <summary>Room in it, charged by each packet from before it is put until it was written.</summary>
    public Admission Room { get; } = new(limitBytes, time);

    /// <summary>Packets that were dropped for want of room.</summary>
    public long Dropped => Volatile.Read(ref _dropped);

    /// <summary>The highest mark of what was taken to be written; see <see cref="Put"/>.</summary>
    public long TakenMark => Volatile.Read(ref _takenMark);

    /// <summary>Puts a packet, or drops it when there is no room.</summary>
    public bool TryPut<TBody>(in TBody body)
        where TBody : struct, IPacketBody, allows ref struct
    {
        long bytes = body.SizeInBytes + PeerProtocol.PacketHeadBytes;
        if (bytes <= PeerProtocol.MaxBulkPacketBytes && Room.TryEnter(bytes) && Put(body, bytes, mark: 0))
        {
            return true;
        }

        Interlocked.Increment(ref _dropped);
        return false;
    }

    /// <summary>Puts a packet whose room was taken before.</summary>
    /// <param name="body">The packet, of at most <see cref="PeerProtocol.MaxBulkPacketBytes"/>.</param>
    /// <param name="charge">Bytes of <see cref="Room"/> that it took: given back when it was written, or when it is
    /// refused.</param>
    /// <param name="mark">A number that grows with packets, of which <see cref="TakenMark"/> tells; 0 for none.</param>
    /// <returns>False when the connection is closed or there is no memory.</returns>
    public bool Put<TBody>(in TBody body, long charge, long mark)
        where TBody : struct, IPacketBody, allows ref struct
    {
        int bytes = checked((int)body.SizeInBytes) + PeerProtocol.PacketHeadBytes;
        bool isPut = false;
        bool wakes = false;
        lock (_gate)
        {
            if (!_isClosed && TryGrow(_fillingBytes + bytes))
            {
                var packet = _filling.Span.Slice(_fillingBytes, bytes);
                BinaryPrimitives.WriteInt32LittleEndian(packet, bytes - sizeof(uint));
                packet[sizeof(uint)] = (byte)body.Kind;
                body.Write(packet[PeerProtocol.PacketHeadBytes..]);
                _fillingBytes += bytes;
                _fillingCharge += charge;
                _fillingMark = Math.Max(_fillingMark, mark);
                (wakes, _senderWaits, isPut) = (_senderWaits, false, true);
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
        lock (_gate)
        {
            if (_isClosed || _fillingBytes > 0)
            {
                return new ValueTask<bool>(!_isClosed);
            }

            _signal.Reset();
            _senderWaits = true;
            return new ValueTask<bool>(this, _signal.Version);
        }
    }

    /// <summary>
    /// Takes all that is there, to be written; then <see cref="Written"/> and <see cref="Finished"/> are called.
    /// </summary>
    public ReadOnlyMemory<byte> Take()
    {
        lock (_gate)
        {
            (_filling, _sending) = (_sending, _filling);
            var taken = _sending.Memory[.._fillingBytes];
            _sendingCharge = _fillingCharge;
            Volatile.Write(ref _takenMark, _fillingMark);
            _fillingBytes = 0;
            _fillingCharge = 0;
            return taken;
        }
    }

    /// <summary>
    /// Some of what was taken is written: its room is free. Piece by piece, because a peer confirms the first frames of
    /// a long write before its last, and gets more then.
    /// </summary>
    public void Written(int bytes)
    {
        long charge = Math.Min(_sendingCharge, bytes);
        _sendingCharge -= charge;
        Room.Leave(charge);
    }

    /// <summary>All that was taken is written.</summary>
    public void Finished()
    {
        lock (_gate)
        {
            if (_sending.Length > IdleBytes)
            {
                _sending.Return();
                Count();
            }
        }
    }

    /// <summary>Takes nothing more, and ends the wait of the loop.</summary>
    public void Close()
    {
        bool wakes;
        lock (_gate)
        {
            _isClosed = true;
            (wakes, _senderWaits) = (_senderWaits, false);
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
        lock (_gate)
        {
            Invariant.Holds(_isClosed, "a queue gives its memory back when nobody puts any more");
            charge = _fillingCharge + _sendingCharge;
            (_fillingCharge, _sendingCharge, _fillingBytes) = (0, 0, 0);
            _filling.Return();
            _sending.Return();
            Count();
        }

        Room.Leave(charge);
    }

    /// <inheritdoc/>
    void IThreadPoolWorkItem.Execute() => _signal.SetResult(!Volatile.Read(ref _isClosed));

    /// <inheritdoc/>
    bool IValueTaskSource<bool>.GetResult(short token) => _signal.GetResult(token);

    /// <inheritdoc/>
    ValueTaskSourceStatus IValueTaskSource<bool>.GetStatus(short token) => _signal.GetStatus(token);

    /// <inheritdoc/>
    void IValueTaskSource<bool>.OnCompleted(
        Action<object?> continuation,
        object? state,
        short token,
        ValueTaskSourceOnCompletedFlags flags
    ) => _signal.OnCompleted(continuation, state, token, flags);

    private void Count() => _counted.Set(_filling.Length + _sending.Length);

    /// <summary>
    /// Memory may be short when frames are long: then the packet is dropped, as if it had been lost on the way.
    /// </summary>
    private bool TryGrow(int bytes)
    {
        if (bytes <= _filling.Length)
        {
            return true;
        }

        try
        {
            _filling.Grow(_fillingBytes, Math.Max(IdleBytes, Math.Max(bytes, 2 * _fillingBytes)));
            Count();
            return true;
        }
        catch (OutOfMemoryException)
        {
            return false;
        }
    }
}
