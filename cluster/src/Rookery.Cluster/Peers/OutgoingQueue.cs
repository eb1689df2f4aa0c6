using System.Buffers.Binary;
using System.Threading.Tasks.Sources;
using Rookery.Platform;

namespace Rookery.Cluster.Peers;

/// <summary>
/// The send queue of a connection. Callers copy packets into a buffer under a short lock. One send loop takes all
/// queued packets at once, so many packets become one write. Allocates nothing once the buffers have grown.
/// </summary>
/// <param name="limitBytes">The maximum number of bytes that are queued or being written. A single larger packet may be
/// queued alone.</param>
/// <param name="time">The clock.</param>
/// <param name="memory">The share that counts the buffers; null for none.</param>
internal sealed class OutgoingQueue(long limitBytes, TimeProvider time, MemoryShare? memory = null)
    : IValueTaskSource<bool>,
        IThreadPoolWorkItem
{
    /// <summary>
    /// The maximum size of the buffer that an idle connection keeps; a larger one returns to the pool.
    /// </summary>
    private const int IdleBytes = 16 << 10;

    private readonly Lock _gate = new();
    private ManualResetValueTaskSourceCore<bool> _signal;
    private PooledMemory _filling;
    private int _fillingBytes;

    // The bytes of Room that the packets in each buffer hold, and the highest mark of the packets; see Put.
    private long _fillingCharge;
    private long _fillingMark;
    private PooledMemory _sending;
    private long _sendingCharge;
    private long _takenMark;
    private long _dropped;
    private bool _senderWaits;
    private bool _isClosed;
    private CountedBytes _counted = new(memory);

    /// <summary>
    /// Limits the bytes in the queue. A packet's bytes enter before it is queued and leave once it is written.
    /// </summary>
    public Admission Room { get; } = new(limitBytes, time);

    /// <summary>The number of packets dropped because the queue was full or memory was short.</summary>
    public long Dropped => Volatile.Read(ref _dropped);

    /// <summary>The highest mark of the packets that the send loop has taken; see <see cref="Put"/>.</summary>
    public long TakenMark => Volatile.Read(ref _takenMark);

    /// <summary>Queues a packet, or drops it when the queue is full.</summary>
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

    /// <summary>Queues a packet whose bytes have already entered <see cref="Room"/>.</summary>
    /// <param name="body">The packet, of at most <see cref="PeerProtocol.MaxBulkPacketBytes"/>.</param>
    /// <param name="charge">The number of bytes that entered <see cref="Room"/> for the packet. They leave once it is
    /// written, or when it is not queued.</param>
    /// <param name="mark">A number that grows from packet to packet, for <see cref="TakenMark"/>; 0 for none.</param>
    /// <returns>False when the connection is closed or memory is short.</returns>
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
                isPut = true;
                wakes = _senderWaits;
                _senderWaits = false;
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

    /// <summary>Waits until a packet is queued. For the send loop only.</summary>
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
    /// Takes everything queued. The send loop writes it, reports each written piece to <see cref="RecordWritten"/>, and
    /// then calls <see cref="FinishWrite"/>.
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
    /// Releases the bytes of a written piece from <see cref="Room"/>. Called for each piece of a long write, because
    /// the peer acknowledges the first frames while the last are still being written, and is then sent more.
    /// </summary>
    public void RecordWritten(int bytes)
    {
        long charge = Math.Min(_sendingCharge, bytes);
        _sendingCharge -= charge;
        Room.Leave(charge);
    }

    /// <summary>Records that all taken packets are written. Returns a large buffer to the pool.</summary>
    public void FinishWrite()
    {
        lock (_gate)
        {
            if (_sending.Length > IdleBytes)
            {
                _sending.Return();
                ReportHeldBytes();
            }
        }
    }

    /// <summary>Accepts no more packets, and ends the send loop's wait.</summary>
    public void Close()
    {
        bool wakes;
        lock (_gate)
        {
            _isClosed = true;
            wakes = _senderWaits;
            _senderWaits = false;
        }

        if (wakes)
        {
            ThreadPool.UnsafeQueueUserWorkItem(this, preferLocal: false);
        }
    }

    /// <summary>
    /// Returns the buffers to the pool and releases all bytes from <see cref="Room"/>. Call it once the queue is closed
    /// and the send loop has ended.
    /// </summary>
    public void Release()
    {
        long charge;
        lock (_gate)
        {
            Invariant.Holds(_isClosed, "only a closed queue releases its buffers");
            charge = _fillingCharge + _sendingCharge;
            _fillingCharge = 0;
            _sendingCharge = 0;
            _fillingBytes = 0;
            _filling.Return();
            _sending.Return();
            ReportHeldBytes();
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

    private void ReportHeldBytes() => _counted.Set(_filling.Length + _sending.Length);

    /// <summary>
    /// Grows the buffer to at least <paramref name="bytes"/>. Returns false when memory is short. The packet is then
    /// dropped, as if the network had lost it.
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
            ReportHeldBytes();
            return true;
        }
        catch (OutOfMemoryException)
        {
            return false;
        }
    }
}
