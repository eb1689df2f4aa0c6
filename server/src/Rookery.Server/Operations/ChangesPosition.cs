using System.Globalization;
using Rookery.Documents.Databases;

namespace Rookery.Server.Operations;

/// <summary>
/// How far a reader of the changes feed has come: an etag, and the history it belongs to. Written as the change vector
/// of that etag (<c>A:7-…</c>), which also names the history; a bare etag is read too, for readers that begin with 0 or
/// with the etag of a document they know.
/// </summary>
/// <param name="Etag">Everything up to it was told.</param>
/// <param name="HistoryId">The history that the etag counts, or null when the reader did not say.</param>
internal readonly record struct ChangesPosition(long Etag, string? HistoryId)
{
    private const string Tag = "A:";

    /// <summary>Reads what a client sent as <c>since</c> or <c>Last-Event-ID</c>.</summary>
    /// <returns>False when it is no position.</returns>
    public static bool TryParse(ReadOnlySpan<char> text, out ChangesPosition position)
    {
        string? history = null;
        if (text.StartsWith(Tag, StringComparison.Ordinal))
        {
            text = text[Tag.Length..];
            int dash = text.IndexOf('-');
            history = dash < 0 ? string.Empty : text[(dash + 1)..].ToString();
            text = dash < 0 ? text : text[..dash];
        }

        bool isPosition =
            long.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out long etag) && history is not "";
        position = new ChangesPosition(etag, history);
        return isPosition;
    }

    /// <summary>
    /// Whether a database can tell all that happened since: it is of the same history and has come as far, and no
    /// deletion since then is forgotten. A database that was restored, or deleted and made again, goes on under another
    /// history; its etags may be those of other changes, or not reached yet.
    /// </summary>
    public bool IsKnownTo(Database database, in DatabaseStatistics statistics) =>
        (HistoryId is null || string.Equals(HistoryId, database.HistoryId, StringComparison.Ordinal))
        && Etag <= statistics.LastEtag
        && (Etag == 0 || Etag >= statistics.TombstoneHorizon);
}
