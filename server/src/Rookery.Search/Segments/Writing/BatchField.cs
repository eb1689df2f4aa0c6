namespace Rookery.Search.Segments.Writing;

/// <summary>The sort keys and lengths of a field's entries in a batch.</summary>
internal sealed class BatchField
{
    // For each entry, 1 + the term number of its sort key; 0 for none.
    private int[] _sortTerms = [];
    private int[] _lengths = [];

    /// <summary>Whether the field has positions; null until its first term.</summary>
    public bool? IsText { get; set; }

    /// <summary>Whether each entry so far has only one term, which is its sort key.</summary>
    public bool HasPlainKeys { get; set; } = true;

    /// <summary>Whether any entry has a sort key.</summary>
    public bool HasSortKeys { get; private set; }

    /// <summary>Whether any entry has a length.</summary>
    public bool HasLengths { get; private set; }

    /// <summary>Memory in use, in bytes.</summary>
    public long UsedBytes => (long)sizeof(int) * (_sortTerms.Length + _lengths.Length);

    /// <summary>Returns the term number of an entry's sort key; -1 if it has none.</summary>
    public int SortTermOf(int entry) => entry < _sortTerms.Length ? _sortTerms[entry] - 1 : -1;

    /// <summary>Returns the length of an entry in tokens; 0 if it was not set.</summary>
    public int LengthOf(int entry) => entry < _lengths.Length ? _lengths[entry] : 0;

    /// <summary>Sets the sort key of an entry, by term number.</summary>
    public void SetSortTerm(int entry, int term)
    {
        HasSortKeys = true;
        ElementAt(ref _sortTerms, entry) = term + 1;
    }

    /// <summary>Sets the length of an entry.</summary>
    public void SetLength(int entry, int tokens)
    {
        HasLengths = true;
        ElementAt(ref _lengths, entry) = tokens;
    }

    /// <summary>Removes all entries.</summary>
    public void Clear()
    {
        Array.Clear(_sortTerms);
        Array.Clear(_lengths);
        HasSortKeys = false;
        HasLengths = false;
        HasPlainKeys = true;
        IsText = null;
    }

    private static ref int ElementAt(ref int[] values, int entry)
    {
        if (entry >= values.Length)
        {
            Array.Resize(ref values, Math.Max(entry + 1, Math.Max(256, 2 * values.Length)));
        }

        return ref values[entry];
    }
}
