namespace Rookery.Search.Segments.Writing;

/// <summary>What a batch keeps of a field beside its terms.</summary>
internal sealed class BatchField
{
    private int[] _sortTerms = [];
    private int[] _lengths = [];

    /// <summary>Whether positions are kept; settled by the first term.</summary>
    public bool? IsText { get; set; }

    /// <summary>Whether every entry has, for all it is known, no term but its sort key.</summary>
    public bool HasPlainKeys { get; set; } = true;

    /// <summary>Whether any entry has a sort key.</summary>
    public bool HasSortKeys { get; private set; }

    /// <summary>Whether any entry has a length.</summary>
    public bool HasLengths { get; private set; }

    /// <summary>Bytes of memory it holds.</summary>
    public long UsedBytes => (long)sizeof(int) * (_sortTerms.Length + _lengths.Length);

    /// <summary>The number of the sort key of an entry; -1 when it has none.</summary>
    public int SortTermOf(int entry) => entry < _sortTerms.Length ? _sortTerms[entry] - 1 : -1;

    /// <summary>The length of an entry in tokens; 0 when it was not said.</summary>
    public int LengthOf(int entry) => entry < _lengths.Length ? _lengths[entry] : 0;

    /// <summary>Says the sort key of an entry.</summary>
    public void SetSortTerm(int entry, int term)
    {
        HasSortKeys = true;
        At(ref _sortTerms, entry) = term + 1;
    }

    /// <summary>Says the length of an entry.</summary>
    public void SetLength(int entry, int tokens)
    {
        HasLengths = true;
        At(ref _lengths, entry) = tokens;
    }

    /// <summary>Forgets all entries.</summary>
    public void Clear()
    {
        Array.Clear(_sortTerms);
        Array.Clear(_lengths);
        HasSortKeys = false;
        HasLengths = false;
        HasPlainKeys = true;
        IsText = null;
    }

    private static ref int At(ref int[] values, int entry)
    {
        if (entry >= values.Length)
        {
            Array.Resize(ref values, Math.Max(entry + 1, Math.Max(256, 2 * values.Length)));
        }

        return ref values[entry];
    }
}
