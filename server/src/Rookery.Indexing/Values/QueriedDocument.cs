using Rookery.Documents.Stored;

namespace Rookery.Indexing.Values;

/// <summary>The source of field values: a stored document, or the members of a computed row.</summary>
public readonly ref struct QueriedDocument
{
    /// <summary>Makes the source of a stored document.</summary>
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

    /// <summary>Makes the source of a computed row, which has no metadata.</summary>
    /// <param name="members">
    /// The members of the row, without braces: valid JSON without whitespace between tokens.
    /// </param>
    public QueriedDocument(ReadOnlySpan<byte> members)
    {
        Members = members;
    }

    /// <summary>The members outside of the metadata, without braces.</summary>
    public ReadOnlySpan<byte> Members { get; private init; }

    /// <summary>For a row of a stored document the document itself; otherwise unchanged.</summary>
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
    /// Returns a row that an index holds of this document: fields are read from the row, id and metadata from the
    /// document.
    /// </summary>
    /// <param name="members">The members of the row, without braces.</param>
    public QueriedDocument WithRow(ReadOnlySpan<byte> members) => this with { Members = members };
}
