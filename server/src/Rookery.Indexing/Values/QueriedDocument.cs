using Rookery.Documents.Stored;

namespace Rookery.Indexing.Values;

/// <summary>The source from which fields are read: a stored document, the members of a computed row, or both.</summary>
public readonly ref struct QueriedDocument
{
    /// <summary>Creates the source for a stored document.</summary>
    /// <param name="view">The stored document.</param>
    /// <param name="etag">The etag of the document.</param>
    /// <param name="historyId">The history id of the database, 22 ASCII characters.</param>
    public QueriedDocument(scoped in DocumentView view, long etag, ReadOnlySpan<byte> historyId)
    {
        View = view;
        Etag = etag;
        HistoryId = historyId;
        Members = view.Body;
        IsStored = true;
    }

    /// <summary>Creates the source for a computed row, which has no metadata.</summary>
    /// <param name="members">The members of the row, without braces: valid JSON without whitespace between
    /// tokens.</param>
    public QueriedDocument(ReadOnlySpan<byte> members)
    {
        Members = members;
    }

    /// <summary>The members outside of the metadata, without braces.</summary>
    public ReadOnlySpan<byte> Members { get; private init; }

    /// <summary>The document itself, if this is a row of a stored document; otherwise this.</summary>
    public QueriedDocument Whole => IsStored ? this with { Members = View.Body } : this;

    /// <summary>The stored document; default for a computed row.</summary>
    public DocumentView View { get; }

    /// <summary>The etag of the document.</summary>
    public long Etag { get; }

    /// <summary>The history id of the database.</summary>
    public ReadOnlySpan<byte> HistoryId { get; }

    /// <summary>The relevance to the query, if computed: the value of <c>score()</c>.</summary>
    public double Score { get; init; }

    /// <summary>Whether this is a stored document or a row of one.</summary>
    public bool IsStored { get; }

    /// <summary>
    /// Returns the source for a row that an index stores for this document. Fields are read from the row, id and
    /// metadata from the document.
    /// </summary>
    /// <param name="members">The members of the row, without braces.</param>
    public QueriedDocument WithRow(ReadOnlySpan<byte> members) => this with { Members = members };
}
