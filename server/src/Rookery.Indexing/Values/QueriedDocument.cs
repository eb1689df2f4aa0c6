using Rookery.Documents.Stored;

namespace Rookery.Indexing.Values;

/// <summary>What fields are read from: a stored document, or the members of a row that a query computed.</summary>
public readonly ref struct QueriedDocument
{
    /// <summary>A document.</summary>
    /// <param name="view">The stored document.</param>
    /// <param name="etag">Its etag.</param>
    /// <param name="historyId">The database's history id, 22 ASCII characters.</param>
    public QueriedDocument(scoped in DocumentView view, long etag, ReadOnlySpan<byte> historyId)
    {
        View = view;
        Etag = etag;
        HistoryId = historyId;
        Members = view.Body;
        IsStored = true;
    }

    /// <summary>A computed row, which has no metadata.</summary>
    /// <param name="members">Its members, without braces: valid JSON without whitespace between its tokens.</param>
    public QueriedDocument(ReadOnlySpan<byte> members)
    {
        Members = members;
    }

    /// <summary>The members outside of the metadata, without braces.</summary>
    public ReadOnlySpan<byte> Members { get; private init; }

    /// <summary>The document as it is stored, where this is a row of one; otherwise the same.</summary>
    public QueriedDocument Whole => IsStored ? this with { Members = View.Body } : this;

    /// <summary>The stored document, when it is one.</summary>
    public DocumentView View { get; }

    /// <summary>The document's etag.</summary>
    public long Etag { get; }

    /// <summary>The database's history id.</summary>
    public ReadOnlySpan<byte> HistoryId { get; }

    /// <summary>How relevant it is to the query, where that was computed: what <c>score()</c> means.</summary>
    public double Score { get; init; }

    /// <summary>Whether it is a stored document, or a row of one.</summary>
    public bool IsStored { get; }

    /// <summary>
    /// A row that an index holds of the document: fields are read from there, its id and its metadata are the
    /// document's.
    /// </summary>
    /// <param name="members">The members of the row, without braces.</param>
    public QueriedDocument WithRow(ReadOnlySpan<byte> members) => this with { Members = members };
}
