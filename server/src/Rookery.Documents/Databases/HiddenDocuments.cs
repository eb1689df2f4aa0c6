using Rookery.Documents.Stored;

namespace Rookery.Documents.Databases;

/// <summary>
/// Tells which documents are absent for a client because they have expired. The time is fixed when a reader is opened,
/// so that a document that was found once is found again in the same answer.
/// </summary>
/// <param name="Ticks">Documents that expire at or before this time are absent, in UTC ticks; 0 if none is.</param>
internal readonly record struct HiddenDocuments(long Ticks)
{
    /// <summary>
    /// Returns whether a document is absent. Costs one comparison for a document that never expires.
    /// </summary>
    public bool Contain(in Document document) =>
        Ticks != 0 && document.MayExpire && Expiry.HasPassed(document.Head.ExpiresAtTicks, Ticks);

    /// <summary>Returns whether a document with this head is absent.</summary>
    /// <param name="head">The first bytes of the document, with its head.</param>
    public bool Contain(ReadOnlySpan<byte> head) =>
        Ticks != 0 && StoredDocument.MayExpire(head) && Expiry.HasPassed(new DocumentView(head).ExpiresAtTicks, Ticks);
}
