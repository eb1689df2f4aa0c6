namespace Rookery.Search.Segments.Writing;

/// <summary>The sort keys and lengths of a field's entries in a batch.</summary>
internal sealed class BatchField
{
    // For each entry, 1 + the term number of its sort key; 0 for none.
    private readonly EntryColumn _sortTerms = new();
    private readonly EntryColumn _lengths = new();

    /// <summary>Whether the field has positions; null until its first term.</summary>
    public bool? IsText { get; set; }

    /// <summary>Whether each entry so far has only one term, which is its sort key.</summary>
    public bool HasPlainKeys { get; set; } = true;

    /// <summary>Whether any entry has a sort key.</summary>
    public bool HasSortKeys => _sortTerms.HasNumbers;

    /// <summary>Whether any entry has a length.</summary>
    public bool HasLengths => _lengths.HasNumbers;

    /// <summary>Memory in use, in bytes.</summary>
    public long UsedBytes => _sortTerms.UsedBytes + _lengths.UsedBytes;

    /// <summary>Returns the term number of an entry's sort key; -1 if it has none.</summary>
    public int SortTermOf(int entry) => _sortTerms[entry] - 1;

    /// <summary>Returns the length of an entry in tokens; 0 if it was not set.</summary>
    public int LengthOf(int entry) => _lengths[entry];

    /// <summary>Sets the sort key of an entry, by term number.</summary>
    public void SetSortTerm(int entry, int term) => _sortTerms.Set(entry, term + 1);

    /// <summary>Sets the length of an entry.</summary>
    public void SetLength(int entry, int tokens) => _lengths.Set(entry, tokens);

    /// <summary>Removes all entries.</summary>
    public void Clear()
    {
        _sortTerms.Clear();
        _lengths.Clear();
        HasPlainKeys = true;
        IsText = null;
    }
}
