namespace Rookery.Server.Raven.Smuggler;

/// <summary>
/// Counts the revisions of a document that have the same time, as all changes of one entry of the log have. A
/// repeated import distinguishes them by this number.
/// </summary>
internal sealed class RevisionOrdinals
{
    // In a dump, revisions with the same time follow each other, or are those of other documents at that time.
    private const int MaxDocuments = 16 << 10;

    private readonly Dictionary<string, uint> _next = new(StringComparer.Ordinal);
    private long _ticks;

    /// <summary>Returns how many revisions of a document with a time came before.</summary>
    /// <param name="lowerId">The document's id, lower-cased.</param>
    /// <param name="ticks">The time of the revision, in UTC ticks.</param>
    public uint Next(string lowerId, long ticks)
    {
        if (_ticks != ticks || _next.Count >= MaxDocuments)
        {
            _next.Clear();
            _ticks = ticks;
        }

        uint ordinal = _next.GetValueOrDefault(lowerId);
        _next[lowerId] = ordinal + 1;
        return ordinal;
    }
}
