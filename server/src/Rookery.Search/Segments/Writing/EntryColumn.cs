namespace Rookery.Search.Segments.Writing;

/// <summary>
/// A number for each entry of a batch; 0 where none was set. The numbers are in pages of 256, and a page without
/// numbers takes no memory: one document may have a thousand fields that the documents before it lack.
/// </summary>
internal sealed class EntryColumn
{
    private const int PageShift = 8;
    private const int PageLength = 1 << PageShift;

    private int[]?[] _pages = [];

    /// <summary>Whether any number was set.</summary>
    public bool HasNumbers => _pages.Length > 0;

    /// <summary>Memory in use, in bytes.</summary>
    public long UsedBytes { get; private set; }

    /// <summary>Returns the number of an entry.</summary>
    public int this[int entry]
    {
        get
        {
            int place = entry >> PageShift;
            return place < _pages.Length && _pages[place] is { } page ? page[entry & (PageLength - 1)] : 0;
        }
    }

    /// <summary>Sets the number of an entry.</summary>
    public void Set(int entry, int number)
    {
        int place = entry >> PageShift;
        if (place >= _pages.Length)
        {
            int length = Math.Max(place + 1, 2 * _pages.Length);
            UsedBytes += (long)(length - _pages.Length) * IntPtr.Size;
            Array.Resize(ref _pages, length);
        }

        if (_pages[place] is not { } page)
        {
            page = new int[PageLength];
            _pages[place] = page;
            UsedBytes += PageLength * sizeof(int);
        }

        page[entry & (PageLength - 1)] = number;
    }

    /// <summary>Removes all numbers and releases their memory.</summary>
    public void Clear()
    {
        _pages = [];
        UsedBytes = 0;
    }
}
