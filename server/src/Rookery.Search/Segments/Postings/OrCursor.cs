namespace Rookery.Search.Segments.Postings;

/// <summary>
/// Union: the entries that are in any of several cursors. A heap has the cursor with the lowest current entry on top.
/// </summary>
public sealed class OrCursor : EntryCursor
{
    private readonly EntryCursor[] _heap;

    /// <summary>Creates a cursor over the union of at least one cursor, each before its first entry.</summary>
    public OrCursor(IEnumerable<EntryCursor> cursors)
    {
        _heap = [.. cursors];
        foreach (var cursor in _heap)
        {
            Cost += cursor.Cost;
        }
    }

    /// <inheritdoc/>
    public override long Cost { get; }

    /// <inheritdoc/>
    public override bool CanTest => Array.TrueForAll(_heap, static cursor => cursor.CanTest);

    /// <inheritdoc/>
    public override bool Contains(int entry)
    {
        foreach (var cursor in _heap)
        {
            if (cursor.Contains(entry))
            {
                return true;
            }
        }

        return false;
    }

    /// <inheritdoc/>
    public override int MoveNext() => Current == End ? End : Advance(Current + 1);

    /// <inheritdoc/>
    public override int Advance(int target)
    {
        if (target <= Current)
        {
            return Current;
        }

        while (_heap[0].Current < target)
        {
            _heap[0].Advance(target);
            SiftDown();
        }

        return Current = _heap[0].Current;
    }

    // Moves the cursor on top down to its place in the heap.
    private void SiftDown()
    {
        var moved = _heap[0];
        int place = 0;
        while (true)
        {
            int child = (2 * place) + 1;
            if (child >= _heap.Length)
            {
                break;
            }

            child += child + 1 < _heap.Length && _heap[child + 1].Current < _heap[child].Current ? 1 : 0;
            if (_heap[child].Current >= moved.Current)
            {
                break;
            }

            _heap[place] = _heap[child];
            place = child;
        }

        _heap[place] = moved;
    }
}
