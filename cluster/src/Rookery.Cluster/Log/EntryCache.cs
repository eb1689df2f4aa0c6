using System.Diagnostics.CodeAnalysis;
using Rookery.Platform;

namespace Rookery.Cluster.Log;

/// <summary>
/// The newest entries of the log in memory, with consecutive indexes: unapplied entries and, up to a bound, entries for
/// slightly lagging members. All methods are called under the consensus lock.
/// </summary>
internal sealed class EntryCache
{
    // The maximum number of released entries to keep for reuse: as many as are usually in flight together.
    private const int MaxFreeEntries = 64;

    // Added to the payload's size of each entry. Otherwise the bound would not limit tiny or empty entries.
    private const int OverheadBytes = 256;

    private readonly Stack<CachedEntry> _free = new();
    private CachedEntry?[] _ring = new CachedEntry?[16];
    private int _head;
    private int _count;

    /// <summary>The lowest cached index; greater than <see cref="LastIndex"/> when the cache is empty.</summary>
    public long FirstIndex { get; private set; } = 1;

    /// <summary>The highest cached index.</summary>
    public long LastIndex => FirstIndex + _count - 1;

    /// <summary>The bytes that the cached entries take.</summary>
    public long Bytes { get; private set; }

    /// <summary>Returns an empty entry.</summary>
    public CachedEntry Rent() => _free.TryPop(out var entry) ? entry : new CachedEntry();

    /// <summary>Keeps an entry that has no references left, for reuse.</summary>
    public void Return(CachedEntry entry)
    {
        if (_free.Count < MaxFreeEntries)
        {
            _free.Push(entry);
        }
    }

    /// <summary>Appends the next entry. When the cache is empty, any index is allowed.</summary>
    public void Append(CachedEntry entry)
    {
        Invariant.Holds(_count == 0 || entry.Position.Index == LastIndex + 1, "entries in memory follow each other");
        if (_count == 0)
        {
            FirstIndex = entry.Position.Index;
        }

        if (_count == _ring.Length)
        {
            Grow();
        }

        entry.Retain();
        _ring[(_head + _count) % _ring.Length] = entry;
        _count++;
        Bytes += entry.PayloadBytes + OverheadBytes;
    }

    /// <summary>Finds the entry at <paramref name="index"/>.</summary>
    public bool TryGet(long index, [NotNullWhen(true)] out CachedEntry? entry)
    {
        bool isCached = index >= FirstIndex && index <= LastIndex;
        entry = isCached ? _ring[(_head + (int)(index - FirstIndex)) % _ring.Length] : null;
        return isCached;
    }

    /// <summary>
    /// Removes entries through <paramref name="index"/>, oldest first, while the cache holds more than
    /// <paramref name="bytesToKeep"/>.
    /// </summary>
    public void ReleaseThrough(long index, long bytesToKeep)
    {
        while (_count > 0 && FirstIndex <= index && Bytes > bytesToKeep)
        {
            var entry = _ring[_head]!;
            _ring[_head] = null;
            _head = (_head + 1) % _ring.Length;
            _count--;
            FirstIndex++;
            ReleaseEntry(entry);
        }
    }

    /// <summary>
    /// Like <see cref="ReleaseThrough"/>, but stops before an entry whose callers wait for an answer.
    /// </summary>
    public void ReleaseUnawaitedThrough(long index, long bytesToKeep)
    {
        while (_count > 0 && FirstIndex <= index && Bytes > bytesToKeep && _ring[_head]!.ProposalCount == 0)
        {
            // With this bound, exactly one entry is released.
            ReleaseThrough(FirstIndex, Bytes - 1);
        }
    }

    /// <summary>Removes the entries after <paramref name="index"/>, because the log is truncated there.</summary>
    public void TruncateAfter(long index)
    {
        while (_count > 0 && LastIndex > index)
        {
            _count--;
            int last = (_head + _count) % _ring.Length;
            var entry = _ring[last]!;
            _ring[last] = null;
            ReleaseEntry(entry);
        }
    }

    /// <summary>
    /// Releases the encoded payload of a durable entry, and keeps the content to apply. For a node without peers, which
    /// never sends the payload.
    /// </summary>
    public void ReleasePayload(CachedEntry entry)
    {
        int before = entry.PayloadBytes;
        entry.ReleasePayload();
        Bytes -= before - entry.PayloadBytes;
    }

    /// <summary>Drops one reference. Dropping the last one keeps the entry for reuse.</summary>
    public void Release(CachedEntry entry)
    {
        if (entry.Release())
        {
            Return(entry);
        }
    }

    private void ReleaseEntry(CachedEntry entry)
    {
        Bytes -= entry.PayloadBytes + OverheadBytes;
        Release(entry);
    }

    private void Grow()
    {
        var larger = new CachedEntry?[_ring.Length * 2];
        for (int i = 0; i < _count; i++)
        {
            larger[i] = _ring[(_head + i) % _ring.Length];
        }

        (_ring, _head) = (larger, 0);
    }
}
