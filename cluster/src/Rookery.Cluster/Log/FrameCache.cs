using System.Diagnostics.CodeAnalysis;
using Rookery.Platform;

namespace Rookery.Cluster.Log;

/// <summary>
/// The newest entries of the log in memory, of consecutive indexes: those that are not applied yet, and, up to a bound,
/// those that members who lag a little will ask for. Under the consensus lock.
/// </summary>
internal sealed class FrameCache
{
    // Frames whose memory is back are used again; more than ever are in flight together are not kept.
    private const int MostFree = 64;

    // The objects around a payload: entries of a few bytes, or of none, would be kept without bound otherwise.
    private const int OverheadBytes = 256;

    private readonly Stack<LogFrame> _free = new();
    private LogFrame?[] _ring = new LogFrame?[16];
    private int _head;
    private int _count;

    /// <summary>The lowest index here; above <see cref="LastIndex"/> when there is none.</summary>
    public long FirstIndex { get; private set; } = 1;

    /// <summary>The highest index here.</summary>
    public long LastIndex => FirstIndex + _count - 1;

    /// <summary>Bytes that the entries here take.</summary>
    public long Bytes { get; private set; }

    /// <summary>A frame to be filled.</summary>
    public LogFrame Rent() => _free.TryPop(out var frame) ? frame : new LogFrame();

    /// <summary>Takes back a frame that never got a place, or that nobody reads any more.</summary>
    public void Return(LogFrame frame)
    {
        if (_free.Count < MostFree)
        {
            _free.Push(frame);
        }
    }

    /// <summary>Adds an entry behind the last; where there is none, anywhere.</summary>
    public void Append(LogFrame frame)
    {
        Invariant.Holds(_count == 0 || frame.Position.Index == LastIndex + 1, "entries in memory follow each other");
        if (_count == 0)
        {
            FirstIndex = frame.Position.Index;
        }

        if (_count == _ring.Length)
        {
            Grow();
        }

        frame.Retain();
        _ring[(_head + _count++) % _ring.Length] = frame;
        Bytes += frame.Bytes + OverheadBytes;
    }

    /// <summary>The entry at <paramref name="index"/>, if it is here.</summary>
    public bool TryGet(long index, [NotNullWhen(true)] out LogFrame? frame)
    {
        bool isHere = index >= FirstIndex && index <= LastIndex;
        frame = isHere ? _ring[(_head + (int)(index - FirstIndex)) % _ring.Length] : null;
        return isHere;
    }

    /// <summary>
    /// Lets go of the entries through <paramref name="index"/>, oldest first, as long as more than
    /// <paramref name="bytes"/> are here.
    /// </summary>
    public void ReleaseThrough(long index, long bytes)
    {
        while (_count > 0 && FirstIndex <= index && Bytes > bytes)
        {
            var frame = _ring[_head]!;
            _ring[_head] = null;
            _head = (_head + 1) % _ring.Length;
            _count--;
            FirstIndex++;
            LetGo(frame);
        }
    }

    /// <summary>As <see cref="ReleaseThrough"/>, up to an entry that somebody waits for.</summary>
    public void ReleaseUnawaitedThrough(long index, long bytes)
    {
        while (_count > 0 && FirstIndex <= index && Bytes > bytes && _ring[_head]!.Count == 0)
        {
            ReleaseThrough(FirstIndex, Bytes - 1);
        }
    }

    /// <summary>Lets go of the entries behind <paramref name="index"/>: others take their place.</summary>
    public void DropAfter(long index)
    {
        while (_count > 0 && LastIndex > index)
        {
            int last = (_head + --_count) % _ring.Length;
            var frame = _ring[last]!;
            _ring[last] = null;
            LetGo(frame);
        }
    }

    /// <summary>
    /// A node alone has nobody to send it to: what is durable needs no payload, and apply may need the room.
    /// </summary>
    public void DropPayload(LogFrame frame)
    {
        int before = frame.Bytes;
        frame.DropPayload();
        Bytes -= before - frame.Bytes;
    }

    /// <summary>One reader less; a frame that nobody reads any more is used again.</summary>
    public void Release(LogFrame frame)
    {
        if (frame.Release())
        {
            Return(frame);
        }
    }

    private void LetGo(LogFrame frame)
    {
        Bytes -= frame.Bytes + OverheadBytes;
        Release(frame);
    }

    private void Grow()
    {
        var larger = new LogFrame?[_ring.Length * 2];
        for (int i = 0; i < _count; i++)
        {
            larger[i] = _ring[(_head + i) % _ring.Length];
        }

        (_ring, _head) = (larger, 0);
    }
}
