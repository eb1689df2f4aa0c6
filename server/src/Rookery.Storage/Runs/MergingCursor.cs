namespace Rookery.Storage.Runs;

/// <summary>
/// Merges the rows of several memtables and runs in key order. Of each key it returns the row with the highest
/// sequence, which may be a tombstone. No allocation per row. Damage in one source ends the cursor immediately, because
/// the other sources may contain outdated versions of the damaged rows.
/// </summary>
internal sealed class MergingCursor : IRowCursor
{
    private readonly IRowCursor[] _sources;

    // A binary heap of source numbers. The top source has the next row in the cursor's direction; of equal keys, the
    // newest.
    private readonly int[] _heap;
    private int _heapCount;
    private bool _isBackward;

    // The key that the sources are being moved past.
    private byte[] _passedKey = new byte[64];
    private int _passedKeyLength;

    /// <summary>
    /// Merges <paramref name="sources"/>, newest first (of equal sequences the first source wins), each with at most
    /// one row per key. Disposes them with itself.
    /// </summary>
    public MergingCursor(IReadOnlyList<IRowCursor> sources)
    {
        _sources = [.. sources];
        _heap = new int[sources.Count];
    }

    /// <inheritdoc/>
    public ReadOnlySpan<byte> Key => Top.Key;

    /// <inheritdoc/>
    public long Sequence => Top.Sequence;

    /// <inheritdoc/>
    public RowKind Kind => Top.Kind;

    /// <inheritdoc/>
    public ReadOnlySpan<byte> Value => Top.Value;

    /// <inheritdoc/>
    public RunDamage? Damage { get; private set; }

    private IRowCursor Top => _sources[_heap[0]];

    /// <inheritdoc/>
    public bool SeekForward(ReadOnlySpan<byte> from)
    {
        _isBackward = false;
        Begin();
        for (int source = 0; source < _sources.Length; source++)
        {
            if (!Enter(source, _sources[source].SeekForward(from)))
            {
                return false;
            }
        }

        return _heapCount > 0;
    }

    /// <inheritdoc/>
    public bool SeekBackward(ReadOnlySpan<byte> toExclusive)
    {
        _isBackward = true;
        Begin();
        for (int source = 0; source < _sources.Length; source++)
        {
            if (!Enter(source, _sources[source].SeekBackward(toExclusive)))
            {
                return false;
            }
        }

        return _heapCount > 0;
    }

    /// <inheritdoc/>
    public bool Move() => MovePastKey() && _heapCount > 0;

    /// <inheritdoc/>
    public void Dispose()
    {
        foreach (var source in _sources)
        {
            source.Dispose();
        }
    }

    private void Begin()
    {
        _heapCount = 0;
        Damage = null;
    }

    // Adds a source to the heap after its seek; returns false if the source is damaged.
    private bool Enter(int source, bool hasRow)
    {
        if (hasRow)
        {
            _heap[_heapCount] = source;
            SiftUp(_heapCount);
            _heapCount++;
            return true;
        }

        return CheckDamage(source);
    }

    // Ends the cursor if the source is damaged.
    private bool CheckDamage(int source)
    {
        Damage = _sources[source].Damage;
        if (Damage is null)
        {
            return true;
        }

        _heapCount = 0;
        return false;
    }

    /// <summary>Moves every source past the key on top.</summary>
    private bool MovePastKey()
    {
        if (_heapCount > 1)
        {
            RememberKey(Top.Key);
        }

        bool hasOthers = _heapCount > 1;
        do
        {
            int source = _heap[0];
            if (!_sources[source].Move())
            {
                if (!CheckDamage(source))
                {
                    return false;
                }

                _heapCount--;
                _heap[0] = _heap[_heapCount];
            }

            SiftDown();
        } while (hasOthers && _heapCount > 0 && Top.Key.SequenceEqual(_passedKey.AsSpan(0, _passedKeyLength)));
        return true;
    }

    private void RememberKey(ReadOnlySpan<byte> key)
    {
        if (_passedKey.Length < key.Length)
        {
            _passedKey = new byte[2 * key.Length];
        }

        key.CopyTo(_passedKey);
        _passedKeyLength = key.Length;
    }

    // Whether the left source's row comes first in the cursor's direction; of equal keys, the newer row.
    private bool Precedes(int left, int right)
    {
        int order = _sources[left].Key.SequenceCompareTo(_sources[right].Key);
        if (order != 0)
        {
            return _isBackward ? order > 0 : order < 0;
        }

        long newer = _sources[left].Sequence - _sources[right].Sequence;
        return newer != 0 ? newer > 0 : left < right;
    }

    private void SiftUp(int position)
    {
        while (position > 0)
        {
            int parent = (position - 1) / 2;
            if (!Precedes(_heap[position], _heap[parent]))
            {
                return;
            }

            (_heap[position], _heap[parent]) = (_heap[parent], _heap[position]);
            position = parent;
        }
    }

    private void SiftDown()
    {
        int position = 0;
        while (true)
        {
            int child = (2 * position) + 1;
            if (child >= _heapCount)
            {
                return;
            }

            if (child + 1 < _heapCount && Precedes(_heap[child + 1], _heap[child]))
            {
                child++;
            }

            if (!Precedes(_heap[child], _heap[position]))
            {
                return;
            }

            (_heap[child], _heap[position]) = (_heap[position], _heap[child]);
            position = child;
        }
    }
}
