using Rookery.Indexing.Indexes;
using Rookery.Search.Segments.Store;

namespace Rookery.Queries.Execution;

/// <summary>The terms of a field in one state of an index, in order. Holds the state open until disposed.</summary>
public sealed class OpenedTerms : IDisposable
{
    private readonly IndexSnapshot _snapshot;
    private readonly int? _field;
    private readonly bool _areWords;
    private readonly Func<Exception, IndexDamagedException> _reportDamage;

    /// <summary>Makes the terms of a field.</summary>
    /// <param name="snapshot">The state, disposed with this object.</param>
    /// <param name="etag">The state includes the changes of documents through this etag.</param>
    /// <param name="field">The number of the field of values or words; null if the index has no such field.</param>
    /// <param name="areWords">Whether the terms are words.</param>
    /// <param name="reportDamage">Starts to rebuild the damaged index, and returns the exception to throw.</param>
    internal OpenedTerms(
        IndexSnapshot snapshot,
        long etag,
        int? field,
        bool areWords,
        Func<Exception, IndexDamagedException> reportDamage
    )
    {
        (_snapshot, Etag, _field, _areWords) = (snapshot, etag, field, areWords);
        _reportDamage = reportDamage;
    }

    /// <summary>
    /// The state includes the changes of documents through this etag; 0 while the index is first built.
    /// </summary>
    public long Etag { get; }

    /// <summary>Reads terms: texts in lower case, numbers in normal form. A missing field has none.</summary>
    /// <param name="after">The term to start after; null to start with the first.</param>
    /// <param name="count">Maximum number of terms.</param>
    /// <exception cref="IndexDamagedException">The index is damaged.</exception>
    public IReadOnlyList<string> Read(string? after, int count)
    {
        if (_field is not { } field)
        {
            return [];
        }

        try
        {
            return _areWords
                ? IndexTerms.ReadWords(_snapshot, field, after, count)
                : IndexTerms.ReadValues(_snapshot, field, after, count);
        }
        catch (Exception damaged) when (IndexDamage.Is(damaged))
        {
            throw _reportDamage(damaged);
        }
    }

    /// <inheritdoc/>
    public void Dispose() => _snapshot.Dispose();
}
